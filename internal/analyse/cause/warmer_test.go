package cause_test

import (
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"math"
	"testing"
)

// What a wait hid gets faster with its end, most where the wait was nearly all of the step; the end of computing leaves the rest as it was.
func TestTheRestGetsWarmer(t *testing.T) {
	get := testkit.Frame{File: "/usr/lib/python3.13/queue.py", Function: "get", First: 1, Line: 2}
	for _, c := range []struct {
		name       string
		wait, rest int
		more       float64 // ms
	}{
		{"most of the step", 90, 10, 3 * 0.9 * 0.9},
		{"most of a long step", 720, 80, 3 * 0.9 * 0.9},
		{"most of a short step", 18, 2, 0.35 * 2 * 0.9 * 0.9},
		{"a little of the step", 10, 90, 3 * 0.1 * 0.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, asleep := range []bool{true, false} {
				p := testkit.NewProgram()
				act, want := testkit.Python(c.wait, module, loop(50), user("count_words", 10, 12)), 0.0
				if asleep {
					act, want = testkit.Blocked(c.wait, module, loop(50), get), c.more
				}
				p.Steps(30, model.PhaseBaseline, testkit.Native(c.rest, module, loop(40), torchFrame("nn/modules/linear.py", "forward")),
					act)
				res, b := find(t, p)
				f := res.Findings[0]
				if got := f.Step.Mid/1e6 - float64(c.wait); math.Abs(got-want) > 0.02*want+1e-6 {
					t.Errorf("asleep %v: %s saves %.2f ms beyond its own %d, want %.2f", asleep, f.Cause, got, c.wait, want)
				}
				if f.Step.High > b.Mean()*1.0001 {
					t.Errorf("up to %.1f ms of a step of %.1f", f.Step.High/1e6, b.Mean()/1e6)
				}
				if got := f.Run.Mid / f.Step.Mid; math.Abs(got-30) > 0.01 {
					t.Errorf("%.2f times the step over a run of 30 steps", got)
				}
			}
		})
	}
}

// Pricing by a replay takes the place of the rule's price: what the rest gains counts once, and is none where a late rank is waited for.
func TestTheRestGetsWarmerOnce(t *testing.T) {
	p := testkit.NewProgram()
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	disk := testkit.Act{Ms: 90, State: model.StateBlocked, Flags: model.SampleDiskWait,
		Stack: []testkit.Frame{module, loop(38), next, user("__getitem__", 5, 7)}}
	p.Steps(30, model.PhaseBaseline, disk.In(model.SpanDataWait), forward)
	res, b := find(t, p)
	c := facts.NewFacts(p.S, b)
	r := replay.NewSession(p.S, b)
	for range 2 {
		res.PriceInput(c, r)
	}
	found := res.Findings
	alone := 0.97 * 90.0
	if got := found[0].Step.Mid / 1e6; found[0].Sub != "storage" || got < alone+0.9 || got > alone+1.2 {
		t.Errorf("%s/%s saves %.2f ms, want %.1f and once what 3 ms in the square of %.2f are", found[0].Cause, found[0].Sub,
			got, alone, alone/150)
	}
}

// Findings that a replay has priced anew stand in the order in which Find puts them: what ends the program first, what is healthy last.
func TestOneOrderOfFindings(t *testing.T) {
	found := []finding.Finding{
		{Cause: finding.NoDemand, Healthy: true, Run: finding.Range{Mid: 9e9}},
		{Cause: finding.GC, Run: finding.Range{Mid: 1e9}},
		{Cause: finding.Python, Run: finding.Range{Mid: 2e9}},
		{Cause: finding.Machine, Stops: true},
	}
	cause.Rank(found)
	for i, want := range []string{finding.Machine, finding.Python, finding.GC, finding.NoDemand} {
		if found[i].Cause != want {
			t.Errorf("finding %d is %s, want %s", i, found[i].Cause, want)
		}
	}
}

// A price that rests on the number of cores alone stands behind one of about the same size that was seen, and before a much smaller one.
func TestGuessesStandBehind(t *testing.T) {
	order := func(python int) []string {
		p := testkit.NewProgram()
		p.S.Environment.Affinity, p.S.Environment.Threads["torch.get_num_threads"] = []int{0, 1}, "2"
		p.Steps(40, model.PhaseBaseline, testkit.Native(100, module, loop(40), torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(python, module, loop(44), user("count_words", 10, 12)))
		res, _ := find(t, p)
		var out []string
		for _, f := range res.Findings {
			out = append(out, f.Cause)
		}
		return out
	}
	for _, c := range []struct {
		python int
		first  string
	}{{40, finding.Python}, {6, finding.Machine}} {
		if got := order(c.python); len(got) < 2 || got[0] != c.first {
			t.Errorf("with %d ms of Python beside 100 ms of operators on too few cores: %v, want %s first", c.python, got, c.first)
		}
	}
}
