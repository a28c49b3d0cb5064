package launch

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/wording"
)

// FindOnHost names operators that compute on the CPU in the steps of a program that computes on a device: random numbers, masks and tables
// that are made on the one and copied to the other.
func FindOnHost(c *facts.Facts, l finding.Ledger) []finding.Draft {
	o := c.B.Ops
	if !c.OnDevice() || o == nil {
		return nil
	}
	t := min(o.OnHost*float64(c.B.Steps()), c.B.Part(account.PartOps))
	if c.Share(t) < finding.Floor {
		return nil
	}
	sizes := sizesByLine(c)
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(i int, a *account.Attributed) bool {
		info := c.C.Info(c.P.Samples.Stack[a.Index])
		size := sizes[info.User]
		return a.Part == account.PartOps && !l.Taken(i) && info.Acts&code.ActBackward == 0 && size.large > size.small
	})
	sp, ok := facts.Hottest(chains, c.Drivers)
	sampled := facts.Sum(chains)
	if t = min(t, sampled); !ok || len(chains) < facts.MinSamples || c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: "cpu-operator", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, t/sampled)
	per := c.PerStep(t)
	f.Step = f.By(price.OnHost).Times(per)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-on-host", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("launch.on-host", wording.Time("time", per), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-on-host")}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-on-host")}
	return []finding.Draft{f}
}
