package replay_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

const us = 1000

func read(t *testing.T, tr *testkit.Trace) *model.Session {
	t.Helper()
	s := &model.Session{Strings: &model.Strings{}}
	got, err := ingest.ReadTrace(context.Background(), strings.NewReader(tr.String()), "trace.json", s)
	if err != nil {
		t.Fatal(err)
	}
	s.Traces = []*model.Trace{got}
	return s
}

// bound is a program of six steps, each: 200 µs of Python, ten operators of 20 µs that launch a kernel each, and a call that
// waits for the device. kernel is how long a kernel takes.
func bound(kernel int64) *testkit.Trace {
	tr := testkit.NewTrace()
	now, free := int64(0), int64(0)
	correlation := 0
	for step := range 6 {
		begin := now
		now += 200 * us
		for range 10 {
			correlation++
			tr.Op("aten::mm", 1, now, 20*us)
			start := max(now+15*us, free+us)
			tr.Launch("gemm", 1, now+5*us, 5*us, start, kernel, correlation)
			free = start + kernel
			now += 20 * us
		}
		end := max(now+5*us, free+3*us)
		tr.X("cuda_runtime", "cudaDeviceSynchronize", 100, 1, now, end-now)
		now = end
		tr.X("user_annotation", "ProfilerStep#"+string(rune('0'+step)), 100, 1, begin, now-begin)
	}
	return tr
}

// TestRemovals prices removals whose effect can be worked out by hand, in µs a step.
func TestRemovals(t *testing.T) {
	// Kernels of 100 µs: the first begins 215 µs into the step, the last ends 10 × 101 − 1 later, and 3 µs later the step is over.
	slow := 215 + 10*101 - 1 + 3.0
	// Kernels of 2 µs: the host takes 400 µs, the call that finds nothing to wait for 5.
	fast := 200 + 10*20 + 5.0
	for _, c := range []struct {
		name   string
		kernel int64
		change replay.Change
		want   float64
	}{
		{"device-bound as recorded", 100 * us, replay.Change{}, slow},
		{"half the kernels' time", 100 * us, replay.Change{
			Scale: []replay.Scale{{Name: "matmul", Factor: 0.5}, {Name: "cpu operators", Factor: 2}},
		}, 0},
		{"half the kernels of one name", 100 * us, replay.Change{Scale: []replay.Scale{{Name: "gemm", Factor: 0.5}}}, 215 + 10*51 - 1 + 3},
		{"no Python", 100 * us, replay.Change{Scale: []replay.Scale{{Name: "python", Factor: 0}}}, slow - 200},
		{"host-bound as recorded", 2 * us, replay.Change{}, fast},
		{"half the kernels of a host-bound program", 2 * us, replay.Change{Scale: []replay.Scale{{Name: "gemm", Factor: 0.5}}}, fast},
		{"no Python in a host-bound program", 2 * us, replay.Change{Scale: []replay.Scale{{Name: "python", Factor: 0}}}, fast - 200},
		{"no waits: the host prepares while the device works", 100 * us, replay.Change{NoDeviceWaits: true}, 10*101 + 215.0/6},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := replay.NewSession(read(t, bound(c.kernel)), nil)
			if r == nil {
				t.Fatal("nothing to replay")
			}
			a, err := r.Ask(c.change)
			if err != nil {
				t.Fatal(err)
			}
			if before, after, err := r.Price(c.change); err != nil || math.Abs(before-a.Before) > 1 || math.Abs(after-a.After) > 1 {
				t.Errorf("priced alone: %.0f and %.0f ns, want %.0f and %.0f (%v)", before, after, a.Before, a.After, err)
			}
			if c.want == 0 {
				if a.After >= a.Before {
					t.Errorf("%.1f µs before, %.1f after", a.Before/us, a.After/us)
				}
				return
			}
			if got := a.After / us; got < 0.97*c.want || got > 1.03*c.want {
				t.Errorf("a step of %.1f µs, want %.1f", got, c.want)
			}
			sum := 0.0
			for _, p := range a.PartsAfter {
				sum += p.Time
			}
			if per := sum / float64(a.Steps); per < 0.999*a.After || per > 1.001*a.After {
				t.Errorf("parts sum to %.1f µs of %.1f", per/us, a.After/us)
			}
		})
	}
}

// TestBusyBefore: the first work of a stream that begins long after its launch waits for what was launched before the recording: that is
// said, no slack, and no faster launching ends it.
func TestBusyBefore(t *testing.T) {
	tr := testkit.NewTrace()
	for i := range 10 {
		at := ms + int64(i)*50*us
		tr.Op("aten::mm", 1, at, 20*us).Launch("gemm", 1, at+5*us, 5*us, 9*ms+int64(i)*101*us, 100*us, i+1)
	}
	r := replay.NewSession(read(t, tr), nil)
	if math.Abs(r.Error()) > maxError || r.Slack() > maxSlack {
		t.Errorf("error %.2f %%, slack %.2f %%", 100*r.Error(), 100*r.Slack())
	}
	a, err := r.Ask(replay.Change{Scale: []replay.Scale{{Name: "gpu compute", Factor: 0.5}, {Name: "cpu", Factor: 0}}})
	if want := 8.0 + 10*0.051; err != nil || math.Abs(a.After/ms-want) > 0.05*want {
		t.Errorf("%.2f ms, want %.2f (%v)", a.After/ms, want, err)
	}
	if len(a.PartsAfter) == 0 || !strings.Contains(a.PartsAfter[0].Name, "before the recording") ||
		math.Abs(a.PartsAfter[0].Time/ms-8) > 0.1 {
		t.Errorf("%+v", a.PartsAfter)
	}
}

func TestUnknownName(t *testing.T) {
	r := replay.NewSession(read(t, bound(us)), nil)
	_, err := r.Ask(replay.Change{Scale: []replay.Scale{{Name: "matmull", Factor: 1}}})
	var unknown *replay.UnknownName
	if !errors.As(err, &unknown) || unknown.Name != "matmull" {
		t.Errorf("error %v", err)
	}
}

// TestHostileTraces: traces whose waits contradict one another are replayed all the same.
func TestHostileTraces(t *testing.T) {
	threads := testkit.NewTrace()
	for i := range 3000 { // each with gaps, and work in gaps of the others
		threads.Op("a", 1, int64(i)*200*us, 50*us).Op("b", 10+i, int64(i)*200*us+60*us, 130*us)
	}
	for name, tr := range map[string]*testkit.Trace{
		"many threads":    threads,
		"empty":           testkit.NewTrace(),
		"one event":       testkit.NewTrace().Op("aten::mm", 1, 0, 10),
		"kernel too soon": testkit.NewTrace().Launch("k", 1, 500*us, 10*us, 0, 100*us, 1).Launch("l", 1, 5*us, 10*us, 50*us, 900*us, 2),
		"no length":       testkit.NewTrace().Op("aten::mm", 1, 10, 0).Op("aten::mm", 2, 10, 0).Launch("k", 1, 10, 0, 10, 0, 1),
		"overlapping": testkit.NewTrace().Op("a", 1, 0, 100*us).Op("b", 1, 50*us, 100*us).Op("c", 2, 20*us,
			500*us).Op("d", 1, 400*us, 10*us),
		"step inside out": testkit.NewTrace().X("user_annotation", "ProfilerStep#1", 100, 1, 100*us, 0).X("user_annotation",
			"ProfilerStep#2", 100, 1, 50*us, 100*us).Op("a", 1, 0, 10*us),
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, tr)
			r := replay.NewSession(s, nil)
			if r == nil {
				return
			}
			for _, c := range []replay.Change{{}, {NoDeviceWaits: true}, {RanksEqual: true}} {
				if a, err := r.Ask(c); err != nil || a.After < 0 {
					t.Errorf("%+v: %+v, %v", c, a, err)
				}
			}
		})
	}
}

// TestForReport: a report's replay leaves out all steps but the last, and says of those what the whole replay says.
func TestForReport(t *testing.T) {
	long := testkit.NewTrace()
	for i := range int64(40) {
		long.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 100, 1, i*1000*us, 1000*us)
		long.Op("aten::mm", 1, i*1000*us, 300*us)
		long.Launch("gemm", 1, (i*1000+400)*us, 10*us, (i*1000+420)*us, 700*us, int(i)+1)
	}
	s := read(t, long)
	whole, part := replay.NewSession(s, nil), replay.ForReport(s, nil)
	for _, c := range []replay.Change{{}, {Scale: []replay.Scale{{Name: "gemm", Factor: 0.5}}},
		{Scale: []replay.Scale{{Name: "python", Factor: 0}}}} {
		w, err := whole.Ask(c)
		if err != nil {
			t.Fatal(err)
		}
		p, err := part.Ask(c)
		if err != nil {
			t.Fatal(err)
		}
		if p.Steps >= w.Steps || p.Steps == 0 {
			t.Errorf("%d steps of %d", p.Steps, w.Steps)
		}
		if math.Abs(p.After-w.After) > 0.03*w.After {
			t.Errorf("%+v: %.1f µs, the whole replay says %.1f", c, p.After/us, w.After/us)
		}
	}
}
