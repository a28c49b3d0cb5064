package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (p *printer) streams() {
	rows := slices.DeleteFunc(slices.Clone(p.r.Streams), func(s report.StreamRow) bool { return !p.rankShown(s.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Streams", "host = gaps before work not yet launched; kernel, other = launched (below 30 µs, longer)")
	writeKnown(p, streamColumns, rows[:p.rows(len(rows), 16)])
}

var streamColumns = []column[report.StreamRow]{
	{"rank", func(s *report.StreamRow) string { return report.RankText(s.Rank) }, 0},
	{"device", func(s *report.StreamRow) string { return fmt.Sprint(s.Device) }, 0},
	{"stream", func(s *report.StreamRow) string { return fmt.Sprint(s.Stream) }, number},
	{"work", func(s *report.StreamRow) string { return units.Count(s.Count) }, number},
	{"busy", func(s *report.StreamRow) string { return units.Milliseconds(s.BusyUs / 1e3) }, number},
	{"host", func(s *report.StreamRow) string { return units.Milliseconds(s.HostWaitUs / 1e3) }, number},
	{"kernel", func(s *report.StreamRow) string { return units.Milliseconds(s.KernelWaitUs / 1e3) }, number},
	{"other", func(s *report.StreamRow) string { return units.Milliseconds(s.OtherWaitUs / 1e3) }, number},
	{"mean queue", func(s *report.StreamRow) string { return fmt.Sprintf("%.1f", s.QueueMean) }, number},
	{"most", func(s *report.StreamRow) string { return units.Count(int64(s.QueueMax)) }, number},
	{"full", func(s *report.StreamRow) string { return units.Milliseconds(s.QueueFullUs / 1e3) }, number},
}

func (p *printer) sequences() {
	rows := slices.DeleteFunc(slices.Clone(p.r.Sequences), func(s report.SequenceRow) bool { return !p.rankShown(s.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Kernel sequences", "one operator launches them in the same order again: fuse, compile, capture")
	writeKnown(p, sequenceColumns, rows[:p.rows(len(rows), 8)])
}

var sequenceColumns = []column[report.SequenceRow]{
	{"rank", func(s *report.SequenceRow) string { return report.RankText(s.Rank) }, 0},
	{"operator", func(s *report.SequenceRow) string { return units.Clip(s.Op, 32) }, 0},
	{"kernels", func(s *report.SequenceRow) string { return units.Count(int64(s.Length)) }, number},
	{"times", func(s *report.SequenceRow) string { return units.Count(s.Count) }, number},
	{"on device", func(s *report.SequenceRow) string { return units.Milliseconds(s.DeviceUs / 1e3) }, number},
	{"on CPU", func(s *report.SequenceRow) string { return units.Milliseconds(s.CPUUs / 1e3) }, number},
	{"which", sequenceNames, rest},
}

func sequenceNames(s *report.SequenceRow) string {
	names := make([]string, len(s.Kernels))
	for i := range s.Kernels {
		names[i] = report.ShortKernel(s.Kernels[i])
	}
	return strings.Join(names, " → ")
}

func (p *printer) stepParts() {
	rows := slices.DeleteFunc(slices.Clone(p.r.StepParts), func(s report.StepPartsRow) bool { return !p.rankShown(s.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Parts of traced steps", "an instant belongs to the leftmost part that applies, as in TensorBoard")
	writeKnown(p, stepPartColumns, rows[:p.rows(len(rows), 12)])
}

var stepPartColumns = []column[report.StepPartsRow]{
	{"rank", func(s *report.StepPartsRow) string { return report.RankText(s.Rank) }, 0},
	{"step", stepName, number},
	{"time", func(s *report.StepPartsRow) string { return units.Milliseconds(s.Us / 1e3) }, number},
	{"kernel", func(s *report.StepPartsRow) string { return shareOfStep(s, s.KernelUs) }, number},
	{"memcpy", func(s *report.StepPartsRow) string { return shareOfStep(s, s.MemcpyUs) }, number},
	{"memset", func(s *report.StepPartsRow) string { return shareOfStep(s, s.MemsetUs) }, number},
	{"comm.", func(s *report.StepPartsRow) string { return shareOfStep(s, s.CommunicationUs) }, number},
	{"runtime", func(s *report.StepPartsRow) string { return shareOfStep(s, s.RuntimeUs) }, number},
	{"loader", func(s *report.StepPartsRow) string { return shareOfStep(s, s.DataLoaderUs) }, number},
	{"CPU op", func(s *report.StepPartsRow) string { return shareOfStep(s, s.CPUOpUs) }, number},
	{"other", func(s *report.StepPartsRow) string { return shareOfStep(s, s.OtherUs) }, number},
	{"GPU busy", func(s *report.StepPartsRow) string { return units.Percent(s.Utilisation) }, number},
}

// shareOfStep is a part of the step, in percent.
func shareOfStep(s *report.StepPartsRow, us float64) string {
	return units.Percent(us / max(s.Us, 1e-9))
}

// stepName is a step's number, "all" for their sum.
func stepName(s *report.StepPartsRow) string {
	if s.Step < 0 {
		return "all"
	}
	return fmt.Sprint(s.Step)
}

func (p *printer) memory() {
	p.snapshots()
	p.heldMemory()
	rows := slices.DeleteFunc(slices.Clone(p.r.Memory), func(m report.MemoryRow) bool { return !p.rankShown(m.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Memory", "in the traced time")
	slices.SortStableFunc(rows, func(x, y report.MemoryRow) int { return cmp.Compare(y.PeakBytes, x.PeakBytes) })
	for i := range rows[:p.rows(len(rows), 6)] {
		m := &rows[i]
		p.wrap("  ", "    ", memoryText(m))
		if !p.opt.All && !p.asked() || m.PeakBytes < minHeld {
			continue
		}
		if len(m.Holders) > 0 {
			writeKnown(p, []column[report.HolderRow]{
				{"alive at the peak, allocated by", func(h *report.HolderRow) string { return cmp.Or(h.Op, "outside operators") }, rest},
				{"phase", func(h *report.HolderRow) string { return h.Phase }, 0},
				{"bytes", func(h *report.HolderRow) string { return units.Bytes(float64(h.Bytes)) }, number},
				{"share", func(h *report.HolderRow) string {
					return units.Percent(float64(h.Bytes) / max(float64(m.PeakBytes), 1))
				}, number},
				{"blocks", func(h *report.HolderRow) string { return units.Count(h.Blocks) }, number},
			}, m.Holders[:p.rows(len(m.Holders), 8)])
		}
	}
}

// minHeld is the peak in bytes from which the text says who holds it; the document always does.
const minHeld = 1 << 20

func memoryText(m *report.MemoryRow) string {
	text := fmt.Sprintf("%s%s: peak %s", rankPrefix(m.Rank), m.Device, units.Bytes(float64(m.PeakBytes)))
	if !m.Absolute {
		text += " above the trace's start"
	}
	if m.PeakReserved != nil {
		text += fmt.Sprintf(" (%s reserved)", units.Bytes(float64(*m.PeakReserved)))
	}
	if m.PeakOp != "" {
		text += " in " + m.PeakOp
	}
	if m.PeakPhase != "" {
		text += " (" + m.PeakPhase + ")"
	}
	text += fmt.Sprintf(" after %s; %s allocations of %s in all", units.Milliseconds(m.PeakAtUs/1e3), units.Count(m.Allocations),
		units.Bytes(float64(m.AllocatedBytes)))
	if m.UnfreedBytes != nil {
		text += fmt.Sprintf(", %s not freed in the trace", units.Bytes(float64(*m.UnfreedBytes)))
	}
	return text
}
