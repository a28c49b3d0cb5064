package compare

import (
	"bottleneck/internal/report"
	"testing"
)

// TestInTurns: what drifts with the machine meets both runs of a pair, and is no part of their difference.
func TestInTurns(t *testing.T) {
	drift := []float64{10, 14, 19, 12, 25, 17}
	var before, after []float64
	for i, ms := range drift {
		before, after = append(before, ms), append(after, ms+2+0.1*float64(i%3))
	}
	a, b := runsOf("a", before...), runsOf("b", after...)
	if d := mustDiff(t, a, b, Options{}); d.Verdict != report.Undecided || d.InTurns != nil {
		t.Errorf("as if the runs knew nothing of each other: %s", d.Sentence)
	}
	d := mustDiff(t, a, b, Options{InTurns: true})
	if d.Verdict != report.Slower || *d.Step.LowMs < 1.5 || *d.Step.HighMs > 3 || d.InTurns.Pairs != 6 || d.InTurns.Level != 0.01 {
		t.Errorf("%s %+v %+v", d.Sentence, d.Step, d.InTurns)
	}
	if d := mustDiff(t, runsOf("a", before[:3]...), runsOf("b", after[:3]...), Options{InTurns: true}); d.Verdict != report.Undecided ||
		d.NoiseCovered {
		t.Errorf("three pairs: %s", d.Sentence)
	}
	proof := mustDiff(t, a, b, Options{InTurns: true, Proof: true})
	if *proof.Step.HighMs-*proof.Step.LowMs >= *d.Step.HighMs-*d.Step.LowMs {
		t.Error("the interval at 95 % is no narrower than that at 99")
	}
}

// TestProof sets what was promised beside what is proven, with the sign of a saving.
func TestProof(t *testing.T) {
	a, b := runsOf("original", 10, 11, 10, 10.5, 10, 11), runsOf("changed", 6, 7.1, 6, 6.4, 6, 7)
	d := mustDiff(t, a, b, Options{InTurns: true, Proof: true})
	p := &report.Proof{Promised: report.Saved{StepMs: &report.Range{Low: 3, Mid: 4, High: 5}}}
	FillProof(p, d, nil)
	if s := p.Proven.StepMs; p.Verdict != report.ProofSaves || s == nil || s.Low < 3.5 || s.Mid < 3.8 || s.High > 4.5 || s.Low > s.Mid ||
		s.Mid > s.High || p.Proven.RunS != nil {
		t.Errorf("%s %+v", p.Sentence, p.Proven.StepMs)
	}
	if want := "the change saves 4.05 ms a step (3.87 ms – "; len(p.Sentence) < len(want) || p.Sentence[:len(want)] != want {
		t.Error(p.Sentence)
	}
	if !ProofDecided(d) {
		t.Error("a saving that is known to a few per cent is not decided")
	}
	FillProof(p, mustDiff(t, b, a, Options{InTurns: true, Proof: true}), nil)
	if p.Verdict != report.ProofCosts {
		t.Error(p.Sentence)
	}
	// What findings promise is of the mean of steps, and so is a proof.
	mean := func(s Side, ms float64) Side {
		for i := range s.Runs {
			s.Runs[i].Report.Steps[0].Baseline.MeanMs = ptr(ms + 0.01*float64(i))
		}
		return s
	}
	if d := mustDiff(t, mean(runsOf("a", 5, 5, 5, 5), 10), mean(runsOf("b", 1, 1, 1, 1), 8),
		Options{InTurns: true, Proof: true}); d.Step.DifferenceMs < -2.1 || d.Step.DifferenceMs > -1.9 {
		t.Errorf("means of 10 and 8 ms differ by %v", d.Step.DifferenceMs)
	}
	few := mustDiff(t, runsOf("original", 10), runsOf("changed", 6), Options{InTurns: true, Proof: true})
	FillProof(p, few, nil)
	if p.Verdict != report.ProofUndecided || p.Proven.StepMs != nil || ProofDecided(few) {
		t.Errorf("%s %+v", p.Sentence, p.Proven)
	}
}
