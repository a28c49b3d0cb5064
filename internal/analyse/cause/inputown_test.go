package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"strings"
	"testing"
)

// besideWorkers builds steps that wait 30 ms for a batch that is ready, as given, and compute for 20 ms; two workers fetch in 4 ms.
func besideWorkers(waits ...testkit.Act) *testkit.Program {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{Workers: 2, BatchSize: 32, File: p.S.Strings.Intern("/home/u/train.py"), Line: 31}}
	for i := range 40 {
		p.P.Queues = append(p.P.Queues, model.QueueLength{Time: p.T, Ready: 4})
		start := p.T
		acts := append([]testkit.Act{}, waits...)
		p.Steps(1, model.PhaseBaseline, append(acts, testkit.Native(20, module, loop(40)))...)
		end := start
		for _, a := range waits {
			end += model.Time(a.Ms) * 1_000_000
		}
		p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanDataWait, Start: start, End: end, Thread: p.P.PID, Value: int64(i)})
	}
	w := p.Add(model.RoleWorker, 101)
	for range 40 {
		w.Do(testkit.Python(4, user("__getitem__", 5, 8)).In(model.SpanFetch))
	}
	return p
}

// A sampler that takes long runs in the training process, inside of the loader's __next__: that is no slow hand-over, and neither the
// workers' lines nor more workers have to do with it.
func TestSlowSamplerBesideWorkers(t *testing.T) {
	next := []testkit.Frame{module, loop(38), torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"),
		torchFrame("utils/data/dataloader.py", "_try_put_index")}
	sampler := append(append([]testkit.Frame{}, next...), user("Buckets.__iter__", 20, 24))
	rank := append(append([]testkit.Frame{}, sampler...), testkit.Frame{File: "/home/u/lib.py",
		Function: "Buckets.__iter__.<locals>.<lambda>", First: 24, Line: 24})
	res, _ := find(t, besideWorkers(testkit.Python(8, sampler...), testkit.Python(18, rank...), testkit.Blocked(4, next[:3]...)))
	f := want(t, res, finding.Input, "transform", 24, 0.96*26)
	if f.Where.Process != "" || strings.Contains(f.Fix.Action.Change(), "num_workers") {
		t.Errorf("process %q, change %q, want the training process and no workers", f.Where.Process, f.Fix.Action.Change())
	}
	if textOf(f.Fix.Advice, "input.fix-own") == "" {
		t.Errorf("fix %q, want that the training process does it", wording.Sentences(f.Fix.Advice))
	}
	if e := textOf(f.Evidence, "input.hot"); !strings.Contains(e, "of the wait is spent in ") {
		t.Errorf("evidence %q: a sampler is not part of the fetch", e)
	}
}

// Where half of the wait or more is none of the program's own code, the hand-over stays what is slow.
func TestQuickSamplerBesideSlowHandover(t *testing.T) {
	next := []testkit.Frame{module, loop(38), torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")}
	sampler := append(append([]testkit.Frame{}, next...), user("Buckets.__iter__", 20, 24))
	res, _ := find(t, besideWorkers(testkit.Python(10, sampler...), testkit.Blocked(20, next...)))
	want(t, res, finding.Input, "handover", 31, 29)
}

// Arrays and lists are copied through a pipe: to advise arrays there, because tensors cost a descriptor each, would be wrong. Tensors are
// what helps, and the other way round for many tensors.
func TestHandoverOfBytes(t *testing.T) {
	next := []testkit.Frame{module, loop(38), torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"),
		{File: "/usr/lib/python3.13/multiprocessing/queues.py", Function: "Queue.get", First: 96, Line: 103}}
	under := func(frames ...testkit.Frame) []testkit.Frame {
		return append(append([]testkit.Frame{}, next...), frames...)
	}
	receive := testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/connection.py", Function: "Connection._recv", First: 390, Line: 395}
	rebuild := torchFrame("multiprocessing/reductions.py", "rebuild_storage_fd")
	for _, c := range []struct {
		name  string
		waits []testkit.Act
		bytes bool
	}{
		{"arrays", []testkit.Act{testkit.Blocked(20, under(receive)...), testkit.Python(6, next...),
			testkit.Blocked(4, under(rebuild, receive)...)}, true},
		{"tensors", []testkit.Act{testkit.Blocked(4, under(receive)...), testkit.Python(3, next...),
			testkit.Blocked(23, under(rebuild, receive)...)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, besideWorkers(c.waits...))
			f := want(t, res, finding.Input, "handover", 31, 29)
			if got := textOf(f.Fix.Advice, "input.fix-handover") != ""; got == c.bytes {
				t.Errorf("fix %q advises arrays: %v", wording.Sentences(f.Fix.Advice), got)
			}
			if got := textOf(f.Fix.Advice, "input.fix-bytes") != ""; got != c.bytes {
				t.Errorf("fix %q advises tensors: %v", wording.Sentences(f.Fix.Advice), got)
			}
		})
	}
}

// What a function holds is not said of one line of it: two calls of a collate_fn are each half of its time.
func TestFetchingTimeOfAFunctionOfSeveralLines(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{BatchSize: 32}}
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	p.Steps(20, model.PhaseBaseline, forward, testkit.Python(22, module, loop(38), next, user("collate", 5, 8)).In(model.SpanDataWait),
		testkit.Python(18, module, loop(38), next, user("collate", 5, 9)).In(model.SpanDataWait))
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "transform", 8, 0)
	said := textOf(f.Evidence, "input.hot-line")
	if !strings.Contains(said, "100 % of the fetching time is spent in collate(), 55 % at lib.py:8") {
		t.Errorf("evidence %q, want the function's share and the line's", said)
	}
}
