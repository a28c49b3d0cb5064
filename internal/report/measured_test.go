package report

import (
	"math"
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
	p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "16", "OMP_NUM_THREADS": "16"}
	p.Do(testkit.Python(20, work))
	p.Steps(20, model.PhaseBaseline, testkit.Native(100, work))
	plain := Build(p.S, Options{})
	f := findingOf(plain, "threads")
	if f == nil || f.Saving == nil || f.Fix.Change != "OMP_NUM_THREADS=4" || !strings.Contains(f.Caveat, "not measured on this program") {
		t.Fatalf("without a measurement: %+v", f)
	}
	m := &Measured{Prices: []MeasuredPrice{{Fix: "threads=1", SavedMs: 40, OfMs: 80, Ops: 3}}}
	r := Build(p.S, Options{Measured: m})
	f = findingOf(r, "threads")
	if f == nil || f.Saving == nil || f.Saving.StepMs.Low != 40 || f.Fix.Change != "OMP_NUM_THREADS=1" ||
		strings.Contains(f.Caveat, "not measured on this program") {
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
	m := &Measured{Prices: []MeasuredPrice{{Fix: "threads=4", SavedMs: 70, OfMs: 80, Ops: 3},
		{Fix: "cores=4", SavedMs: 40, OfMs: 80, Ops: 3}},
		Ops: []MeasuredOp{{PerStep: 1, RecordedUs: 1000, RepeatedUs: &repeated}}}
	f := findingOf(Build(p.S, Options{Measured: m}), "machine")
	if f == nil || f.Saving == nil || f.Saving.StepMs.Low != 40 || f.Saving.StepMs.Mid != 50 || f.Saving.StepMs.High != 75 {
		t.Fatalf("%+v, %+v", f, f.Saving)
	}
	if run := f.Saving.RunS.Mid; run < 1.2 || run > 1.3 {
		t.Errorf("saves %.2f s of a run of 20 steps and half a second before them, want half of 2.5 s", run)
	}
}

// crowded is a program of which each step computes for 100 ms with sixteen threads on four cores, and runs Python for so many.
func crowded(python int) *testkit.Program {
	p := testkit.NewProgram()
	work := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p.S.Environment.CPUs, p.S.Environment.Affinity = 4, []int{0, 1, 2, 3}
	p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "16", "OMP_NUM_THREADS": "16"}
	p.Do(testkit.Python(20, work))
	slow := testkit.Frame{File: "/home/u/train.py", Function: "score", First: 20, Line: 22}
	p.Steps(20, model.PhaseBaseline, testkit.Native(100, work), testkit.Python(python, work, slow))
	return p
}

// TestMeasuredRefutes: where the best of the fixes brings nothing, a guess of 40 ms a step is no finding any more; the report says why.
func TestMeasuredRefutes(t *testing.T) {
	for name, prices := range map[string][]MeasuredPrice{
		"slower":       {{Fix: "threads=4", SavedMs: -5, OfMs: 80, Ops: 3}, {Fix: "threads=1", SavedMs: -60, OfMs: 80, Ops: 3}},
		"as fast":      {{Fix: "bf16", SavedMs: 60, OfMs: 80, Ops: 3}, {Fix: "threads=4", SavedMs: 0, OfMs: 80, Ops: 3}},
		"next to none": {{Fix: "threads=4", SavedMs: 1, OfMs: 80, Ops: 3}},
	} {
		r := Build(crowded(1).S, Options{Measured: &Measured{Prices: prices}})
		f := findingOf(r, "threads")
		if f == nil || f.Saving != nil || f.Fix.Change != "" || !strings.Contains(f.Title, "measured: no gain") {
			t.Errorf("%s: %+v", name, f)
			continue
		}
		if strings.Contains(r.Verdict.Sentence, "threads") {
			t.Errorf("%s: the verdict says %q", name, r.Verdict.Sentence)
		}
	}
}

// TestMeasuredLittle: what the smaller part of the operators' time shows does not refute the rest, and leaves it a guess down to
// nothing; neither does what was timed while other programs took cores.
func TestMeasuredLittle(t *testing.T) {
	guess := findingOf(Build(crowded(1).S, Options{}), "threads").Saving.StepMs.Mid
	crowd := 1.4
	for _, c := range []struct {
		of     float64
		others *float64
		left   float64
	}{{10, nil, 0.9}, {40, nil, 0.6}, {80, &crowd, 0.2}} {
		p := crowded(1)
		p.S.Environment.OthersBusyCores = c.others
		m := &Measured{Prices: []MeasuredPrice{{Fix: "threads=4", SavedMs: 0, OfMs: c.of, Ops: 1}}}
		f := findingOf(Build(p.S, Options{Measured: m}), "threads")
		if f == nil || f.Saving == nil || f.Saving.StepMs.Low != 0 || f.Confidence.Level != "low" {
			t.Fatalf("%+v", f)
		}
		if got, want := f.Saving.StepMs.Mid, c.left*guess; math.Abs(got-want) > 0.5 {
			t.Errorf("%g ms after %g were run again, want %g of the guess's %g", got, c.of, want, guess)
		}
	}
}

// TestMeasuredRanks: findings are ranked by what was measured, and the verdict names the first.
func TestMeasuredRanks(t *testing.T) {
	p := crowded(14)
	if first := Build(p.S, Options{}).Findings[0]; first.Cause != "threads" {
		t.Fatalf("without a measurement %s is the first", first.Cause)
	}
	r := Build(p.S, Options{Measured: &Measured{Prices: []MeasuredPrice{{Fix: "threads=4", SavedMs: 8, OfMs: 80, Ops: 3}}}})
	if len(r.Findings) < 2 || r.Findings[0].Cause != "python" || r.Findings[1].Cause != "threads" {
		t.Fatalf("%+v", r.Findings)
	}
	if !strings.Contains(r.Verdict.Sentence, "train.py:22") {
		t.Errorf("the verdict says %q", r.Verdict.Sentence)
	}
}

// TestMeasuredBounds: operators took longer while their shapes were recorded; the price is of what they take in other steps, and no
// more than these. What a session's file says of a fix does not become a command.
func TestMeasuredBounds(t *testing.T) {
	repeated := 3000.0
	m := &Measured{Prices: []MeasuredPrice{{Fix: "threads=4; rm -rf x", SavedMs: 270, OfMs: 300, Ops: 3}},
		Ops: []MeasuredOp{{PerStep: 1, RecordedUs: 1000, RepeatedUs: &repeated}}}
	r := Build(crowded(1).S, Options{Measured: m})
	f := findingOf(r, "threads")
	if f == nil || f.Saving == nil || math.Abs(f.Saving.StepMs.Mid-90) > 1 || f.Saving.StepMs.High > 102 ||
		f.Saving.StepMs.Low > f.Saving.StepMs.Mid {
		t.Fatalf("%+v, %+v", f, f.Saving)
	}
	if f.Saving.RunS.High > 2.1 {
		t.Errorf("saves %g s of 2.1", f.Saving.RunS.High)
	}
	if f.Fix.Change != "OMP_NUM_THREADS=4" {
		t.Errorf("it says to change %q", f.Fix.Change)
	}
}

// TestMeasuredTogether: fewer threads and more cores speed up the same operators. What both were measured to save, each alone, is not
// saved twice, also where several ranks keep the steps from being replayed.
func TestMeasuredTogether(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		p := crowded(1)
		p.S.Environment.CPUs, p.S.Environment.Affinity, p.P.WorldSize = 8, []int{0}, ranks
		m := &Measured{
			Prices: []MeasuredPrice{{Fix: "cores=8", SavedMs: 70, OfMs: 80, Ops: 3}, {Fix: "threads=1", SavedMs: 60, OfMs: 80, Ops: 3}},
		}
		r := Build(p.S, Options{Measured: m})
		sum, n := 0.0, 0
		for i := range r.Findings {
			if s := r.Findings[i].Saving; s != nil && s.StepMs != nil {
				sum += s.StepMs.Mid
				n++
			}
		}
		if n < 2 || sum > 101.5 {
			t.Errorf("%d ranks: %d findings save %g ms of a step of 101 ms", ranks, n, sum)
		}
	}
}

// TestMeasuredOnceEach: more cores speed up what fewer threads leave, also where both were measured; what fewer threads were guessed to
// save is not taken from it once that is refuted.
func TestMeasuredOnceEach(t *testing.T) {
	p := crowded(1)
	p.S.Environment.CPUs, p.S.Environment.Affinity = 8, []int{0}
	cores := func(prices ...MeasuredPrice) (float64, string) {
		t.Helper()
		f := findingOf(Build(p.S, Options{Measured: &Measured{Prices: prices}}), "machine")
		if f == nil || f.Saving == nil {
			t.Fatalf("%+v", f)
		}
		said := ""
		for _, e := range f.Evidence {
			said += e.ID + "\n"
		}
		return f.Saving.StepMs.Mid, said
	}
	measured := MeasuredPrice{Fix: "cores=8", SavedMs: 40, OfMs: 80, Ops: 3}
	both, said := cores(measured, MeasuredPrice{Fix: "threads=1", SavedMs: 32, OfMs: 80, Ops: 3})
	if math.Abs(both-0.6*50) > 0.5 || !strings.Contains(said, "threads.fewer-first") {
		t.Errorf("cores save %g ms beside fewer threads, want half of the 60 ms that these leave: %s", both, said)
	}
	alone, said := cores(measured, MeasuredPrice{Fix: "threads=1", SavedMs: 0, OfMs: 80, Ops: 3})
	if math.Abs(alone-50) > 0.5 || strings.Contains(said, "threads.fewer-first") {
		t.Errorf("cores save %g ms where the number of threads does not matter, want 50: %s", alone, said)
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
