package cause

import "bottleneck/internal/analyse"

// price sets a finding's price anew, on its own and not yet beside the others.
func (f *Finding) price(step, run Range) {
	unsettle(f)
	f.Step, f.Run = step, run
}

// Rest leaves a part of what a finding saves at best and as a guess, of its own price, down to nothing.
func (f *Finding) Rest(part float64) {
	unsettle(f)
	f.price(Range{Mid: part * f.Step.Mid, High: part * f.Step.High}, Range{Mid: part * f.Run.Mid, High: part * f.Run.High})
}

// Measured sets a price that was measured: it is no guess any more, and claims as much time as it saves.
func (f *Finding) Measured(step, run Range) {
	unsettle(f)
	if guessed := f.Step.Mid; guessed > 0 {
		claim := map[analyse.PartID]float64{}
		for part, t := range f.claim {
			claim[part] = t * step.Mid / guessed
		}
		f.claim = claim
	}
	f.price(step, run)
	f.guess, f.measured = false, true
}

// Remeasured settles findings of which some have got measured prices.
func (res *Result) Remeasured(c *Facts) { res.settle(c) }

// Refuted leaves a finding that a measurement has shown to save nothing as an observation: it has no price and no fix, and stands behind
// what is slow.
func (f *Finding) Refuted() {
	f.Measured(Range{}, Range{})
	f.Healthy, f.claim, f.ask, f.InOrder = true, nil, nil, nil
}
