package launch

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/wording"
)

// findActing names a network that is called between two steps of an environment, in steps of which no trace tells the operators: traces of
// a few updates seldom hold the rollout before them.
func findActing(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if !c.B.PerStep {
		return nil
	}
	around := c.PythonSamples(l, true)
	chains, _ := environmentLoops(c).split(c, facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		acts := c.C.Info(c.P.Samples.Stack[a.Index]).Acts
		return (a.Part == account.PartOps && !l.Taken(k) || around(k, a)) && acts&code.ActTorch != 0 && acts&code.ActBackward == 0
	}))
	t := facts.Sum(chains)
	sp, ok := facts.Hottest(facts.UpToDriver(chains, c.Drivers), c.Drivers)
	if !ok || len(chains) < facts.MinSamples || c.Share(t) < price.LaunchShare {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Where: c.Where(sp), Share: c.Share(t), Confidence: c.Basis(len(chains))},
		finding.Parts{})
	c.ClaimAll(&f, chains, 1)
	f.Step = f.By(price.CallsRollout).Times(c.PerStep(t))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-acting", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("launch.acting", wording.Time("time", c.PerStep(t)), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-rollout")}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-environments")}
	return []finding.Draft{f}
}
