package launch

import (
	"math"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindPlans names attention for which cuDNN makes a plan in one step after the other, as it does once for each new shape: sequences of many
// lengths, or one that grows. Nothing is saved where the device sets the pace.
func FindPlans(c *facts.Facts, l finding.Ledger) []finding.Draft {
	d := &c.B.Device
	if d.Plans < price.PlansLeast || len(account.TracedSteps(c.S, c.B)) < price.PlansSteps {
		return nil
	}
	f, per, ok := c.BesideDevice(finding.Launch, "plans", d.Planning, price.Plans)
	if !ok {
		return nil
	}
	if sp, ok := plannedAt(c); ok {
		f.Where = c.Where(sp)
		for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(i int, a *account.Attributed) bool {
			return a.Part == account.PartOps && !l.Taken(i)
		}) {
			if n := len(ch.Frames); n > 0 && ch.Frames[n-1].File == sp.Frame.File && ch.Frames[n-1].Line == sp.Frame.Line {
				f.Claim.Samples = append(f.Claim.Samples, ch.Index)
			}
		}
	}
	f.Title = wording.Say("launch.title-plans", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("launch.plans", wording.Time("time", per), c.Said(),
		wording.Count("plans", math.Round(d.Plans)))}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-plans")}
	f.Fix.Action = finding.WithoutPlans()
	f.Caveat = []wording.Text{wording.Say("launch.caveat-plans")}
	return []finding.Draft{f}
}

// plannedAt is the user's line whose samples in traced steps lie most in attention that is planned; false where there is none.
func plannedAt(c *facts.Facts) (facts.Spot, bool) {
	var spans []times.Interval
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, _ bool) {
		if ev.Dur[id] >= account.PlanTakes && naming.PlansAttention(c.Text(ev.Name[id])) {
			spans = append(spans, times.Interval{Start: ev.Start[id], End: ev.End(id)})
		}
	})
	var inside []facts.Chain
	c.TracedChains(facts.Merged(spans), func(ch facts.Chain, _ model.Time) { inside = append(inside, ch) })
	return facts.Hottest(inside, c.Drivers)
}
