package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"strings"
	"testing"
)

var next = torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")

// building is a program whose loader is built at line 25 of these lines' file.
func building(text string, l model.Loader) *testkit.Program {
	p := testkit.NewProgram()
	lines := make([]string, 100)
	lines[24] = text
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
	l.File, l.Line, l.BatchSize = p.S.Strings.Intern("/home/u/train.py"), 25, 32
	p.P.Loaders = []model.Loader{l}
	return p
}

// A data set that is iterated gives all of itself to each worker: more of them are advised with that only, and no line is changed for
// certain.
func TestWorkersOfADataSetThatIsIterated(t *testing.T) {
	for iterable, was := range map[bool]string{false: "loader = DataLoader(rows, 32)", true: ""} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{Iterable: iterable})
		p.Steps(20, model.PhaseBaseline, forward, testkit.Native(60, module, loop(38), next, user("__iter__", 5, 8)).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "workers", 25, 0)
		if f.Fix.Action.Old != was || !strings.Contains(f.Fix.Action.Change(), "num_workers=") || f.Fix.Action.Line != 25 {
			t.Errorf("iterable %v: change %+v, want of %q", iterable, f.Fix, was)
		}
		if (textOf(f.Fix.Advice, "input.fix-iterable") != "") != iterable {
			t.Errorf("iterable %v: %s", iterable, wording.Sentences(f.Fix.Advice))
		}
	}
}

// Where one line takes nearly all of a fetch, it is named beside more workers; not where several share it.
func TestTheLineOfAFetchBesideWorkers(t *testing.T) {
	for second, named := range map[int]bool{8: true, 9: false} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{})
		p.Steps(20, model.PhaseBaseline, forward,
			testkit.Native(40, module, loop(38), next, user("__getitem__", 5, 8)).In(model.SpanDataWait),
			testkit.Native(20, module, loop(38), next, user("__getitem__", 5, second)).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "workers", 25, 0)
		if text := textOf(f.Fix.Advice, "input.fix-line-too"); (text != "") != named || named && !strings.Contains(text, "lib.py:8") {
			t.Errorf("line %d: %q", second, wording.Sentences(f.Fix.Advice))
		}
	}
}

// Where the user's line builds no DataLoader, a library or a function does: its call is not changed for certain, and of Hugging Face's
// Trainer the options are named.
func TestALoaderThatALibraryBuilds(t *testing.T) {
	p := building("fit(model, rows)", model.Loader{})
	slow := testkit.Native(50, module, loop(38), next, user("__getitem__", 5, 8)).In(model.SpanDataWait)
	p.Steps(20, model.PhaseBaseline, forward, slow)
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "workers", 25, 0)
	if f.Fix.Action.Old != "" || textOf(f.Fix.Advice, "input.fix-hand-on") == "" {
		t.Errorf("%+v", f.Fix)
	}
	p = building("trainer.train()", model.Loader{})
	p.S.Sources["/home/u/train.py"].Lines[11] = "options = TrainingArguments('out', max_steps=100)"
	trainer := testkit.Frame{File: "/usr/lib/python3.13/site-packages/transformers/trainer.py",
		Function: "Trainer.train", First: 1, Line: 5}
	p.Steps(20, model.PhaseBaseline, testkit.Native(60, module, loop(40), trainer), slow)
	res, _ = find(t, p)
	f = want(t, res, finding.Input, "workers", 25, 0)
	if want :=
		"options = TrainingArguments('out', max_steps=100, dataloader_num_workers=1, " +
			"dataloader_persistent_workers=True)"; f.Fix.Action.Change() != want || f.Fix.Action.Line != 12 {
		t.Errorf("line %d becomes %q, want %q", f.Fix.Action.Line, f.Fix.Action.Change(), want)
	}
	if textOf(f.Caveat, "input.caveat-workers") == "" || textOf(f.Caveat, "input.caveat-open") == "" {
		t.Errorf("caveats %q, want what workers cost, whoever builds the loader", f.Caveat)
	}
}

// Of reads that sleep as many are advised at once as keep up with the step, and none where the program has as many.
func TestWorkersForStorage(t *testing.T) {
	for have, change := range map[int]string{0: "num_workers=3,", 4: ""} {
		p := building("loader = make(rows)  # DataLoader", model.Loader{Workers: have})
		read := testkit.Blocked(170, module, loop(38), next, user("__getitem__", 5, 8))
		if have == 0 {
			p.Steps(20, model.PhaseBaseline, forward, read.In(model.SpanDataWait))
		} else {
			p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(20, module, loop(38), next).In(model.SpanDataWait))
			w := p.Add(model.RoleWorker, 101)
			for range 8 {
				w.Do(read.In(model.SpanFetch))
			}
		}
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "storage", 8, 0)
		if change == "" && f.Fix.Action.Change() != "" || !strings.Contains(f.Fix.Action.Change(), change) {
			t.Errorf("with %d workers: %q, want %q", have, f.Fix.Action.Change(), change)
		}
	}
}

// textOf is the text of an id among others as it is written; "" where it is not among them.
func textOf(texts []wording.Text, id string) string {
	for _, t := range texts {
		if t.ID == id {
			return t.String()
		}
	}
	return ""
}

// restarting is a program whose first batch of each iteration waits for workers that start.
func restarting(loaders, batches int, persistent bool) *testkit.Program {
	p := building("loader = DataLoader(rows, 32, num_workers=2)", model.Loader{Workers: 2, Persistent: persistent})
	for range loaders - 1 {
		p.P.Loaders = append(p.P.Loaders, p.P.Loaders[0])
		p.P.Loaders[len(p.P.Loaders)-1].ID = int32(len(p.P.Loaders) - 1)
	}
	for i := range 8 {
		for b := range batches {
			wait := testkit.Blocked(1, module, loop(38), next).In(model.SpanDataWait)
			if b == 0 {
				wait.Ms = 200
			}
			p.Steps(1, model.PhaseBaseline, forward, wait)
			sp := &p.P.Spans[len(p.P.Spans)-1]
			sp.Loader, sp.Value = int32(i%loaders), int64(b)
		}
	}
	return p
}

// Workers that start again and again are kept in one of three ways: with the loader, with the iterator, or by it.
func TestWorkersThatStartAgain(t *testing.T) {
	for _, c := range []struct {
		name             string
		loaders, batches int
		persistent       bool
		title, fix, was  string
	}{
		{"each epoch", 1, 5, false, "input.title-anew", "input.fix-keep", "loader = DataLoader(rows, 32, num_workers=2)"},
		{"a loader each epoch", 8, 5, true, "input.title-rebuilt", "input.fix-rebuilt", ""},
		{"a batch each", 1, 1, true, "input.title-singly", "input.fix-singly", ""},
		{"a batch each, not kept", 1, 1, false, "input.title-singly", "input.fix-singly", ""},
	} {
		res, _ := find(t, restarting(c.loaders, c.batches, c.persistent))
		line := 25
		if c.batches == 1 {
			line = 38 // where the iterator is asked
		}
		f := want(t, res, finding.Input, "workers", line, 0)
		if f.Where.Process != "" || f.Title.ID != c.title || textOf(f.Fix.Advice, c.fix) == "" || f.Fix.Action.Old != c.was {
			t.Errorf("%s: %q, %+v", c.name, f.Title, f.Fix)
		}
		if c.was != "" && !strings.HasSuffix(f.Fix.Action.Change(), "num_workers=2, persistent_workers=True)") {
			t.Errorf("%s: %q", c.name, f.Fix.Action.Change())
		}
	}
}

func TestTwoLoadersInOneStep(t *testing.T) {
	for _, line := range []int32{25, 26} { // of one line, by a function of the program's, or of two
		waitsForTwo(t, line)
	}
}

// Steps wait for two loaders in turn. The second one's batches are counted beside the first one's, which starts no workers; its slow
// worker is compared with none of the other's, and only its wait can be saved.
func waitsForTwo(t *testing.T, line int32) {
	t.Helper()
	p := building("", model.Loader{Workers: 2})
	p.P.Loaders = append(p.P.Loaders, model.Loader{ID: 1, Workers: 2, File: p.P.Loaders[0].File, Line: line})
	for i := range 40 {
		for loader, wait := range []int{4, 26} {
			p.P.Queues = append(p.P.Queues, model.QueueLength{Time: p.T, Loader: int32(loader), Ready: int32(2 - 2*loader)})
			p.Do(testkit.Blocked(wait, module, loop(38+loader), next).In(model.SpanDataWait))
			sp := &p.P.Spans[len(p.P.Spans)-1]
			sp.Loader, sp.Value = int32(loader), int64(i)
		}
		p.Do(testkit.Native(20, module, loop(40)))
		p.P.Steps = append(p.P.Steps, model.Step{Number: int64(i), Kind: p.S.Strings.Intern("train"), Phase: model.PhaseBaseline,
			Start: p.T - 50e6, End: p.T, Thread: p.P.PID})
	}
	for i, ms := range []int{4, 4, 96, 96} {
		w := p.Add(model.RoleWorker, 101+i)
		w.P.Loaders = []model.Loader{{ID: int32(i / 2), Workers: 2}}
		for range 20 {
			w.Do(testkit.Python(ms, user("read", 10*(i/2), 10*(i/2)+8)).In(model.SpanFetch), testkit.Blocked(100-ms))
		}
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "transform", 18, 0)
	if f.Step.Mid > 27e6 || f.Step.Mid < 18e6 {
		t.Errorf("saves %.1f ms a step, want most of the 26 that the second loader is waited for", f.Step.Mid/1e6)
	}
	if e := textOf(f.Evidence, "input.slow-worker"); e != "" {
		t.Errorf("evidence %q", e)
	}
	if e := textOf(f.Evidence, "input.fetch-workers"); !strings.HasPrefix(e, "96.0 ms to fetch a batch") {
		t.Errorf("evidence %q, want the second loader's batch", e)
	}
}

// Python that prepares slowly can be made fast, and workers beside an idle core hide a part of it: each has its own price.
func TestWorkersBesideAFasterFetch(t *testing.T) {
	for cores, workers := range map[int]bool{2: true, 1: false} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{})
		p.S.Environment.CPUs = cores
		p.Steps(20, model.PhaseBaseline, testkit.Native(20, module, loop(40)),
			testkit.Python(60, module, loop(38), next, user("__getitem__", 5, 8)).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "transform", 8, 0)
		a := &f.Fix.Action
		if a.Sets("num_workers") != workers || (textOf(f.Fix.Advice, "input.fix-hide") != "") != workers {
			t.Errorf("%d cores: %+v", cores, f.Fix)
		}
		if workers && (a.Step.Mid <= 0 || a.Step.Mid >= f.Step.Mid || a.Step.High > f.Step.Low || a.Run.Mid != 20*a.Step.Mid) {
			t.Errorf("workers save %+v a step, a faster fetch %+v: they hide less", a.Step, f.Step)
		}
	}
}

// A quota of less than two cores runs one worker, and many only where they sleep.
func TestWorkersWithinTheQuota(t *testing.T) {
	for asleep, workers := range map[int]string{0: "num_workers=2,", 90: "num_workers=6,", 150: "num_workers=16,"} {
		p := building("loader = DataLoader(rows)", model.Loader{})
		quota := 2.6
		p.S.Environment.CPUQuota = &quota
		line := []testkit.Frame{module, loop(38), next, user("__getitem__", 5, 8)}
		wait := model.SpanDataWait
		p.Steps(20, model.PhaseBaseline, testkit.Native(10, module, loop(40)), testkit.Blocked(asleep, line...).In(wait),
			testkit.Native(155-asleep, line...).In(wait))
		res, _ := find(t, p)
		if f := res.Findings[0]; !strings.Contains(f.Fix.Action.Change(), workers) {
			t.Errorf("asleep for %d ms of 155: %q, want %s", asleep, f.Fix.Action.Change(), workers)
		}
	}
}

// Where a batch takes less to fetch than to hand over no workers are advised, but whole batches.
func TestBatchesThatAreQuickToFetch(t *testing.T) {
	p := building("loader = DataLoader(rows, 32)", model.Loader{})
	p.Steps(200, model.PhaseBaseline, testkit.Native(2, module, loop(40)),
		testkit.Native(1, module, loop(38), next, fetch, torchFrame("utils/data/_utils/collate.py", "collate")).In(model.SpanDataWait))
	for i := range p.P.Spans {
		p.P.Spans[i].Start += 0.1e6
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "transform", 25, 0)
	if f.Fix.Action.Change() != "" || textOf(f.Fix.Advice, "input.fix-light") == "" || f.Step.Mid < 0.6e6 {
		t.Errorf("%+v saves %.2f ms", f.Fix, f.Step.Mid/1e6)
	}
}

// Workers that keep up on average are not too few: batches that take long are waited for, and more that lie ready help.
func TestWorkersThatKeepUpOnAverage(t *testing.T) {
	p := building("loader = DataLoader(rows, 32, num_workers=2)", model.Loader{Workers: 2, Prefetch: 2})
	for range 10 {
		p.Steps(1, model.PhaseBaseline, forward, testkit.Blocked(120, module, loop(38), next).In(model.SpanDataWait))
		p.Steps(7, model.PhaseBaseline, forward, testkit.Blocked(1, module, loop(38), next).In(model.SpanDataWait))
	}
	for i := range 2 {
		w := p.Add(model.RoleWorker, 101+i)
		for range 10 {
			for k, ms := range []int{200, 20, 20, 20} {
				w.Do(testkit.Native(ms, fetch, user("decode", 5, 8)).In(model.SpanFetch), testkit.Blocked(20+k))
			}
		}
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "workers", 25, 0)
	if f.Title.ID != "input.title-uneven" || !strings.HasSuffix(f.Fix.Action.Change(), "num_workers=2, prefetch_factor=8)") {
		t.Errorf("%q: %+v", f.Title, f.Fix)
	}
}

// From Python 3.14 on a worker runs the script once more: a change of the loader's line alone breaks a program without a guard.
func TestWorkersThatAreNotForked(t *testing.T) {
	for _, c := range []struct {
		python, line string
		certain      bool
	}{{"3.13.2", "main()", true}, {"3.14.0", "main()", false}, {"3.14.0", `if __name__ == "__main__":`, true}} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{})
		p.P.Python = c.python
		p.S.Sources["/home/u/train.py"].Lines[89] = c.line
		p.Steps(20, model.PhaseBaseline, forward, testkit.Native(60, module, loop(38), next,
			user("__getitem__", 5, 8)).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "workers", 25, 0)
		if (f.Fix.Action.Old != "") != c.certain || (textOf(f.Fix.Advice, "input.fix-script") != "") == c.certain {
			t.Errorf("Python %s, %q: %+v", c.python, c.line, f.Fix)
		}
	}
}
