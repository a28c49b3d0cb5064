package cause_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// sums checks that findings save no more than the steps and the run together take, each within its bounds.
func sums(t *testing.T, found []finding.Finding, b *account.Breakdown, wall float64) {
	t.Helper()
	step, run := 0.0, 0.0
	for _, f := range found {
		for name, r := range map[string]finding.Range{"step": f.Step, "run": f.Run} {
			if r.Low < 0 || r.Low > r.Mid || r.Mid > r.High {
				t.Errorf("%s/%s: bounds of the %s out of order: %+v", f.Cause, f.Sub, name, r)
			}
		}
		if !f.OfRun {
			step += f.Step.Mid
		}
		if run += f.Run.Mid; f.Step.High > b.Mean()*1.0001 && !f.OfRun {
			t.Errorf("%s/%s saves up to %.1f ms of a step of %.1f", f.Cause, f.Sub, f.Step.High/1e6, b.Mean()/1e6)
		}
	}
	if step > b.Mean()*1.0001 || run > wall*1.0001 {
		t.Errorf("findings save %.1f ms of a step of %.1f, %.1f s of a run of %.1f", step/1e6, b.Mean()/1e6, run/1e9, wall/1e9)
	}
}

// Rules that know no time of their own, such as those of threads and of cores, and those that do, see the same operators: their prices
// together are no more than the step.
func TestSavingsTogetherFitTheStep(t *testing.T) {
	for _, c := range []struct {
		name             string
		ops, waits, slow int
		threads          string
		affinity         []int
	}{
		{"many threads", 50, 40, 0, "32", nil},
		{"few cores", 90, 10, 0, "8", []int{0, 1}},
		{"few cores and a wait", 30, 60, 10, "32", []int{0, 1}},
		{"only waits", 1, 95, 4, "8", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.S.Environment.Threads["torch.get_num_threads"], p.S.Environment.Affinity = c.threads, c.affinity
			next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
			acts := []testkit.Act{testkit.Native(c.ops, module, loop(40), torchFrame("nn/modules/linear.py", "forward")),
				testkit.Blocked(c.waits, module, loop(38), next, user("__getitem__", 5, 8)).In(model.SpanDataWait)}
			if c.slow > 0 {
				acts = append(acts, testkit.Python(c.slow, module, loop(44), user("count_words", 10, 12)))
			}
			p.Steps(40, model.PhaseBaseline, acts...)
			res, b := find(t, p)
			ctx := facts.NewFacts(p.S, b)
			sums(t, res.Findings, b, ctx.Wall)
			res.PriceInput(ctx, replay.NewSession(p.S, b))
			sums(t, res.Findings, b, ctx.Wall)
		})
	}
}

// An optimizer's chain on too few cores by too many threads: three prices of the same operators.
func TestThreePricesOfTheSameOperators(t *testing.T) {
	p := chains(0, map[string]int{"aten::sqrt": 48, "aten::div": 24, "aten::addcmul_": 8})
	p.S.Environment.Threads["torch.get_num_threads"], p.S.Environment.Affinity = "32", []int{0, 1}
	res, b := find(t, p)
	if len(res.Findings) < 2 {
		t.Fatalf("findings %+v, want those that leave something of the step", res.Findings)
	}
	sums(t, res.Findings, b, facts.NewFacts(p.S, b).Wall)
}

// A stated interval is as wide as the steps say: where they vary, their mean is not known better than by its own error, nor what is saved
// of it.
func TestIntervalsHoldTheSpreadOfSteps(t *testing.T) {
	for _, c := range []struct{ long, traced int }{{40, 0}, {400, 72}, {400, 0}} { // steps of the latter are the run's, but not accounted
		long := c.long
		p := testkit.NewProgram()
		count := func(ms int) testkit.Act { return testkit.Python(ms, module, loop(44), user("count_words", 10, 12)) }
		n := 24
		for i := range n {
			ms := 40
			if i%8 == 7 {
				ms = long
			}
			p.Steps(1, model.PhaseBaseline, forward, count(ms))
		}
		if c.traced > 0 {
			p.Steps(c.traced, model.PhaseDetail, forward, count(40))
		}
		res, b := find(t, p)
		f := want(t, res, finding.Python, "", 12, 0)
		sd := float64(long-40) * 1e6 * math.Sqrt(1.0/8*7/8)
		half := 1.64 * sd / math.Sqrt(float64(n)) * math.Sqrt(f.Step.Mid/b.Mean())
		if c.traced > 0 {
			half *= math.Sqrt(float64(c.traced) / float64(c.traced+n))
		} else { // all steps are accounted, and do the same the next time: the machine's drift is left
			half = min(half, 0.08*b.Mean()*math.Sqrt(f.Step.Mid/b.Mean()))
		}
		if f.Step.Low > f.Step.Mid-half*0.97 || f.Step.High < math.Min(f.Step.Mid+half*0.97, b.Mean()) {
			t.Errorf("steps of %d ms now and then: %+v, want at least ± %.1f ms", long, f.Step, half/1e6)
		}
		r, s, steps, wall := f.Run, f.Step, float64(n+c.traced), facts.NewFacts(p.S, b).Wall
		if math.Abs(r.Low-s.Low*steps) > 0.01*r.Low || math.Abs(r.High-min(s.High*steps, wall)) > 0.01*r.High {
			t.Errorf("the run's bounds %+v are not those of %.0f steps %+v", r, steps, s)
		}
	}
}

// A machine that is slow for a while tells less of the mean step than one whose slow steps lie among the others: successive steps are not
// independent. That error and the rule's own add in squares.
func TestIntervalsKnowSlowStretches(t *testing.T) {
	const n = 200
	find := func(slow func(i int) bool) (finding.Range, float64) {
		p := testkit.NewProgram()
		for i := range n {
			ms := 40
			if slow(i) {
				ms = 60
			}
			p.Steps(1, model.PhaseBaseline, forward, testkit.Python(ms, module, loop(44), user("count_words", 10, 12)))
		}
		res, b := find(t, p)
		f := want(t, res, finding.Python, "", 12, 0)
		return f.Step, b.Mean()
	}
	mixed, mean := find(func(i int) bool { return i%2 == 1 })
	apart, _ := find(func(i int) bool { return i >= n/2 })
	if mixed.Mid != apart.Mid {
		t.Fatalf("best guesses %+v and %+v, want the same", mixed, apart)
	}
	part := math.Sqrt(mixed.Mid / mean)
	few, many := 1.83*10e6*math.Sqrt(1/9.0)*part, 1.64*10e6/math.Sqrt(n-1)*part // of ten groups, half of them slow, and of all steps
	if got, want := math.Pow(mixed.Mid-apart.Low, 2)-math.Pow(mixed.Mid-mixed.Low, 2), few*few-many*many; math.Abs(got-want) > 0.01*want {
		t.Errorf("a slow half: %+v, slow steps in between: %+v, want the first to be wider by the error of ten groups' means", apart, mixed)
	}
}

// What a quota holds back is time of the program's own lines: both together are no more than the run.
func TestSavingsOfTheMachineFitTheRun(t *testing.T) {
	p := testkit.NewProgram()
	quota, throttled := 0.5, 3.9
	p.S.Environment.Threads["torch.get_num_threads"] = "1"
	p.Steps(40, model.PhaseBaseline, testkit.Python(95, module, loop(44), user("count_words", 10, 12)), testkit.Native(5, module, loop(40)))
	p.S.Environment.CPUQuota, p.S.Environment.ThrottledSeconds = &quota, &throttled
	res, b := find(t, p)
	if len(res.Findings) < 2 {
		t.Fatalf("findings %+v, want the lines' and the quota's", res.Findings)
	}
	sums(t, res.Findings, b, facts.NewFacts(p.S, b).Wall)
}
