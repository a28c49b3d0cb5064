package launch

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// launchOfRun names many small operators in a run without steps, priced over the run: what its calling lines take, traced or not,
// without what recording the operators costs.
func launchOfRun(c *facts.Facts, l finding.Ledger) []finding.Draft {
	o := c.B.Ops
	if len(c.Calling) == 0 {
		return nil
	}
	small, python := 0.0, 0.0
	sizes, expected := sizesByLine(c), launchOps{o}.smallShare(o.Time-o.OptimizerTime, o.SmallTime-o.OptimizerSmall)
	for k := range c.B.Samples {
		switch a := &c.B.Samples[k]; {
		case l.Taken(k) || !c.Calls(a):
		case a.Part == account.PartOps:
			small += a.Weight * sizes[c.C.Info(c.P.Samples.Stack[a.Index]).User].share(expected)
		case a.Part == account.PartPython:
			python += a.Weight
		}
	}
	cost := min(o.CostPer*o.Events*float64(o.Steps), price.RecordingCost.Mid*(small+python))
	left := 1 - cost/max(small+python, 1) // at least a half
	if launchShareOf(c, left*(small+python)) < price.LaunchShare {
		return nil
	}
	all := launchFindings(c, callingsOf(c, l), left*small, left*python)
	for i := range all {
		launchOverRun(c, &all[i], left, cost)
	}
	return all
}

// launchShareOf is a time's share of the steps, or of a run without the profiler's part of it.
func launchShareOf(c *facts.Facts, t float64) float64 {
	if c.B.PerStep {
		return c.Share(t)
	}
	return t / max(c.B.Total-c.B.Part(account.PartProfiler), 1)
}

// launchOverRun puts a finding of a run without steps in terms of that run: left is the share of the calling that is not recording's cost.
func launchOverRun(c *facts.Facts, f *finding.Draft, left, cost float64) {
	for part := range f.Claim.Parts {
		f.Claim.Parts[part] /= left
	}
	f.Evidence = append(f.Evidence, wording.Say("launch.recording", wording.Time("cost", cost)))
	f.Caveat = []wording.Text{wording.Say("launch.caveat-no-steps"), wording.Say("launch.caveat-form")}
	if f.Confidence.Level == finding.High {
		f.Confidence.Level = finding.Medium
	}
}
