package traced

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindSync names waits for the device inside the step.
func FindSync(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	t := c.B.Part(account.PartSync)
	if c.Share(t) < finding.Floor {
		return nil
	}
	waits := func(_ int, a *account.Attributed) bool { return a.Part == account.PartSync }
	if !slices.ContainsFunc(c.B.Samples, func(a account.Attributed) bool { return waits(0, &a) }) {
		waits = func(_ int, a *account.Attributed) bool { // who asks the device again and again does not sleep
			return a.Part == account.PartOps && account.AtSync(c.C, c.C.Info(c.P.Samples.Stack[a.Index]))
		}
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, waits)
	f := finding.NewDraft(finding.Finding{Cause: finding.Sync, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(chains))},
		finding.Parts{account.PartSync: t})
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		f.Where = c.Where(sp)
	}
	per := c.PerStep(t)
	f.Step = f.By(price.Sync).Times(per)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("sync.waits", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("sync.calls", wording.Time("time", per), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("sync.fix-keep")}
	f.Caveat = []wording.Text{wording.Say("sync.caveat-gap")}
	return []finding.Draft{f}
}

// FindCompute says what a program is bound by where operators that no other finding claims (ops, ns) take most of its time.
// It is no defect and saves nothing.
func FindCompute(c *facts.Facts, ops float64) (finding.Finding, bool) {
	if c.B.Total <= 0 || c.Share(ops) < 0.5 {
		return finding.Finding{}, false
	}
	f := finding.Finding{Cause: finding.Compute, Where: finding.Nowhere(), Share: c.Share(ops), Healthy: true,
		Confidence: c.Basis(len(c.B.Samples))}
	f.Title = wording.Say("compute.computing", wording.Share("share", f.Share), c.Said())
	for i := range c.B.Parts {
		p := &c.B.Parts[i]
		if p.ID != account.PartOps {
			continue
		}
		for k, kind := range p.Kinds {
			if k < 3 && c.Share(kind.Time) >= finding.Floor {
				f.Evidence = append(f.Evidence, wording.Say("compute.operators", wording.Share("share", c.Share(kind.Time)), c.Said(),
					wording.Named("kind", string(kind.Kind))))
			}
		}
	}
	f.Fix.Advice = []wording.Text{wording.Say("compute.fix-less")}
	return f, true
}
