package view

import (
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestMeasuredThreads: a price that was measured is the one that the verdict's sentence gives, with the measured number of
// threads, and nothing goes on calling it unmeasured.
func TestMeasuredThreads(t *testing.T) {
	p := testkit.NewProgram()
	work := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p.S.Environment.CPUs, p.S.Environment.Affinity = 4, []int{0, 1, 2, 3}
	p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "16"}
	p.Do(testkit.Python(20, work))
	p.Steps(20, model.PhaseBaseline, testkit.Native(100, work))
	plain := Build(p.S, Options{})
	f := findingOf(plain, "threads")
	if f == nil || f.Saving == nil || f.Fix.Change != "OMP_NUM_THREADS=4" || !strings.Contains(f.Caveat, "not from a measurement") {
		t.Fatalf("without a measurement: %+v", f)
	}
	m := &Measured{Prices: []MeasuredPrice{{Fix: "threads=1", SavedMs: 40, OfMs: 80, Ops: 3}}}
	r := Build(p.S, Options{Measured: m})
	f = findingOf(r, "threads")
	if f == nil || f.Saving == nil || f.Saving.StepMs.Low != 40 || f.Fix.Change != "OMP_NUM_THREADS=1" || strings.Contains(f.Caveat, "not from a measurement") {
		t.Fatalf("with a measurement: %+v", f)
	}
	if want := savingText(f.Saving); !strings.Contains(r.Verdict.Sentence, want) || r.Verdict.Confidence.Level != "high" {
		t.Errorf("the verdict says %q (%s), the finding %q", r.Verdict.Sentence, r.Verdict.Confidence.Level, want)
	}
}

// TestMeasuredCores: what all cores bring is the price of a binding to few; the bounds are as far apart as the repetition is from
// the recording, and operators before the steps gain as well.
func TestMeasuredCores(t *testing.T) {
	p := testkit.NewProgram()
	work := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p.S.Environment.CPUs, p.S.Environment.Affinity = 4, []int{0}
	p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "1"}
	p.Do(testkit.Native(500, work), testkit.Python(20, work))
	p.Steps(20, model.PhaseBaseline, testkit.Native(100, work))
	repeated := 1500.0
	m := &Measured{Prices: []MeasuredPrice{{Fix: "threads=4", SavedMs: 70, OfMs: 80, Ops: 3}, {Fix: "cores=4", SavedMs: 40, OfMs: 80, Ops: 3}},
		Ops: []MeasuredOp{{PerStep: 1, RecordedUs: 1000, RepeatedUs: &repeated}}}
	f := findingOf(Build(p.S, Options{Measured: m}), "machine")
	if f == nil || f.Saving == nil || f.Saving.StepMs.Low != 40 || f.Saving.StepMs.Mid != 50 || f.Saving.StepMs.High != 75 {
		t.Fatalf("%+v, %+v", f, f.Saving)
	}
	if run := f.Saving.RunS.Mid; run < 1.2 || run > 1.3 {
		t.Errorf("saves %.2f s of a run of 20 steps and half a second before them, want half of 2.5 s", run)
	}
}

func findingOf(r *Report, cause string) *Finding {
	for i := range r.Findings {
		if r.Findings[i].Cause == cause {
			return &r.Findings[i]
		}
	}
	return nil
}
