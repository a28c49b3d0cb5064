package analyse

import (
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// ownCopy is a session that holds a copy of a trace, which Cut may change.
func ownCopy(t *model.Trace, s *model.Strings) *model.Session {
	c := *t
	ev := &c.Events
	ev.Start, ev.Dur, ev.Name, ev.Kind = slices.Clone(ev.Start), slices.Clone(ev.Dur), slices.Clone(ev.Name), slices.Clone(ev.Kind)
	ev.Lane, ev.Parent, ev.Link, ev.Op, ev.Detail = slices.Clone(ev.Lane), slices.Clone(ev.Parent), slices.Clone(ev.Link),
		slices.Clone(ev.Op), slices.Clone(ev.Detail)
	m := &c.Memory
	m.Time, m.Lane, m.Addr, m.Bytes = slices.Clone(m.Time), slices.Clone(m.Lane), slices.Clone(m.Addr), slices.Clone(m.Bytes)
	m.Allocated, m.Reserved, m.DeviceType, m.DeviceIndex = slices.Clone(m.Allocated), slices.Clone(m.Reserved), slices.Clone(m.DeviceType),
		slices.Clone(m.DeviceIndex)
	c.Lanes, c.Steps, c.Counters = slices.Clone(c.Lanes), slices.Clone(c.Steps), slices.Clone(c.Counters)
	c.Input, c.Process = 0, -1
	return &model.Session{Strings: s, Inputs: []model.Input{{Path: "trace", Format: "kineto"}}, Traces: []*model.Trace{&c}}
}

// Every half of a trace is a good session, holds what begins in it by the definition, and both halves together hold all.
func TestCutHalves(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, tr *model.Trace, s *model.Strings) {
		middle := tr.To.Sub(tr.From) / 2
		first, second := ownCopy(tr, s), ownCopy(tr, s)
		errFirst, errSecond := Cut(first, Window{To: middle}), Cut(second, Window{From: middle})
		left := 0
		whole := ownCopy(tr, s).Check() // the slow reader links calls to syncs, which the fast one does not
		for half, err := range map[*model.Session]error{first: errFirst, second: errSecond} {
			if err != nil && half.Traces[0].Events.Len() > 0 {
				t.Fatal(err)
			}
			if err := half.Check(); err != nil && whole == nil {
				t.Fatal(err)
			}
			left += half.Traces[0].Events.Len()
		}
		early := 0
		for i := range tr.Events.Len() {
			at := tr.Events.Start[i]
			if link := tr.Events.Link[i]; link != model.NoEvent && tr.Events.Kind[i] != model.KindRuntime {
				at = tr.Events.Start[link]
			}
			if at < tr.From+model.Time(middle) {
				early++
			}
		}
		if early != first.Traces[0].Events.Len() || left != tr.Events.Len() {
			t.Errorf("%d and %d events, want %d and together %d", first.Traces[0].Events.Len(), left-first.Traces[0].Events.Len(),
				early, tr.Events.Len())
		}
	})
}

// A step holds its operators and the device work launched in it, also that which runs later, and nothing else.
func TestCutStep(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("user_annotation", "ProfilerStep#4", 1, 1, 0, 100, "")
	b.Add("user_annotation", "ProfilerStep#5", 1, 1, 100, 200, "")
	b.Add("cpu_op", "aten::mm", 1, 1, 10, 60, "")
	b.Add("cpu_op", "aten::add", 1, 1, 110, 160, "")
	b.Launch("cudaLaunchKernel", 20, 30, "kernel", "late", 7, 120, 150)
	b.Launch("cudaLaunchKernel", 120, 130, "kernel", "later", 7, 210, 250)
	tr, s := b.Trace()
	tr.Steps = []model.TraceStep{{Number: 4, Start: tr.From, End: tr.From + 100000},
		{Number: 5, Start: tr.From + 100000, End: tr.From + 200000}}
	cut := ownCopy(tr, s)
	if err := Cut(cut, Window{Steps: []int64{5}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	ev := &cut.Traces[0].Events
	for _, n := range ev.Name {
		names = append(names, s.Text(n))
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "ProfilerStep#5 aten::add cudaLaunchKernel later" {
		t.Errorf("step 5 holds %s", got)
	}
	if k := device.Kernels(cut.Traces, s); len(k) != 1 || k[0].Launcher != "aten::add" {
		t.Errorf("kernels %+v, want one of aten::add", k)
	}
	if err := Cut(ownCopy(tr, s), Window{Steps: []int64{9}}); err == nil || !strings.Contains(err.Error(), "has the steps 4-5") {
		t.Errorf("step 9 gives %v", err)
	}
}
