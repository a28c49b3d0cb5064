package cause

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// findCalling finds the user's lines, in a run without steps, at which the interpreter calls one small operator after another: where
// most of a line's samples in traced stretches lie in a small operator or in the short gap between two. Untraced samples of such
// a line are the same work. Nil with steps, whose lines tensorFuncs and tensorLine tell.
func (c *Facts) findCalling() map[model.FrameID]bool {
	o := c.B.Ops
	if c.B.PerStep || o == nil || len(o.Tops) < launchOpsPerStep {
		return nil
	}
	calls, all := map[model.FrameID]int{}, map[model.FrameID]int{}
	for k := range c.B.Samples {
		a := &c.B.Samples[k]
		fr := c.C.Info(c.P.Samples.Stack[a.Index]).User
		if fr < 0 || a.Part != analyse.PartOps && a.Part != analyse.PartPython {
			continue
		}
		calling, traced := o.Calling(c.P.Samples.Time[a.Index])
		if traced {
			all[fr]++
		}
		if calling {
			calls[fr]++
		}
	}
	out := map[model.FrameID]bool{}
	for fr, n := range calls {
		if n >= minSamples && 2*n >= all[fr] {
			out[fr] = true
		}
	}
	return out
}

// calls says that an attributed sample lies on a line that calls one small operator after another.
func (c *Facts) calls(a *analyse.Attributed) bool {
	return c.calling[c.C.Info(c.P.Samples.Stack[a.Index]).User]
}

// launchOfRun names many small operators in a run without steps, priced over the run: what its calling lines take, traced or not,
// without what recording the operators costs.
func (c *Facts) launchOfRun(l Ledger) []Draft {
	o := c.B.Ops
	if len(c.calling) == 0 {
		return nil
	}
	small, python := 0.0, 0.0
	sizes, expected := c.sizesByLine(), launchOps{o}.smallShare(o.Time-o.OptimizerTime, o.SmallTime-o.OptimizerSmall)
	for k := range c.B.Samples {
		switch a := &c.B.Samples[k]; {
		case l.Taken(k) || !c.calls(a):
		case a.Part == analyse.PartOps:
			small += a.Weight * sizes[c.C.Info(c.P.Samples.Stack[a.Index]).User].share(expected)
		case a.Part == analyse.PartPython:
			python += a.Weight
		}
	}
	cost := min(o.CostPer*o.Events*float64(o.Steps), price.RecordingCost.Mid*(small+python))
	left := 1 - cost/max(small+python, 1) // at least a half
	if c.launchShareOf(left*(small+python)) < price.LaunchShare {
		return nil
	}
	all := c.launchFindings(c.callings(l), left*small, left*python)
	for i := range all {
		c.launchOverRun(&all[i], left, cost)
	}
	return all
}

// launchShareOf is a time's share of the steps, or of a run without the profiler's part of it.
func (c *Facts) launchShareOf(t float64) float64 {
	if c.B.PerStep {
		return c.share(t)
	}
	return t / max(c.B.Total-c.B.Part(analyse.PartProfiler), 1)
}

// launchOverRun puts a finding of a run without steps in terms of that run: left is the share of the calling that is not recording's cost.
func (c *Facts) launchOverRun(f *Draft, left, cost float64) {
	for part := range f.Claim.Parts {
		f.Claim.Parts[part] /= left
	}
	f.Evidence = append(f.Evidence, wording.Say("launch.recording", wording.Time("cost", cost)))
	f.Caveat = []wording.Text{wording.Say("launch.caveat-no-steps"), wording.Say("launch.caveat-form")}
	if f.Confidence.Level == High {
		f.Confidence.Level = Medium
	}
}
