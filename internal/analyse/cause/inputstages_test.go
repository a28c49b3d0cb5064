package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

var (
	fetch = torchFrame("utils/data/_utils/fetch.py", "fetch")
	get   = testkit.Frame{File: "/usr/lib/python3.13/queue.py", Function: "Queue.get", First: 150, Line: 171}
)

// beside gives another thread of the program the stack of the acts at each of its samples.
func beside(p *testkit.Program, thread int, acts ...testkit.Act) {
	sm := &p.P.Samples
	n := sm.Len()
	p.Do(acts...)
	stacks, states := sm.Stack[n:], sm.State[n:]
	only := model.Samples{Time: sm.Time[:n], Thread: sm.Thread[:n], Stack: sm.Stack[:n], State: sm.State[:n], Flags: sm.Flags[:n]}
	var all model.Samples
	for i := range n {
		k := i % len(stacks)
		all.Time, all.Thread, all.Stack = append(all.Time, only.Time[i], only.Time[i]), append(all.Thread, only.Thread[i], int32(thread)),
			append(all.Stack, only.Stack[i], stacks[k])
		all.State, all.Flags = append(all.State, only.State[i], states[k]), append(all.Flags, only.Flags[i], 0)
	}
	all.Stacks = sm.Stacks
	*sm = all
}

// A data set takes its items from a queue that a thread of its own fills: what that computes is the place, and no workers are advised, in
// which the thread does not run. One that sleeps itself stands for storage, and a change of the loader's line alone would let workers share
// it.
func TestDataThatAThreadOfItsOwnMakes(t *testing.T) {
	for _, c := range []struct {
		name string
		does testkit.Act
		sub  string
		line int
	}{
		{"computes", testkit.Python(1, user("produce", 20, 22)), "queue", 22},
		{"sleeps", testkit.Blocked(1, user("produce", 20, 23)), "storage", 12},
	} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{})
		waits := testkit.Act{Ms: 60, State: model.StateGILWait, Stack: []testkit.Frame{module, loop(38), next, fetch,
			user("__getitem__", 10, 12), get}}
		p.Steps(20, model.PhaseBaseline, forward, waits.In(model.SpanDataWait))
		beside(p, 201, c.does)
		res, _ := find(t, p)
		f := want(t, res, finding.Input, c.sub, c.line, 0)
		if f.Fix.Action.Old != "" || textOf(f.Fix.Advice, "input.fix-storage") != "" ||
			c.sub == "queue" && (f.Fix.Action.Change() != "" || textOf(f.Fix.Advice, "input.fix-maker-own") == "") {
			t.Errorf("%s: %+v", c.name, f.Fix)
		}
	}
}

// TestDataThatACommandMakes: a fetch that waits for a program which it starts for each sample is told so, with a library as the cure; one
// that asks a connection is not.
func TestDataThatACommandMakes(t *testing.T) {
	for line, advice := range map[string]string{
		`raw = subprocess.run(["gzip", "-dc", path], capture_output=True).stdout`: "input.fix-command",
		"raw = self.connection.recv()":                                            "input.fix-ask",
	} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{})
		lines := make([]string, 12)
		lines[11] = "        " + line
		p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: lines}
		p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(60, module, loop(38), next, fetch, user("__getitem__", 10, 12),
			testkit.Frame{File: "/usr/lib/python3.13/subprocess.py", Function: "Popen.communicate", First: 1, Line: 2}).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "storage", 12, 0)
		if f.Fix.Advice[0].ID != advice {
			t.Errorf("%s: %q", line, f.Fix.Advice[0].ID)
		}
	}
}

// A worker's fetch waits for a process of the program's own that computes: its line is the place.
func TestDataThatAProcessMakesForWorkers(t *testing.T) {
	p := building("loader = DataLoader(rows, 32, num_workers=2)", model.Loader{Workers: 2})
	p.Steps(20, model.PhaseBaseline, testkit.Native(20, module, loop(40)),
		testkit.Blocked(60, module, loop(38), next).In(model.SpanDataWait))
	for i := range 2 {
		w := p.Add(model.RoleWorker, 101+i)
		for range 10 {
			w.Do(testkit.Blocked(160, fetch, user("__getitem__", 10, 12),
				testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/connection.py", Function: "recv", First: 1,
					Line: 2}).In(model.SpanFetch))
		}
	}
	server := p.Add(model.RoleOther, 110)
	server.Do(testkit.Python(1600, user("serve", 30, 34)))
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "queue", 34, 0)
	if f.Where.Process != "process 110" || f.Fix.Action.Change() != "" {
		t.Errorf("%+v, %+v", f.Where, f.Fix)
	}
}

// The loop takes batches from a queue that a thread fills from a DataLoader with workers: what the workers do is the reason.
func TestAThreadThatReadsWorkersAhead(t *testing.T) {
	p := building("loader = DataLoader(rows, 32, num_workers=2)", model.Loader{Workers: 2})
	p.Steps(20, model.PhaseBaseline, testkit.Native(40, module, loop(40)), testkit.Blocked(20, module, loop(38), get))
	beside(p, 201, testkit.Blocked(1, user("fill", 20, 22), next, testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/queues.py",
		Function: "get", First: 90, Line: 100}))
	for i := range 20 {
		start := p.P.Start + model.Time(i)*60e6
		p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanDataWait, Start: start, End: start + 55e6, Thread: 201, Value: int64(i)})
	}
	for i := range 2 {
		w := p.Add(model.RoleWorker, 101+i)
		for range 10 {
			w.Do(testkit.Python(120, fetch, user("__getitem__", 5, 8), user("augment", 50, 57)).In(model.SpanFetch))
		}
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "transform", 57, 20)
	if f.Where.Process != "DataLoader worker" || !strings.Contains(textOf(f.Evidence, "input.read-ahead"), "train.py:38") {
		t.Errorf("%+v: %+v", f.Where, f.Evidence)
	}
}

// A fetch that works for 55 ms in several functions and sleeps for 45 in one line is a transformation, at a line that works; one that
// sleeps for 55 ms in two lines and works for 45 in one is storage, at a line that sleeps.
func TestThePlaceIsOfTheStageThatIsBlamed(t *testing.T) {
	for _, c := range []struct {
		sub  string
		line int
		acts []testkit.Act
	}{
		{"transform", 18, []testkit.Act{testkit.Blocked(45, fetch, user("read", 10, 12)), testkit.Python(30, fetch, user("cut", 15, 18)),
			testkit.Python(25, fetch, user("turn", 20, 22))}},
		{"storage", 18, []testkit.Act{testkit.Python(45, fetch, user("cut", 10, 12)), testkit.Blocked(30, fetch, user("read", 15, 18)),
			testkit.Blocked(25, fetch, user("look", 20, 22))}},
	} {
		p := building("loader = DataLoader(rows, 32, num_workers=1)", model.Loader{Workers: 1})
		p.Steps(20, model.PhaseBaseline, testkit.Native(20, module, loop(40)),
			testkit.Blocked(80, module, loop(38), next).In(model.SpanDataWait))
		w := p.Add(model.RoleWorker, 101)
		for range 20 {
			start := w.T
			w.Do(c.acts...)
			w.P.Spans = append(w.P.Spans, model.Span{Kind: model.SpanFetch, Start: start, End: w.T, Thread: 101, Loader: -1})
		}
		res, _ := find(t, p)
		want(t, res, finding.Input, c.sub, c.line, 0)
	}
}

// Of a forked worker's stack the frames around its loop are those of the program that started it: a data set of a library's own has no line
// of the user's.
func TestAForkedWorkersOuterFramesDoNotFetch(t *testing.T) {
	p := building("loader = DataLoader(rows, 32, num_workers=1)", model.Loader{Workers: 1})
	p.Steps(20, model.PhaseBaseline, testkit.Native(20, module, loop(40)),
		testkit.Blocked(80, module, loop(38), next).In(model.SpanDataWait))
	w := p.Add(model.RoleWorker, 101)
	work := torchFrame("utils/data/_utils/worker.py", "_worker_loop")
	for range 20 {
		w.Do(testkit.Python(100, module, loop(38), work, fetch, torchFrame("utils/data/dataset.py", "TensorDataset.__getitem__")).
			In(model.SpanFetch))
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "workers", 25, 0)
	for _, e := range f.Evidence {
		if strings.Contains(e.String(), "train.py:38") {
			t.Errorf("evidence %q", e.String())
		}
	}
}

// A handler that starts an evaluation of the training data leads to the fetch as the loop does: neither is code of the data set's.
func TestAHandlersLineDoesNotFetch(t *testing.T) {
	library := testkit.Frame{File: "/lib/site-packages/torchvision/transforms/functional.py", Function: "to_tensor", First: 127, Line: 128}
	engine := testkit.Frame{File: "/lib/site-packages/ignite/engine/engine.py", Function: "Engine._run_once", First: 1000, Line: 1034}
	p := building("loader = DataLoader(rows, 32)", model.Loader{})
	for range 2 {
		p.Steps(20, model.PhaseBaseline, testkit.Native(10, module, engine, torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(20, module, engine, next, fetch, library).In(model.SpanDataWait))
		p.Steps(20, model.PhaseBaseline, testkit.Native(5, module, engine, user("log_results", 30, 34), engine,
			torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(20, module, engine, user("log_results", 30, 34), engine, next, fetch, library).In(model.SpanDataWait))
	}
	res, _ := find(t, p)
	want(t, res, finding.Input, "workers", 25, 0)
}
