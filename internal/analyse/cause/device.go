package cause

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// findSync names waits for the device inside the step.
func findSync(c *Facts, _ Ledger) []Draft {
	t := c.B.Part(analyse.PartSync)
	if c.share(t) < Floor {
		return nil
	}
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part == analyse.PartSync })
	f := draft(Finding{Cause: Sync, Where: nowhere(), Share: c.share(t), Confidence: c.basis(len(chains))},
		Parts{analyse.PartSync: t})
	if sp, ok := hottest(chains, c.drivers); ok {
		f.Where = c.where(sp)
	}
	per := c.perStep(t)
	f.Step = f.by(price.Sync).Times(per)
	f.Run = c.overRun(f.Step)
	f.Title = wording.Say("sync.waits", wording.Share("share", f.Share), c.unit())
	f.Evidence = []wording.Text{wording.Say("sync.calls", wording.Time("time", per), c.unit())}
	f.Fix.Advice = []wording.Text{wording.Say("sync.fix-keep")}
	f.Caveat = []wording.Text{wording.Say("sync.caveat-gap")}
	return []Draft{f}
}

// findCompute says what a program is bound by where operators that no other finding claims (ops, ns) take most of its time.
// It is no defect and saves nothing.
func findCompute(c *Facts, ops float64) (Finding, bool) {
	if c.B.Total <= 0 || c.share(ops) < 0.5 {
		return Finding{}, false
	}
	f := Finding{Cause: Compute, Where: nowhere(), Share: c.share(ops), Healthy: true, Confidence: c.basis(len(c.B.Samples))}
	f.Title = wording.Say("compute.computing", wording.Share("share", f.Share), c.unit())
	for i := range c.B.Parts {
		p := &c.B.Parts[i]
		if p.ID != analyse.PartOps {
			continue
		}
		for k, kind := range p.Kinds {
			if k < 3 && c.share(kind.Time) >= Floor {
				f.Evidence = append(f.Evidence, wording.Say("compute.operators", wording.Share("share", c.share(kind.Time)), c.unit(),
					wording.Named("kind", string(kind.Kind))))
			}
		}
	}
	f.Fix.Advice = []wording.Text{wording.Say("compute.fix-less")}
	return f, true
}
