package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A worker's stack begins with the frames of its parent that forked it. Where the data set and all that it calls are a library's, the
// parent's calls that start processes are no waits of the fetch.
func TestAForkedWorkerComputes(t *testing.T) {
	lib := func(file, function string, line int) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/" + file, Function: function, First: 1, Line: line}
	}
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	forked := []testkit.Frame{module, loop(38), torchFrame("utils/data/dataloader.py", "DataLoader.__iter__"),
		lib("multiprocessing/process.py", "BaseProcess.start", 121), lib("multiprocessing/popen_fork.py", "Popen.__init__", 19),
		lib("multiprocessing/popen_fork.py", "Popen._launch", 71), lib("multiprocessing/process.py", "BaseProcess._bootstrap", 314),
		torchFrame("utils/data/_utils/worker.py", "_worker_loop"), torchFrame("utils/data/_utils/fetch.py", "_MapDatasetFetcher.fetch"),
		lib("site-packages/torchvision/datasets/mnist.py", "MNIST.__getitem__", 146)}
	for name, c := range map[string]struct {
		inner testkit.Frame
		act   func(int, ...testkit.Frame) testkit.Act
		sub   string
	}{
		"an operator":        {lib("site-packages/torchvision/transforms/functional.py", "normalize", 350), testkit.Native, "workers"},
		"another library":    {lib("site-packages/PIL/Image.py", "frombuffer", 3339), testkit.Python, "workers"},
		"a queue of its own": {lib("queue.py", "Queue.get", 180), testkit.Blocked, "storage"},
	} {
		t.Run(name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.P.Loaders = []model.Loader{{Workers: 1, BatchSize: 32}}
			p.Steps(40, model.PhaseBaseline, testkit.Native(20, module, loop(40)),
				testkit.Blocked(80, module, loop(38), next).In(model.SpanDataWait))
			w := p.Add(model.RoleWorker, 101)
			for range 40 {
				w.Do(c.act(100, append(append([]testkit.Frame{}, forked...), c.inner)...).In(model.SpanFetch))
			}
			res, _ := find(t, p)
			if len(res.Findings) == 0 || res.Findings[0].Cause != finding.Input || res.Findings[0].Sub != c.sub {
				t.Fatalf("findings %+v, want input/%s", res.Findings, c.sub)
			}
		})
	}
}
