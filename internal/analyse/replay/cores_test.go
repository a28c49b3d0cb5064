package replay_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// sharedCores is a program on so many cores whose workers fetch without a pause: a step waits 10 ms for its batch and then computes
// for 30 ms in Python.
func sharedCores(t *testing.T, workers, cores int) *replay.Session {
	t.Helper()
	const steps = 200
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p := testkit.NewProgram()
	p.S.Environment.CPUs = cores
	loader := model.Loader{ID: 3, Workers: workers, Prefetch: 2}
	p.P.Loaders = []model.Loader{loader}
	p.Steps(steps, model.PhaseBaseline, testkit.Blocked(10, module).In(model.SpanDataWait), testkit.Python(30, module))
	for i := range p.P.Spans {
		p.P.Spans[i].Value = int64(i)
	}
	for i := range workers {
		w := p.Add(model.RoleWorker, 200+i)
		w.P.WorkerIndex, w.P.Loaders = i, []model.Loader{loader}
		for k := i; k < steps; k += workers {
			// The worker's batch is ready 1 ms before the wait for it ends; it worked on it since the one before.
			end := testkit.Epoch + model.Time(40*k+9)*ms
			start := max(end-model.Time(40*workers)*ms, testkit.Epoch)
			w.P.Spans = append(w.P.Spans, model.Span{Kind: model.SpanFetch, Start: start, End: end, Thread: 200 + i, Loader: 0})
		}
	}
	r := replay.NewSession(p.S, account.Of(p.S, p.P))
	if r == nil || !r.Unprofiled() {
		t.Fatal("no replay of the steps")
	}
	return r
}

// TestNothingChanged: a factor of 1 leaves the step exactly as it is, whether or not its threads share cores.
func TestNothingChanged(t *testing.T) {
	for _, workers := range []int{1, 3, 7} {
		for _, cores := range []int{1, 2, 64} {
			r := sharedCores(t, workers, cores)
			for _, name := range r.Kinds() {
				a, err := r.Ask(replay.Change{Scale: []replay.Scale{{Name: name, Factor: 1}}})
				if err != nil || a.After != a.Before {
					t.Errorf("%d workers, %d cores, %s=1: %.3f ms become %.3f (%v)", workers, cores, name, a.Before/ms, a.After/ms, err)
				}
			}
		}
	}
}

// TestFreedCores: without the workers' fetches the step's own 30 ms of Python get faster where they shared a core with them, by
// Crowded of what an even sharing took from them; where there was a core for each thread they stay.
func TestFreedCores(t *testing.T) {
	for _, c := range []struct{ workers, cores int }{{3, 2}, {1, 2}, {3, 64}, {7, 4}, {1, 1}} {
		r := sharedCores(t, c.workers, c.cores)
		removal, ok := r.Removal("input")
		if !ok {
			t.Fatal("no wait for data to remove")
		}
		a, err := r.Ask(removal)
		if err != nil {
			t.Fatal(err)
		}
		runnable := 0.75 + float64(c.workers) // 30 of 40 ms, and each worker without a pause
		want := 30.0
		if even := float64(c.cores) / runnable; even < 1 {
			want = 30 * (1 - replay.Crowded*(1-even))
		}
		if got := a.After / ms; math.Abs(got-want) > 0.06*want {
			t.Errorf("%d workers on %d cores: a step of %.2f ms without fetches, want %.2f", c.workers, c.cores, got, want)
		}
	}
}

// TestCoresHoldNoMore: however many workers there are, the fetches and the steps do not use more than the cores.
func TestCoresHoldNoMore(t *testing.T) {
	for _, workers := range []int{2, 8, 64} {
		a, err := sharedCores(t, 1, 2).Ask(replay.Change{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if used := 30 + 40.0; a.After/ms < used/2*0.97 {
			t.Errorf("%d workers: a step of %.2f ms uses more than two cores for %.0f ms of work", workers, a.After/ms, used)
		}
	}
}

// TestCrowdedBetween: half of the steps lie in the middle and are not asked about, since they were traced and took four times as long. What
// they leave of the cores is of no use to the others.
func TestCrowdedBetween(t *testing.T) {
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p := testkit.NewProgram()
	p.S.Environment.CPUs = 2
	p.P.Loaders = []model.Loader{{ID: 3}}
	fetch := testkit.Python(20, module).In(model.SpanDataWait)
	p.Steps(40, model.PhaseBaseline, fetch, testkit.Native(10, module))
	p.Steps(60, model.PhaseTrace, fetch, testkit.Native(40, module))
	p.Steps(40, model.PhaseBaseline, fetch, testkit.Native(10, module))
	for _, sp := range p.P.Spans {
		sp.Kind = model.SpanFetch
		p.P.Spans = append(p.P.Spans, sp)
	}
	r := replay.NewSession(p.S, account.Of(p.S, p.P))
	a, err := r.Ask(replay.Change{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if used := 20 + 10.0; a.After/ms < used/2*0.97 || a.After/ms > used/2*1.1 {
		t.Errorf("two workers: a step of %.2f ms for %.0f ms of work on two cores", a.After/ms, used)
	}
}
