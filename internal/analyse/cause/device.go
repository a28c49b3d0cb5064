package cause

import (
	"fmt"

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
	f.Title = wording.Raw(fmt.Sprintf("the program stops for %s of %s to wait for the device", percent(f.Share), c.each()))
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("%s per %s in calls that return only when the device is done", ms(per), c.Unit()), wording.RawFact(per/1e6, "ms"))}
	f.Fix.Advice = []wording.Text{wording.Raw("Keep values on the device until they are needed (loss.detach() instead of loss.item()), and copy them every n-th step.")}
	f.Caveat = []wording.Text{wording.Raw("A wait in which the device works is not lost: only the gap after it is. The lower bound is therefore 0.")}
	return []Draft{f}
}

// findCompute says what a program is bound by where operators that no other finding claims (ops, ns) take most of its time.
// It is no defect and saves nothing.
func findCompute(c *Facts, ops float64) (Finding, bool) {
	if c.B.Total <= 0 || c.share(ops) < 0.5 {
		return Finding{}, false
	}
	f := Finding{Cause: Compute, Where: nowhere(), Share: c.share(ops), Healthy: true, Confidence: c.basis(len(c.B.Samples))}
	f.Title = wording.Raw(fmt.Sprintf("%s of %s is computing", percent(f.Share), c.each()))
	for i := range c.B.Parts {
		p := &c.B.Parts[i]
		if p.ID != analyse.PartOps {
			continue
		}
		for k, kind := range p.Kinds {
			if k < 3 && c.share(kind.Time) >= Floor {
				f.Evidence = append(f.Evidence, wording.Raw(fmt.Sprintf("%s of %s in %s operators", percent(c.share(kind.Time)), c.each(), kind.Kind), wording.RawFact(c.share(kind.Time), "")))
			}
		}
	}
	f.Fix.Advice = []wording.Text{wording.Raw("No defect: less work (smaller model, lower precision), torch.compile, or a faster machine would help.")}
	return f, true
}
