package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"math"
	"testing"
)

// handover builds steps of 40 ms that wait for a batch that is ready, then let go of the one before on the loop's own line.
func handover(waitMs, releaseMs int, head string) *testkit.Program {
	p := testkit.NewProgram()
	lines := make([]string, 60)
	lines[37] = head
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
	p.P.Loaders = []model.Loader{{Workers: 2, BatchSize: 32}}
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	for range 40 {
		p.P.Queues = append(p.P.Queues, model.QueueLength{Time: p.T, Ready: 2})
		acts := []testkit.Act{testkit.Blocked(waitMs, module, loop(38), next).In(model.SpanDataWait)}
		if releaseMs > 0 {
			acts = append(acts, testkit.Python(releaseMs, module, loop(38)))
		}
		p.Steps(1, model.PhaseBaseline, append(acts, testkit.Native(40, module, loop(40)))...)
	}
	w := p.Add(model.RoleWorker, 101)
	for range 40 {
		w.Do(testkit.Python(4, user("__getitem__", 5, 8)).In(model.SpanFetch))
	}
	return p
}

// A batch that is ready and still takes 30 ms to arrive costs all but what a message takes; letting go of its many tensors
// is part of the price where the loop's head does nothing else.
func TestHandover(t *testing.T) {
	for _, c := range []struct {
		name          string
		wait, release int
		head          string
		stepMs        float64
	}{
		{"waits", 30, 0, "    for x, y in loader:", 29},
		{"lets go", 30, 10, "    for x, y in loader:  # batches", 39},
		{"works on that line", 30, 10, "    sizes = [len(x) for x in loader]", 29},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, handover(c.wait, c.release, c.head))
			var got *finding.Finding
			for i := range res.Findings {
				if res.Findings[i].Cause == finding.Input {
					got = &res.Findings[i]
				}
			}
			if got == nil || got.Sub != "handover" {
				t.Fatalf("findings %+v, want input/handover", res.Findings)
			}
			if math.Abs(got.Step.Mid/1e6-c.stepMs) > 1.5 {
				t.Errorf("saves %.1f ms a step, want about %.1f", got.Step.Mid/1e6, c.stepMs)
			}
		})
	}
}

// What every batch takes to be handed over is no defect.
func TestUsualHandover(t *testing.T) {
	res, _ := find(t, handover(1, 0, "    for x, y in loader:"))
	for _, f := range res.Findings {
		if f.Cause == finding.Input {
			t.Errorf("claims %.2f ms a step for %s/%s on a usual hand-over", f.Step.Mid/1e6, f.Cause, f.Sub)
		}
	}
}

// A line that writes thousands of times is long in a few exact spans only; samples hold the rest of it, and both count once.
func TestShortWritesBesideLongOnes(t *testing.T) {
	p := testkit.NewProgram()
	emit := testkit.Frame{File: "/usr/lib/python3.13/logging/__init__.py", Function: "emit", First: 1, Line: 2}
	for range 10 {
		p.Steps(1, model.PhaseBaseline, forward, testkit.Python(10, module, loop(47), emit).In(model.SpanIO),
			testkit.Python(50, module, loop(47), emit))
		p.Steps(3, model.PhaseBaseline, forward, testkit.Python(60, module, loop(47), emit))
	}
	res, _ := find(t, p)
	want(t, res, finding.IO, "logging", 47, 0.92*60)
}

// Two lines that write one after the other are one thing to do less often; what is written elsewhere is another.
func TestLinesThatWriteBesideEachOther(t *testing.T) {
	emit := testkit.Frame{File: "/usr/lib/python3.13/logging/__init__.py", Function: "emit", First: 1, Line: 2}
	for line, both := range map[int]bool{48: true, 80: false} {
		p := testkit.NewProgram()
		p.Steps(30, model.PhaseBaseline, forward, testkit.Python(60, module, loop(47), emit), testkit.Python(40, module, loop(line), emit))
		res, _ := find(t, p)
		saved := 0.92 * 60
		if both {
			saved = 0.92 * 100
		}
		f := want(t, res, finding.IO, "logging", 47, saved)
		if also := textOf(f.Evidence, "io.also"); (also != "") != both {
			t.Errorf("line %d: %q", line, also)
		}
	}
}

// cheapFetches is a program whose two workers each fetch a batch in less time than it takes to hand it over; making tensors of what came
// takes a part of the wait.
func cheapFetches(fetchMs float64, pieces bool, l model.Loader) *testkit.Program {
	p := building("loader = DataLoader(rows, 32, num_workers=2)", l)
	wait := []testkit.Act{testkit.Blocked(3, module, loop(38), next)}
	if pieces {
		wait = []testkit.Act{testkit.Python(3, module, loop(38), next, torchFrame("multiprocessing/reductions.py", "rebuild_storage_fd"))}
	}
	for range 60 {
		p.P.Queues = append(p.P.Queues, model.QueueLength{Time: p.T, Ready: 2})
		p.Steps(1, model.PhaseBaseline, wait[0].In(model.SpanDataWait), testkit.Native(17, module, loop(40)))
	}
	w := p.Add(model.RoleWorker, 101)
	for range 60 {
		at := w.T
		w.Do(testkit.Python(10, user("__getitem__", 5, 8)).In(model.SpanFetch))
		sp := &w.P.Spans[len(w.P.Spans)-1]
		sp.End = at + model.Time(fetchMs*1e6)
	}
	return p
}

// Batches that are cheaper to fetch than to hand over need no workers; where they are not, few tensors are not advised to a program whose
// time does not go into their number.
func TestWorkersThatOnlyHandOver(t *testing.T) {
	for _, c := range []struct {
		name   string
		fetch  float64
		pieces bool
		loader model.Loader
		fix    string
		change string
		stepMs float64
	}{
		{"cheap", 0.5, false, model.Loader{Workers: 2, Prefetch: 2}, "input.fix-alone",
			"loader = DataLoader(rows, 32, num_workers=0)", 2.5},
		{"cheap, with workers that are kept", 0.5, false, model.Loader{Workers: 2, Prefetch: 8, Persistent: true}, "input.fix-alone",
			"loader = DataLoader(rows, 32, num_workers=0, persistent_workers=False, prefetch_factor=None)", 2.5},
		{"dear, in few pieces", 8, false, model.Loader{Workers: 2, Prefetch: 2}, "input.fix-less", "", 2},
		{"dear, in many pieces", 8, true, model.Loader{Workers: 2, Prefetch: 2}, "input.fix-handover", "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, cheapFetches(c.fetch, c.pieces, c.loader))
			f := want(t, res, finding.Input, "handover", 25, c.stepMs)
			if textOf(f.Fix.Advice, c.fix) == "" || f.Fix.Action.Change() != c.change {
				t.Errorf("advice %v, change %q, want %s, %q", f.Fix.Advice, f.Fix.Action.Change(), c.fix, c.change)
			}
			if c.change != "" && textOf(f.Caveat, "input.caveat-workers") != "" {
				t.Errorf("caveats %v are of workers that are added", f.Caveat)
			}
		})
	}
}
