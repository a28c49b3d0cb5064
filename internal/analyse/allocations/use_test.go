package allocations

import (
	"fmt"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func TestMemoryPeakByHand(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("cpu_op", "aten::empty", 1, 1, 0, 10, "")
	b.Memory(5, 1, 100, 1100)
	b.Add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 1, 1, 20, 50, "")
	b.Add("cpu_op", "aten::mm", 1, 1, 25, 45, "")
	b.Memory(30, 2, 700, 1800)
	b.Memory(40, 1, -100, 1700)
	b.Memory(60, 2, -700, 1000)
	b.Memory(70, 3, 50, 1050)
	trace, s := b.Trace()
	got := UseOf(trace, s)
	if len(got) != 1 {
		t.Fatalf("%d devices", len(got))
	}
	m := got[0]
	if !m.Absolute || m.Peak != 1800 || m.PeakAt != 30_000 || m.PeakOp != "aten::mm" || m.PeakPhase != "backward" || m.Unfreed != 50 ||
		m.Allocations != 3 || m.PeakReserved != 4096 {
		t.Errorf("%+v", m)
	}
	want := []Holder{{"aten::mm", "backward", 700, 1}, {"aten::empty", "forward", 100, 1}}
	if fmt.Sprint(m.Holders) != fmt.Sprint(want) {
		t.Errorf("holders %v, want %v", m.Holders, want)
	}
}

func TestMemoryOnRealTraces(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		for _, m := range UseOf(trace, s) {
			var held int64
			for _, h := range m.Holders {
				held += h.Bytes
			}
			if m.Absolute && held > m.Peak {
				t.Errorf("holders have %d, the peak is %d", held, m.Peak)
			}
			highest := m.Timeline[0].Bytes
			for i, p := range m.Timeline {
				highest = max(highest, p.Bytes)
				if i > 0 && p.Time < m.Timeline[i-1].Time {
					t.Fatal("timeline goes back")
				}
			}
			if highest != m.Peak || len(m.Timeline) > maxPoints+1 {
				t.Errorf("timeline's highest point %d, peak %d, %d points", highest, m.Peak, len(m.Timeline))
			}
		}
	})
}
