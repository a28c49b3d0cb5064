package report

import (
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// A headline that rests on few samples, or may save less than a report names at all, says so and what would decide it; one that is sure
// does not.
func TestHeadlinesThatAreNotSure(t *testing.T) {
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	forward := testkit.Native(40, module, testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/nn/modules/linear.py",
		Function: "Linear.forward", First: 1, Line: 2})
	for _, c := range []struct {
		name    string
		steps   int
		ms      int
		threads string
		decide  string
	}{
		{"many samples", 40, 40, "4", ""},
		{"few samples", 4, 5, "4", "More samples would decide it: a longer run, or a higher --rate."},
		{"a wide price", 40, 0, "16", "--measure-fixes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.S.Environment.Threads["torch.get_num_threads"] = c.threads
			p.Steps(c.steps, model.PhaseBaseline, forward, testkit.Python(c.ms, module,
				testkit.Frame{File: "/home/u/train.py", Function: "count", First: 20, Line: 22}))
			v := Build(p.S, Options{}).Verdict
			if strings.HasPrefix(v.Sentence, "probably: ") != (c.decide != "") || !strings.Contains(v.Sentence, c.decide) {
				t.Errorf("%q (%s: %s), want %q", v.Sentence, v.Confidence.Level, v.Confidence.Why, c.decide)
			}
		})
	}
}

// What nobody has tried is said of a healthy program.
func TestHealthyAsFarAsTried(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(40, model.PhaseBaseline, testkit.Native(40, testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9},
		testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/nn/modules/linear.py", Function: "Linear.forward", First: 1, Line: 2}))
	p.S.Environment.Threads["torch.get_num_threads"] = "1"
	want := "nothing above 3.0 % to save was found. Not tried: another number of threads than 1 (8 cores); bottleneck run " +
		"--measure-fixes tries it."
	if got := Build(p.S, Options{}).Verdict.Sentence; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want it to end with %q", got, want)
	}
	measured := &Measured{Prices: []MeasuredPrice{{Fix: "threads=8", SavedMs: -1, OfMs: 30, Ops: 3}}}
	if got := Build(p.S, Options{Measured: measured}).Verdict.Sentence; strings.Contains(got, "Not tried") {
		t.Errorf("%q, although it was tried", got)
	}
}

// A run of ours on a device tells computing there from waiting for it, and which kernels could be faster.
func TestRunOnADevice(t *testing.T) {
	for kernel, want := range map[string]string{"ampere_fp16_s16816gemm_fp16_128x64": "healthy: 90 % of each step is computing",
		"ampere_sgemm_128x64_nn": "is spent on matrix products and convolutions in fp32"} {
		r := Build(testkit.OnDevice(80, false, kernel).S, Options{})
		if !strings.Contains(r.Verdict.Sentence, want) || r.Verdict.Bound != "gpu" {
			t.Errorf("%s: %q, bound %s", kernel, r.Verdict.Sentence, r.Verdict.Bound)
		}
		sum := 0.0
		for _, p := range r.Breakdown {
			sum += p.Share
			if p.Part == "GPU compute" && (p.Share < 0.78 || p.Share > 0.82) {
				t.Errorf("%+v", p)
			}
		}
		if sum < 0.999 || sum > 1.001 {
			t.Errorf("parts sum to %v", sum)
		}
	}
	r := Build(testkit.OnDevice(10, false, "ampere_sgemm_128x64_nn").S, Options{})
	if len(r.Findings) == 0 || r.Findings[0].Cause != "sync" {
		t.Errorf("%+v", r.Verdict)
	}
}

// What a loop does between its steps no step shows: the verdict on them says so.
func TestHealthySaysWhatIsOutsideOfSteps(t *testing.T) {
	saved := testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/serialization.py", Function: "save", First: 900, Line: 950}
	const outside = " Outside of its steps the run spends "
	for rounds, said := range map[int]string{3: outside, 0: "", -3: outside} { // negative: rounds in which it writes files
		main := func(line int) testkit.Frame {
			return testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: line}
		}
		layer := testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/nn/modules/linear.py", Function: "Linear.forward", First: 1, Line: 2}
		p := testkit.NewProgram()
		for range 3 {
			p.Steps(20, model.PhaseBaseline, testkit.Native(40, main(9), layer))
			for range -rounds {
				p.Do(testkit.Native(200, main(12), testkit.Frame{File: "/home/u/train.py", Function: "sample", First: 2, Line: 5}, saved))
			}
			for range rounds {
				p.Do(testkit.Native(200, main(12), testkit.Frame{File: "/home/u/train.py", Function: "sample", First: 2, Line: 5}, layer))
			}
		}
		got := Build(p.S, Options{}).Verdict.Sentence
		if strings.Contains(got, "Outside") != (said != "") || said != "" && !strings.Contains(got, said) ||
			said != "" && !strings.Contains(got, "in sample() at train.py:5: doing that less often saves it.") {
			t.Errorf("%d rounds: %q", rounds, got)
		}
	}
}

// A program whose threads other programs keep from the cores is not called healthy.
func TestNotHealthyInACrowd(t *testing.T) {
	for _, c := range []struct {
		cores   int
		threads string
		others  float64
		crowded bool
	}{{2, "2", 1.3, true}, {2, "2", 0.2, false}, {2, "1", 0.9, false}, {8, "4", 3, false}, {8, "8", 3, true}} {
		p := testkit.NewProgram()
		p.Steps(40, model.PhaseBaseline, testkit.Native(40,
			testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9},
			testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/nn/modules/linear.py", Function: "Linear.forward", First: 1, Line: 2}))
		p.S.Environment.Threads["torch.get_num_threads"] = c.threads
		p.S.Environment.CPUs, p.S.Environment.OthersBusyCores = c.cores, &c.others
		got := Build(p.S, Options{}).Verdict.Sentence
		if strings.HasPrefix(got, "healthy: ") == c.crowded ||
			c.crowded && !strings.HasPrefix(got, "no defect was found, but other programs kept ") {
			t.Errorf("%d cores, %s threads, %.1f cores of others: %q", c.cores, c.threads, c.others, got)
		}
	}
}
