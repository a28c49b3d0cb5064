package cause

// Price sets a finding's price anew, on its own and not yet beside the others.
func (f *Finding) Price(step, run Range) { f.Step, f.Run, f.bare = step, run, nil }

// Measured sets a price that was measured: it is no guess any more.
func (f *Finding) Measured(step, run Range) {
	f.Price(step, run)
	f.guess = false
}

// Refuted leaves a finding that a measurement has shown to save nothing as an observation: it has no price and no fix, and stands behind
// what is slow.
func (f *Finding) Refuted() {
	f.Measured(Range{}, Range{})
	f.Healthy, f.claim, f.ask, f.InOrder = true, nil, nil, nil
}
