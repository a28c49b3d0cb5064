package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"math"
	"strconv"
	"strings"
	"testing"
)

// fetching is a program without workers on so many cores, whose operators take 60 ms of a step with so many threads, and whose fetch, in
// native code, takes wait ms before that.
func fetching(cores, threads, wait int) *testkit.Program {
	p := building("loader = DataLoader(rows, 32)", model.Loader{})
	p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = cores, strconv.Itoa(threads)
	p.Steps(40, model.PhaseBaseline, forward, testkit.Native(wait, module, loop(38), next, fetch,
		user("__getitem__", 5, 8)).In(model.SpanDataWait))
	return p
}

// Threads that compute an operator together wait for one another, so that a worker takes from the step what it gives to it: where they fill
// the cores, no workers are advised, but that the fetch itself becomes cheaper. Where one of many threads can be spared for a fetch that
// takes longer than what the operators lose, it is said that they must leave it its core.
func TestWorkersBesideThreadsThatFillTheCores(t *testing.T) {
	for _, c := range []struct {
		name                 string
		cores, threads, wait int
		sub                  string
		workers, leaves      bool
	}{
		{"a core is free", 2, 1, 20, "workers", true, false},
		{"no core is free", 2, 2, 20, "transform", false, false},
		{"many cores, all with a thread", 16, 16, 40, "workers", true, true},
		{"many cores, half of them free", 16, 8, 40, "workers", true, false},
		{"a fetch as short as what the operators lose", 16, 16, 5, "transform", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, fetching(c.cores, c.threads, c.wait))
			line := 25
			if c.sub == "transform" {
				line = 8
			}
			f := want(t, res, finding.Input, c.sub, line, 0)
			if f.Fix.Action.Sets("num_workers") != c.workers || (textOf(f.Fix.Advice, "input.fix-once") == "") != c.workers {
				t.Errorf("change %q, advice %v, want workers: %v", f.Fix.Action.Change(), f.Fix.Advice, c.workers)
			}
			if got := textOf(f.Fix.Advice, "input.fix-leave") != ""; got != c.leaves || got && !f.Fix.Action.Uncertain ||
				got != strings.Contains(f.Fix.Action.Change(), ") with torch.set_num_threads(") {
				t.Errorf("threads are to leave a core: %v, want %v; %+v", got, c.leaves, f.Fix.Action)
			}
			if c.workers && f.Step.Low <= 0 {
				t.Errorf("workers are advised although they may save nothing: %+v", f.Step)
			}
		})
	}
}

// A program that starts its trainers itself has for each only a part of the cores, as a job of ranks has.
func TestWorkersBesideOtherTrainers(t *testing.T) {
	for trainers, sub := range map[int]string{1: "workers", 2: "transform"} {
		p := fetching(2, 1, 20)
		for i := 1; i < trainers; i++ {
			p.Add(model.RoleOther, 300+i).Steps(40, model.PhaseBaseline, forward, testkit.Native(20, module, loop(38)))
		}
		res, _ := find(t, p)
		f := res.Findings[0]
		if f.Cause != finding.Input || f.Sub != sub || f.Fix.Action.Sets("num_workers") != (sub == "workers") {
			t.Errorf("%d trainers: %s/%s, %q", trainers, f.Cause, f.Sub, f.Fix.Action.Change())
		}
	}
}

// item is where a library's data set makes a sample.
var item = testkit.Frame{File: "/lib/site-packages/torchvision/datasets/mnist.py", Function: "MNIST.__getitem__", First: 130, Line: 141}

// What puts samples of a library's own kind together stays, however they are prepared: it is not promised, and where it is most of a fetch
// the advice is about it.
func TestCollationStays(t *testing.T) {
	graphs := testkit.Frame{File: "/lib/site-packages/torch_geometric/loader/dataloader.py", Function: "Collater.__call__", First: 20, Line: 25}
	for _, k := range []struct {
		collated int // ms of a fetch of 20
		by       testkit.Frame
		length   int64
		advice   string
		low, mid float64
	}{
		{16, graphs, 20, "input.fix-collate", 1, 2.7},
		{12, graphs, 0, "input.fix-collate", 0, 5.9},
		{4, testkit.Frame{File: "/lib/site-packages/transformers/data/data_collator.py", Function: "__call__", First: 20, Line: 25}, 20,
			"input.fix-once", 4, 10.8},
		{16, torchFrame("utils/data/_utils/collate.py", "default_collate"), 20, "input.fix-once", 4, 13.5},
	} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{Length: k.length})
		p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = 2, "2"
		library := testkit.Frame{File: "/lib/site-packages/some/data.py", Function: "make", First: 127, Line: 128}
		p.Steps(40, model.PhaseBaseline, forward,
			testkit.Python(20-k.collated, module, loop(38), next, fetch, item, library).In(model.SpanDataWait),
			testkit.Python(k.collated, module, loop(38), next, fetch, k.by, library).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "transform", 25, 0)
		low, mid := f.Step.Low/1e6, f.Step.Mid/1e6
		if math.Abs(low-k.low) > 1.1 || math.Abs(mid-k.mid) > 1 || f.Step.High < 18e6 || textOf(f.Fix.Advice, k.advice) == "" {
			t.Errorf("%+v: saves %+v by %s", k, f.Step, wording.Sentences(f.Fix.Advice))
		}
	}
}

// Where the threads fill the cores and libraries prepare the samples, so that hardly a sample lies in a line of the program's own, the
// fetch as a whole is priced, not that line.
func TestFetchByLibraries(t *testing.T) {
	library := func(name string, line int) testkit.Frame {
		return testkit.Frame{File: "/lib/site-packages/torchvision/transforms/functional.py", Function: name, First: line, Line: line + 1}
	}
	for _, k := range []struct {
		own    int   // ms of a fetch of 20 in the program's own line
		length int64 // batches of the data; 80 are taken, two in each step
		line   int
		advice string
		low    float64 // ms per step
		mid    float64
	}{
		{1, 20, 25, "input.fix-once", 4, 13.5},    // 0.92 of 20 ms, less a quarter of 20
		{1, 80, 25, "input.fix-batches", 0, 14.8}, // samples are seen once: preparing them earlier saves nothing
		{1, 0, 25, "input.fix-batches", 0, 14.8},
		{15, 20, 8, "input.fix-slow", 9, 14},
	} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{Length: k.length})
		p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = 2, "2"
		p.Steps(40, model.PhaseBaseline, forward,
			testkit.Python(k.own, module, loop(38), next, fetch, user("__getitem__", 5, 8)).In(model.SpanDataWait),
			testkit.Python(20-k.own, module, loop(38), next, fetch, item, library("to_tensor", 127)).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "transform", k.line, 0)
		said := textOf(f.Evidence, "input.library")
		if (said == "") != (k.own > 1) || said != "" && !strings.Contains(said, "to_tensor() of functional.py") ||
			textOf(f.Fix.Advice, k.advice) == "" {
			t.Errorf("%+v: %q, %s", k, said, wording.Sentences(f.Fix.Advice))
		}
		low, mid := f.Step.Low/1e6, f.Step.Mid/1e6
		if low < k.low || low > k.low+2 || math.Abs(mid-k.mid) > 1 || f.Step.High < 18e6 {
			t.Errorf("%+v: saves %+v", k, f.Step)
		}
		if (textOf(f.Evidence, "input.rounds") != "") != (k.advice == "input.fix-once") {
			t.Errorf("%+v: %s", k, wording.Sentences(f.Evidence))
		}
	}
}

// TestPreparingOnceBesideWorkers: with a core to spare, what libraries prepare alike in each epoch is prepared once where that saves more
// than processes do; what is drawn anew, or seen once, is not.
func TestPreparingOnceBesideWorkers(t *testing.T) {
	for _, k := range []struct {
		function string
		length   int64 // batches of the data; 80 are taken, two in each step
		cpus     int
		sub      string
	}{
		{"to_tensor", 10, 2, "transform"},
		{"to_tensor", 80, 2, "workers"},
		{"to_tensor", 40, 2, "workers"}, // of two rounds, preparing once takes one
		{"RandomCrop.get_params", 10, 2, "workers"},
		{"to_tensor", 10, 8, "workers"}, // one worker hides nearly all of it
	} {
		library := testkit.Frame{File: "/lib/site-packages/torchvision/transforms/functional.py", Function: k.function, First: 127, Line: 128}
		p := building("loader = DataLoader(rows, 32)", model.Loader{Length: k.length})
		p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = k.cpus, "1"
		p.Steps(40, model.PhaseBaseline, testkit.Native(40, module, loop(40), torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(19, module, loop(38), next, fetch, item, library).In(model.SpanDataWait),
			testkit.Python(1, module, loop(38), next, torchFrame("utils/data/sampler.py", "RandomSampler.__iter__")).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, k.sub, 25, 0)
		if once := textOf(f.Fix.Advice, "input.fix-once") != ""; once != (k.sub == "transform") {
			t.Errorf("%+v: %s", k, wording.Sentences(f.Fix.Advice))
		}
	}
}

// TestNativeCodeThatPreparesAlike: what the program's own lines have native code make of a sample in each epoch is prepared once where they
// draw nothing; what they draw, or Python computes, or is seen once, has another fix.
func TestNativeCodeThatPreparesAlike(t *testing.T) {
	const plain, drawn = "    return torch.stft(self.rows[i], 512)", "    return torch.stft(self.rows[i] + torch.randn(9), 512)"
	for name, c := range map[string]struct {
		line   string
		length int64
		once   bool
	}{
		"alike":     {plain, 4, true},
		"drawn":     {drawn, 4, false},
		"seen once": {plain, 80, false},
	} {
		p := building("loader = DataLoader(rows, 32)", model.Loader{Length: c.length})
		p.S.Environment.CPUs = 2
		p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "2"}
		p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py",
			Lines: []string{"", "", "", "", "def make(self, i):", "    import torch", "", c.line}}
		p.Steps(20, model.PhaseBaseline, forward, testkit.Native(60, module, loop(38), next, user("make", 5, 8)).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := res.Findings[0]
		once := textOf(f.Fix.Advice, "input.fix-once") != "" && textOf(f.Fix.Advice, "input.fix-slow") == ""
		if f.Cause != finding.Input || once != c.once {
			t.Errorf("%s: %s/%s, %s", name, f.Cause, f.Sub, wording.Sentences(f.Fix.Advice))
		}
	}
}
