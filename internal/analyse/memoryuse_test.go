package analyse

import (
	"fmt"
	"testing"

	"bottleneck/internal/model"
)

func (b *builder) memory(us float64, addr, bytes, total int) {
	args := fmt.Sprintf(`"Device Type": 1, "Device Id": 0, "Addr": %d, "Bytes": %d, "Total Allocated": %d, "Total Reserved": 4096`, addr, bytes, total)
	b.file.Events = append(b.file.Events, slowEvent{Ph: "i", Name: "[memory]", PID: 1, TID: 1, TS: number(us), Args: rawArgs(args)})
}

func TestMemoryPeakByHand(t *testing.T) {
	b := &builder{}
	b.add("cpu_op", "aten::empty", 1, 1, 0, 10, "")
	b.memory(5, 1, 100, 1100)
	b.add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 1, 1, 20, 50, "")
	b.add("cpu_op", "aten::mm", 1, 1, 25, 45, "")
	b.memory(30, 2, 700, 1800)
	b.memory(40, 1, -100, 1700)
	b.memory(60, 2, -700, 1000)
	b.memory(70, 3, 50, 1050)
	trace, s := b.trace()
	got := MemoryUse(trace, s)
	if len(got) != 1 {
		t.Fatalf("%d devices", len(got))
	}
	m := got[0]
	if !m.Absolute || m.Peak != 1800 || m.PeakAt != 30_000 || m.PeakOp != "aten::mm" || m.PeakPhase != "backward" || m.Unfreed != 50 || m.Allocations != 3 || m.PeakReserved != 4096 {
		t.Errorf("%+v", m)
	}
	want := []Holder{{"aten::mm", "backward", 700, 1}, {"aten::empty", "forward", 100, 1}}
	if fmt.Sprint(m.Holders) != fmt.Sprint(want) {
		t.Errorf("holders %v, want %v", m.Holders, want)
	}
}

func TestMemoryOnRealTraces(t *testing.T) {
	onRealTraces(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		for _, m := range MemoryUse(trace, s) {
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
			if highest != m.Peak || len(m.Timeline) > maxMemoryPoints+1 {
				t.Errorf("timeline's highest point %d, peak %d, %d points", highest, m.Peak, len(m.Timeline))
			}
		}
	})
}
