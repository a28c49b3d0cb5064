package cause

import "bottleneck/internal/analyse"

// Price sets a finding's price anew, on its own and not yet beside the others.
func (f *Finding) Price(step, run Range) { f.Step, f.Run, f.bare = step, run, nil }

// Measured sets a price that was measured: it is no guess any more, and claims as much time as it saves.
func (f *Finding) Measured(step, run Range) {
	guessed := f.Step.Mid
	if f.bare != nil {
		guessed = f.bare.step.Mid
	}
	if guessed > 0 {
		claim := map[analyse.PartID]float64{}
		for part, t := range f.claim {
			claim[part] = t * step.Mid / guessed
		}
		f.claim = claim
	}
	f.Price(step, run)
	f.guess = false
}

// Remeasured settles findings of which some have got measured prices.
func (res *Result) Remeasured(c *Context) {
	var small float64
	res.Findings, small = c.settle(res.Findings)
	res.Largest = max(res.Largest, small)
}

// Refuted leaves a finding that a measurement has shown to save nothing as an observation: it has no price and no fix, and stands behind
// what is slow.
func (f *Finding) Refuted() {
	f.Measured(Range{}, Range{})
	f.Healthy, f.claim, f.ask, f.InOrder = true, nil, nil, nil
}
