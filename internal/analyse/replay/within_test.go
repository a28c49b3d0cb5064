package replay_test

import (
	"errors"
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestTouchesNothing: what takes no time in the steps that are asked about cannot be changed, and is not offered.
func TestTouchesNothing(t *testing.T) {
	tr := testkit.NewTrace()
	for i := range int64(3) {
		tr.X("user_annotation", "ProfilerStep#"+string(rune('0'+i)), 100, 1, i*1000*us, 1000*us)
		tr.Op("aten::mm", 1, (i*1000+600)*us, 400*us).Op("aten::empty", 1, (i*1000+10)*us, 0)
	}
	tr.Op("aten::conv2d", 1, 1100*us, 200*us)  // in the second step alone
	tr.Op("aten::softmax", 1, 3100*us, 200*us) // behind the last step
	tr.Op("my_own", 1, 3400*us, 100*us)        // the same
	r := replay.NewSession(read(t, tr), nil)
	refused := func(name string) bool {
		_, err := r.Ask(replay.Change{Scale: []replay.Scale{{Name: name, Factor: 0.5}}})
		var unknown *replay.UnknownName
		if err != nil && !errors.As(err, &unknown) {
			t.Fatal(err)
		}
		return err != nil
	}
	for name, want := range map[string]bool{"aten::empty": true, "softmax": true, "my_own": true, "gpu": true, "aten::conv2d": false,
		"matmul": false, "python": false} {
		if refused(name) != want {
			t.Errorf("%s: refused %v, want %v", name, !want, want)
		}
	}
	for _, name := range r.Names() {
		if refused(name) {
			t.Errorf("%s is offered and refused", name)
		}
	}
	if r.TakesTime("sync") {
		t.Error("waits for a device that no call waited for can be removed")
	}
	if !replay.NewSession(read(t, bound(100*us)), nil).TakesTime("sync") {
		t.Error("waits for the device cannot be removed")
	}
	if !r.Only(2) || !refused("aten::conv2d") || refused("aten::mm") {
		t.Error("in the third step there are no convolutions, but matrix products")
	}
	if !r.Only(1) || refused("aten::conv2d") {
		t.Error("the second step has a convolution")
	}
}

// TestAnd: two changes joined keep the number of workers, no workers too.
func TestAnd(t *testing.T) {
	for _, n := range []int{3, replay.NoWorkers} {
		if got := (replay.Change{}).And(replay.Change{Workers: n}).Workers; got != n {
			t.Errorf("%d workers become %d", n, got)
		}
	}
}

// TestWorkersAsRecorded: as many workers as there were change nothing.
func TestWorkersAsRecorded(t *testing.T) {
	for _, workers := range []int{1, 3} {
		s := (pipeline{workers: workers, prefetch: 2, batches: 60, fetch: 40, rest: 9, hand: 1}).session()
		for _, w := range s.Processes[1:] { // starting takes a worker half as long as its first batch
			w.Spans[0].Start += 20 * ms
		}
		r := replay.NewSession(s, account.Of(s, account.Driver(s)))
		a, err := r.Ask(replay.Change{Workers: workers})
		if err != nil || a.After != a.Before || !r.Fetches() {
			t.Errorf("%d workers: %.3f ms become %.3f (%v)", workers, a.Before/ms, a.After/ms, err)
		}
	}
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p := testkit.NewProgram()
	p.Steps(20, model.PhaseBaseline, testkit.Python(30, module))
	if replay.NewSession(p.S, account.Of(p.S, p.P)).Fetches() {
		t.Error("a program without DataLoader is said to fetch")
	}
}

// TestEpochsLeftEarly: workers have begun, or been given, batches when the program leaves an epoch; those are for no later wait, and with
// faster fetches every step is faster by the same.
func TestEpochsLeftEarly(t *testing.T) {
	for _, c := range []struct{ persistent, known bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
		s := leftEarly(c.persistent, c.known)
		r := replay.NewSession(s, account.Of(s, account.Driver(s)))
		if math.Abs(r.Error()) > maxError || r.Slack() > maxSlack {
			t.Errorf("%+v: error %.2f %%, slack %.2f %%", c, 100*r.Error(), 100*r.Slack())
		}
		a, err := r.Ask(replay.Change{Scale: []replay.Scale{{Name: "data preparation", Factor: 0.5}}})
		if want := 0.5 * a.Before; err != nil || math.Abs(a.After-want) > 0.1*want {
			t.Errorf("%+v: %.2f ms become %.2f with fetches twice as fast, want %.2f (%v)", c, a.Before/ms, a.After/ms, want/ms, err)
		}
	}
}

// leftEarly is a program of three epochs, each left after its 31st batch of 60. Workers finish what they have begun; those that persist
// through all epochs and know how much there is prepare also what else they were given, before the next epoch begins.
func leftEarly(persistent, known bool) *model.Session {
	s := (pipeline{workers: 2, prefetch: 2, batches: 60, fetch: 40, rest: 9, hand: 1}).session()
	if !known {
		s.Processes[0].Loaders[0].Length = -1
	}
	one := s.Processes[0]
	cut := one.Spans[31].Start
	length := cut + 100*ms - epoch
	spans, steps, workers := one.Spans[:31], one.Steps[:31], s.Processes[1:]
	one.Spans, one.Steps, s.Processes = nil, nil, s.Processes[:1]
	for i := range model.Time(3) {
		for k, sp := range spans {
			sp.Start, sp.End = sp.Start+i*length, sp.End+i*length
			one.Spans = append(one.Spans, sp)
			st := steps[k]
			st.Number, st.Start, st.End = int64(len(one.Steps)), st.Start+i*length, st.End+i*length
			one.Steps = append(one.Steps, st)
		}
		for n, w := range workers {
			v := *w
			v.Spans = nil
			for k, sp := range w.Spans {
				late := sp.Start >= cut
				if late && (!persistent || !known || 2*k+n >= 31+4) {
					break
				}
				if late { // given, not begun
					sp.Start, sp.End = cut+50*ms, cut+60*ms
				}
				sp.Start, sp.End = sp.Start+i*length, min(sp.End, cut+60*ms)+i*length
				v.Spans = append(v.Spans, sp)
			}
			if persistent && i > 0 {
				s.Processes[1+n].Spans = append(s.Processes[1+n].Spans, v.Spans...)
				continue
			}
			v.PID += int(i) * 10
			v.MainThread = v.PID
			s.Processes = append(s.Processes, &v)
		}
	}
	return s
}

// TestFromAndToNoWorkers: without workers the step lasts as long as its fetch and the rest; with workers in its stead the fetches
// run beside it.
func TestFromAndToNoWorkers(t *testing.T) {
	s := (pipeline{workers: 2, prefetch: 2, batches: 60, fetch: 40, rest: 9, hand: 1}).session()
	a, err := replay.NewSession(s, account.Of(s, account.Driver(s))).Ask(replay.Change{Workers: replay.NoWorkers})
	if err != nil || math.Abs(a.After/ms-49) > 2 {
		t.Errorf("a step of %.2f ms without workers, want 49 (%v)", a.After/ms, err)
	}
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 9}
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{ID: 3}}
	p.Steps(60, model.PhaseBaseline, testkit.Python(40, module).In(model.SpanDataWait), testkit.Python(9, module))
	for i, sp := range p.P.Spans {
		p.P.Spans[i].Value = int64(i)
		sp.Kind = model.SpanFetch
		p.P.Spans = append(p.P.Spans, sp)
	}
	r := replay.NewSession(p.S, account.Of(p.S, p.P))
	for workers, want := range map[int]float64{replay.NoWorkers: 49, 1: 40, 2: 20, 8: 9 + 40.0/60} { // the first batch is waited for
		if a, err := r.Ask(replay.Change{Workers: workers}); err != nil || math.Abs(a.After/ms-want) > 0.1*want {
			t.Errorf("a step of %.2f ms with %d workers, want %.0f (%v)", a.After/ms, workers, want, err)
		}
	}
}
