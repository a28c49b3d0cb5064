package main

import (
	"strings"
	"testing"
	"time"
)

// proven is an outcome of a program that takes ten seconds and whose twin saves four of them, with a proof.
func proven(name string, change func(*outcome)) outcome {
	o := outcome{name: name, expect: &expect{Cause: "python"}, slow: []document{promising(3, 4, 5)},
		file: func(f string) string { return f }, wall: [][2]float64{{10, 6}, {10.1, 6}, {9.9, 6}},
		proof: &proof{Verdict: "saves", Outputs: "same", Promised: saving{RunS: &span{3, 4, 5}}, Proven: saving{RunS: &span{3.5, 4, 4.5}},
			took: time.Minute}}
	o.proof.Finding.Cause = "python"
	change(&o)
	return o
}

// TestProofTotals: each kind of proof counts where it belongs, and numbers that miss their goal say so.
func TestProofTotals(t *testing.T) {
	all := []outcome{
		proven("held", func(*outcome) {}),
		proven("beside it", func(o *outcome) { o.proof.Proven.RunS = &span{1, 2, 3} }),
		proven("of a step", func(o *outcome) { // 200 steps of 20 ms
			o.slow[0].Steps = append(o.slow[0].Steps, struct{ Count int }{200})
			o.proof.Promised.StepMs, o.proof.Proven = &span{20, 25, 30}, saving{StepMs: &span{18, 20, 22}}
		}),
		proven("undecided", func(o *outcome) { o.proof.Verdict, o.proof.Proven.RunS = "undecided", nil }),
		proven("late", func(o *outcome) { o.proof.took = 5 * time.Minute }),
		proven("fails", func(o *outcome) { o.proof.Verdict, o.proof.Proven.RunS = "fails", nil }),
		proven("broken", func(o *outcome) { *o.proof = proof{Why: "bottleneck: prove: no space left"} }),
		proven("advice", func(o *outcome) {
			*o.proof = proof{Why: "bottleneck: prove: finding 1 (python) has advice only, no change that a program could make"}
		}),
		proven("bound", func(o *outcome) { o.proof.Bound, o.proof.Proven.RunS = true, &span{8, 9, 9.5} }),
		proven("another cause", func(o *outcome) { o.proof.Finding.Cause, o.proof.Proven.RunS = "threads", &span{0.5, 1, 2} }),
		proven("cured otherwise", func(o *outcome) { o.expect.OtherCure, o.proof.Proven.RunS = true, &span{0.5, 1, 2} }),
		proven("small", func(o *outcome) {
			o.wall = [][2]float64{{10, 9}, {10.1, 9.1}, {9.9, 8.9}}
			o.proof.Proven.RunS, o.proof.Promised.RunS = &span{0.5, 1, 2}, &span{1, 1, 1}
		}),
	}
	var s proofs
	for i := range all {
		s.add(&all[i])
	}
	if s.asked != 12 || s.refused != 1 || s.failed != 1 || s.bounds != 1 || s.decided != [2]int{7, 10} || len(s.ratios) != 7 {
		t.Errorf("%+v", s)
	}
	if s.inTime != [2]int{3, 6} || s.held != [2]int{4, 5} {
		t.Errorf("in time %v, want 3 of 6; held %v, want 4 of 5", s.inTime, s.held)
	}
	var w strings.Builder
	proofTotals(&w, all)
	text := strings.Join(strings.Fields(w.String()), " ")
	for _, says := range []string{"promised ÷ proven, median of 7 1.25 1 ", "half of them lie within; all 1.00 – 4.00; 1.00 – 4.00",
		"decided within 3m0s 3 of 6 (50 %) ≥ 90 % MISSED", "with the same cure 4 of 5 (80 %) ≥ 90 % MISSED",
		"of a step python 25.00 (20.00–30.00) ms 20.00 (18.00–22.00) ms 1.25", "another cause threads", "not what the twin cures",
		"the twin is cured otherwise", "advice no proof: bottleneck: prove: finding 1"} {
		if !strings.Contains(text, says) {
			t.Errorf("no %q:\n%s", says, w.String())
		}
	}
	if text := goal([2]int{9, 10}); text != "≥ 90 %" {
		t.Error(text)
	}
}

// TestProofBeforeTwin: what a proof of the first finding says stands in the twin's place, where it says something.
func TestProofBeforeTwin(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*outcome)
		want   float64
	}{
		{"proof", func(o *outcome) { o.proof.Proven.RunS.Mid = 2 }, 2},
		{"twin, where nothing was proven", func(o *outcome) { o.proof.Verdict = "undecided" }, 1},
		{"twin, where another finding was", func(o *outcome) { o.proof.Finding.Cause, o.proof.Proven.RunS.Mid = "threads", 2 }, 1},
		{"twin, where there is no proof", func(o *outcome) { o.proof = nil }, 1},
	} {
		o := proven("case", c.change)
		if got, ok := o.calibration(); !ok || got != c.want {
			t.Errorf("%s: %v %v, want %v", c.name, got, ok, c.want)
		}
	}
}
