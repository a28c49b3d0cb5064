package cause

// Measured sets a price that was measured: it is no guess any more.
func (f *Finding) Measured(step, run Range) { f.Step, f.Run, f.guess, f.cold = step, run, false, nil }

// Refuted leaves a finding that a measurement has shown to save nothing as an observation: it has no price and no fix, and stands behind
// what is slow.
func (f *Finding) Refuted() {
	f.Measured(Range{}, Range{})
	f.Healthy, f.claim, f.ask, f.InOrder = true, nil, nil, nil
}
