package cause_test

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/timed"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// Of a wait in the queue from DataLoader workers of which nothing else is known neither storage nor the number of workers is blamed.
func TestFetchedElsewhere(t *testing.T) {
	p := testkit.NewProgram()
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	queue := testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/queues.py", Function: "get", First: 90, Line: 100}
	p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(40, module, loop(38), next, queue))
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "", 38, 0)
	if f.Title.ID != "input.title-elsewhere" || f.Step.Low != 0 || f.Step.High < 39e6 {
		t.Errorf("%+v", f)
	}
	if e := textOf(f.Evidence, "input.fetch-alone"); e != "" {
		t.Errorf("evidence %q", e)
	}
}

// A data set that asks a process of its own through a queue is fetched by the program itself: its waits are its storage's.
func TestFetchedHereThroughAQueue(t *testing.T) {
	p := testkit.NewProgram()
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	fetch := torchFrame("utils/data/_utils/fetch.py", "fetch")
	item := testkit.Frame{File: "/home/me/train.py", Function: "Records.get", First: 10, Line: 12}
	receive := testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/connection.py", Function: "Connection._recv", First: 390, Line: 395}
	p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(40, module, loop(38), next, fetch, item, receive))
	res, _ := find(t, p)
	want(t, res, finding.Input, "storage", 12, 0)
}

// Steps of another clock than the run's tell nothing of start-up.
func TestStepsOfAnotherClock(t *testing.T) {
	p := testkit.NewProgram()
	p.Do(testkit.Python(600, module, loop(20)))
	p.Steps(20, model.PhaseBaseline, forward)
	res, _ := find(t, p)
	want(t, res, finding.Warmup, "", 20, 0)
	hour := model.Time(3600e9)
	for i := range p.P.Steps {
		p.P.Steps[i].Start += hour
		p.P.Steps[i].End += hour
	}
	p.P.End += hour
	res, b := find(t, p)
	for _, f := range res.Findings {
		if f.Share > 1 || f.Cause == finding.Warmup {
			t.Errorf("claims %+v", f)
		}
	}
	if total, _ := timed.StartUp(facts.NewFacts(p.S, b)); total > float64(p.S.Run.End-p.S.Run.Start) {
		t.Errorf("start-up of %v ns in a run of %v", total, p.S.Run.End-p.S.Run.Start)
	}
}
