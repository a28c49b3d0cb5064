package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// matters is the share of a device's time from which the default report names copies.
const matters = 0.02

// gpuNotes are the lines under the GPU table that need no table of their own.
func (p *printer) gpuNotes() {
	if text := p.mfuText(); text != "" {
		p.wrap("  ", "    ", text)
	}
	if text := p.useText(); text != "" {
		p.wrap("  ", "    ", text)
	}
	if text := p.copiesText(); text != "" {
		p.wrap("  ", "    ", text)
	}
	if !p.opt.All && !p.asked() {
		return
	}
	p.idlePlaces()
	var rows [][]string
	for i := range p.r.GPU {
		g := &p.r.GPU[i]
		l := g.Launches
		if l == nil || !p.rankShown(g.Rank) || len(rows) >= p.rows(len(p.r.GPU), 16) {
			continue
		}
		rows = append(rows, []string{rankText(g.Rank), fmt.Sprint(g.Device), Count(l.Count), Milliseconds(l.MedianDelayUs / 1e3), Milliseconds(l.P90DelayUs / 1e3), Percent(valueOr(l.QueueEmptyShare, 0)), Count(l.Short), Count(l.SlowCalls)})
	}
	if len(rows) == 0 {
		return
	}
	p.wrap("  ", "  ", "Launches; delay = from the call's end to the work's start:")
	p.knownTable([]column{{head: "rank"}, {head: "device"}, {head: "launches", right: true}, {head: "median delay", right: true}, {head: "p90", right: true}, {head: "device was idle", right: true},
		{head: "longer than their work", right: true}, {head: "over 50 µs", right: true}}, rows)
}

// useText says how far kernels fill the devices, over the shown ranks.
func (p *printer) useText() string {
	var parts []string
	for _, use := range []struct {
		text string
		of   func(*GPURow) *float64
	}{{"SM efficiency %s (est.)", func(g *GPURow) *float64 { return g.SMEfficiency }}, {"occupancy %s (est.)", func(g *GPURow) *float64 { return g.Occupancy }},
		{"%s of kernel time on matrix units (by kernels' names)", matrixUnits}} {
		low, high, n := 0.0, 0.0, 0
		for i := range p.r.GPU {
			v := use.of(&p.r.GPU[i])
			if v == nil || !p.rankShown(p.r.GPU[i].Rank) {
				continue
			}
			if n == 0 {
				low, high = *v, *v
			}
			low, high, n = min(low, *v), max(high, *v), n+1
		}
		if n == 0 {
			continue
		}
		text := Percent(low)
		if Percent(high) != text {
			text += " – " + Percent(high)
		}
		parts = append(parts, fmt.Sprintf(use.text, text))
	}
	return strings.Join(parts, " · ")
}

// matrixUnits is the share of a device on which names can tell it: where blocks are counted, or a name says so.
func matrixUnits(g *GPURow) *float64 {
	if g.SMEfficiency == nil && valueOr(g.TensorCores, 0) == 0 {
		return nil
	}
	return g.TensorCores
}

// idlePlaces are the causes of idle time with the line or operator that each arose at.
func (p *printer) idlePlaces() {
	type place struct {
		g *GPURow
		c *IdleRow
	}
	var all []place
	for i := range p.r.GPU {
		if g := &p.r.GPU[i]; p.rankShown(g.Rank) {
			for k := range g.IdleByCause {
				all = append(all, place{g, &g.IdleByCause[k]})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y place) int { return cmp.Compare(y.c.Us, x.c.Us) })
	var rows [][]string
	for _, at := range all[:p.rows(len(all), 12)] {
		text := atPlace(at.c.Where)
		if at.c.Where.Op != "" && at.c.Where.File != "" {
			text += " in " + at.c.Where.Op
		}
		rows = append(rows, []string{rankText(at.g.Rank), fmt.Sprint(at.g.Device), at.c.Cause, Milliseconds(at.c.Us / 1e3), Percent(at.c.Us / max(at.g.SpanUs, 1e-9)), Count(at.c.Gaps), cmp.Or(text, "-")})
	}
	if len(rows) == 0 {
		return
	}
	p.wrap("  ", "  ", "Idle by cause and place:")
	p.knownTable([]column{{head: "rank"}, {head: "device"}, {head: "because of"}, {head: "idle", right: true}, {head: "of span", right: true}, {head: "gaps", right: true}, {head: "at", wide: true}}, rows)
}

func rankPrefix(r *int) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("rank %d ", *r)
}

// minCovered is the share of kernel time that operators with a formula must take for the default report to name an MFU.
const minCovered = 0.1

// mfuText is the share of the peak arithmetic rate over the shown ranks, "" where no device's rates are known or too few
// operators could be counted.
func (p *printer) mfuText() string {
	low, high, covered, n, device := 0.0, 0.0, 0.0, 0, ""
	for i := range p.r.Roofline {
		r := &p.r.Roofline[i]
		if r.MFU == nil || r.CoveredShare < minCovered || !p.rankShown(r.Rank) {
			continue
		}
		if n == 0 {
			low, high, device = *r.MFU, *r.MFU, r.Device
		}
		low, high = min(low, *r.MFU), max(high, *r.MFU)
		covered += r.CoveredShare
		n++
	}
	if n == 0 {
		return ""
	}
	text := "MFU " + Percent(low)
	if Percent(low) != Percent(high) {
		text += " – " + Percent(high)
	}
	if n > 1 {
		text += fmt.Sprintf(" (%d traces)", n)
	}
	return text + fmt.Sprintf(": flops ÷ (%s's peak for their format × span); the operators counted take %s of kernel time", device, Percent(covered/float64(n)))
}

// copiesText names the copies that cost most, "" where none matter.
func (p *printer) copiesText() string {
	span := 0.0
	for i := range p.r.GPU {
		if p.rankShown(p.r.GPU[i].Rank) { // of all devices, as the copies are
			span += p.r.GPU[i].SpanUs
		}
	}
	exposed, pageable, waited := 0.0, 0.0, 0.0
	var most *CopyRow
	for i := range p.r.Copies {
		c := &p.r.Copies[i]
		if !p.rankShown(c.Rank) {
			continue
		}
		exposed += c.ExposedUs
		if c.Pageable {
			pageable += c.Us
			waited += c.HostWaitUs
		}
		if most == nil || c.ExposedUs+c.HostWaitUs > most.ExposedUs+most.HostWaitUs {
			most = c
		}
	}
	if most == nil || span <= 0 || max(exposed, pageable, waited) < matters*span {
		return ""
	}
	text := fmt.Sprintf("Copies: %s while nothing computes (%s)", Milliseconds(exposed/1e3), Percent(exposed/span))
	if pageable > 0 {
		text += fmt.Sprintf("; %s of copies use pageable host memory", Milliseconds(pageable/1e3))
	}
	if waited > 0 {
		text += fmt.Sprintf(", the host waited %s for them", Milliseconds(waited/1e3))
	}
	text += "; most: " + copyName(most.Name)
	if at := atPlace(most.Where); at != "" {
		text += " at " + at
	}
	return text
}

func (p *printer) roofline() {
	shown := 0
	for i := range p.r.Roofline {
		r := &p.r.Roofline[i]
		if !p.rankShown(r.Rank) || shown >= p.rows(len(p.r.Roofline), 1) {
			continue
		}
		if shown++; shown == 1 {
			p.heading("Roofline", "arithmetic of matrix products, convolutions and attention against the device's rates")
		}
		p.wrap("  ", "    ", rooflineText(r))
		p.rooflineTable(r)
	}
}

func rooflineText(r *Roofline) string {
	text := rankPrefix(r.Rank) + flopsText(r.Flops) + " in " + Milliseconds(r.SpanUs/1e3)
	switch {
	case r.MFU != nil:
		text += fmt.Sprintf(" = MFU %s of %s (flops ÷ (peak rate of their format × span))", Percent(*r.MFU), r.Device)
	default:
		text += "; the peak rates of this device are not known"
	}
	return text + fmt.Sprintf("; the operators below take %s of %s of kernel time, what others compute is not counted", Percent(r.CoveredShare), Milliseconds(r.KernelUs/1e3))
}

func flopsText(n int64) string {
	if n >= 1e11 {
		return digits(float64(n)/1e12) + " TFLOP"
	}
	return digits(float64(n)/1e9) + " GFLOP"
}

func (p *printer) rooflineTable(r *Roofline) {
	var rows [][]string
	for i := range r.Ops[:p.rows(len(r.Ops), 10)] {
		op := &r.Ops[i]
		row := []string{strings.TrimPrefix(op.Name, "aten::") + " " + shapesText(op.Shapes), op.Format, Count(op.Count), Milliseconds(op.DeviceUs / 1e3), Percent(op.DeviceUs / max(r.KernelUs, 1e-9)), rateText(op.TFLOPs), "-", "-", "-"}
		if op.Attainable != nil && op.Peak != nil {
			row[6], row[7], row[8] = digits(*op.Attainable), Percent(valueOr(op.Efficiency, 0)), "compute"
			if *op.Attainable < *op.Peak {
				row[8] = "memory"
			}
		}
		rows = append(rows, row)
	}
	cols := []column{{head: "operator", wide: true}, {head: "format"}, {head: "calls", right: true}, {head: "time", right: true}, {head: "share", right: true},
		{head: "TFLOP/s", right: true}, {head: "possible", right: true}, {head: "reached", right: true}, {head: "limit"}}
	p.knownTable(cols, rows)
}

// shapesText writes "[[8, 2], [2, 4], []]" as "8×2 2×4".
func shapesText(shapes string) string {
	var out []string
	for _, part := range strings.Split(strings.Trim(shapes, "[]"), "]") {
		if part = strings.Trim(part, ", [\""); part != "" {
			out = append(out, strings.ReplaceAll(part, ", ", "×"))
		}
	}
	return strings.Join(out, " ")
}

// rateText is a bandwidth in GB/s.
func rateText(gbs float64) string {
	if gbs > 0 && gbs < 0.01 {
		return "<0.01"
	}
	return digits(gbs)
}

func (p *printer) copies() {
	rows := slices.DeleteFunc(slices.Clone(p.r.Copies), func(c CopyRow) bool { return !p.rankShown(c.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Copies", "exposed = nothing else runs on the device; host waits = in calls that return at the end")
	var cells [][]string
	for i := range rows[:p.rows(len(rows), 12)] {
		c := &rows[i]
		size, rate, waits := "-", "-", "-"
		if c.HostWaitUs > 0 {
			waits = Milliseconds(c.HostWaitUs / 1e3)
		}
		if c.Bytes != nil {
			size = Bytes(float64(*c.Bytes))
		}
		if c.GBs != nil {
			rate = rateText(*c.GBs)
		}
		cells = append(cells, []string{rankText(c.Rank), fmt.Sprint(c.Device), copyName(c.Name), Count(c.Count), Milliseconds(c.Us / 1e3), Milliseconds(c.ExposedUs / 1e3), waits, size, rate, clip(placeText(c.Where), 24)})
	}
	p.knownTable([]column{{head: "rank"}, {head: "device"}, {head: "copy", wide: true}, {head: "runs", right: true}, {head: "time", right: true}, {head: "exposed", right: true},
		{head: "host waits", right: true}, {head: "bytes", right: true}, {head: "GB/s", right: true}, {head: "at"}}, cells)
	var parts []string
	for i := range p.r.Bandwidth {
		if w := &p.r.Bandwidth[i]; p.rankShown(w.Rank) && w.MaxGBs >= 0.01 && len(parts) < p.rows(len(p.r.Bandwidth), 8) {
			parts = append(parts, fmt.Sprintf("%s%s mean %s, at most %s", rankPrefix(w.Rank), w.Kind, rateText(w.MeanGBs), rateText(w.MaxGBs)))
		}
	}
	if len(parts) > 0 {
		p.wrap("  GB/s while they run: ", "    ", strings.Join(parts, " · "))
	}
}

// copyName is a copy's name with what tells copies apart: "HtoD (Pageable -> Device)".
func copyName(name string) string { return strings.TrimPrefix(name, "Memcpy ") }

// placeText is the line of a place, else its operator.
func placeText(w Where) string {
	if w.File != "" {
		return fmt.Sprintf("%s:%d", base(w.File), w.Line)
	}
	return w.Op
}

func (p *printer) streams() {
	rows := slices.DeleteFunc(slices.Clone(p.r.Streams), func(s StreamRow) bool { return !p.rankShown(s.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Streams", "host = gaps before work not yet launched; kernel, other = launched (below 30 µs, longer)")
	var cells [][]string
	for i := range rows[:p.rows(len(rows), 16)] {
		s := &rows[i]
		cells = append(cells, []string{rankText(s.Rank), fmt.Sprint(s.Device), fmt.Sprint(s.Stream), Count(s.Count), Milliseconds(s.BusyUs / 1e3), Milliseconds(s.HostWaitUs / 1e3), Milliseconds(s.KernelWaitUs / 1e3),
			Milliseconds(s.OtherWaitUs / 1e3), fmt.Sprintf("%.1f", s.QueueMean), Count(int64(s.QueueMax)), Milliseconds(s.QueueFullUs / 1e3)})
	}
	p.knownTable([]column{{head: "rank"}, {head: "device"}, {head: "stream", right: true}, {head: "work", right: true}, {head: "busy", right: true}, {head: "host", right: true}, {head: "kernel", right: true},
		{head: "other", right: true}, {head: "mean queue", right: true}, {head: "most", right: true}, {head: "full", right: true}}, cells)
}

func (p *printer) sequences() {
	rows := slices.DeleteFunc(slices.Clone(p.r.Sequences), func(s SequenceRow) bool { return !p.rankShown(s.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Kernel sequences", "one operator launches them in the same order again: fuse, compile, capture")
	var cells [][]string
	for i := range rows[:p.rows(len(rows), 8)] {
		s := &rows[i]
		names := make([]string, len(s.Kernels))
		for k := range s.Kernels {
			names[k] = ShortKernel(s.Kernels[k])
		}
		cells = append(cells, []string{rankText(s.Rank), clip(s.Op, 32), Count(int64(s.Length)), Count(s.Count), Milliseconds(s.DeviceUs / 1e3), Milliseconds(s.CPUUs / 1e3), strings.Join(names, " → ")})
	}
	p.knownTable([]column{{head: "rank"}, {head: "operator"}, {head: "kernels", right: true}, {head: "times", right: true}, {head: "on device", right: true}, {head: "on CPU", right: true}, {head: "which", wide: true}}, cells)
}

func (p *printer) stepParts() {
	rows := slices.DeleteFunc(slices.Clone(p.r.StepParts), func(s StepPartsRow) bool { return !p.rankShown(s.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Parts of traced steps", "an instant belongs to the leftmost part that applies, as in TensorBoard")
	var cells [][]string
	for i := range rows[:p.rows(len(rows), 12)] {
		s := &rows[i]
		of := func(v float64) string { return Percent(v / max(s.Us, 1e-9)) }
		name := fmt.Sprint(s.Step)
		if s.Step < 0 {
			name = "all"
		}
		cells = append(cells, []string{rankText(s.Rank), name, Milliseconds(s.Us / 1e3), of(s.KernelUs), of(s.MemcpyUs), of(s.MemsetUs), of(s.CommunicationUs), of(s.RuntimeUs),
			of(s.DataLoaderUs), of(s.CPUOpUs), of(s.OtherUs), Percent(s.Utilisation)})
	}
	cols := []column{{head: "rank"}, {head: "step", right: true}}
	for _, h := range []string{"time", "kernel", "memcpy", "memset", "comm.", "runtime", "loader", "CPU op", "other", "GPU busy"} {
		cols = append(cols, column{head: h, right: true})
	}
	p.knownTable(cols, cells)
}

func (p *printer) memory() {
	rows := slices.DeleteFunc(slices.Clone(p.r.Memory), func(m MemoryRow) bool { return !p.rankShown(m.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Memory", "in the traced time")
	slices.SortStableFunc(rows, func(x, y MemoryRow) int { return cmp.Compare(y.PeakBytes, x.PeakBytes) })
	for i := range rows[:p.rows(len(rows), 6)] {
		m := &rows[i]
		p.wrap("  ", "    ", memoryText(m))
		if !p.opt.All && !p.asked() || m.PeakBytes < minHeld {
			continue
		}
		var cells [][]string
		for _, h := range m.Holders[:p.rows(len(m.Holders), 8)] {
			cells = append(cells, []string{cmp.Or(h.Op, "outside operators"), h.Phase, Bytes(float64(h.Bytes)), Percent(float64(h.Bytes) / max(float64(m.PeakBytes), 1)), Count(h.Blocks)})
		}
		if len(cells) > 0 {
			p.knownTable([]column{{head: "alive at the peak, allocated by", wide: true}, {head: "phase"}, {head: "bytes", right: true}, {head: "share", right: true}, {head: "blocks", right: true}}, cells)
		}
	}
}

// minHeld is the peak in bytes from which the text says who holds it; the document always does.
const minHeld = 1 << 20

func memoryText(m *MemoryRow) string {
	text := fmt.Sprintf("%s%s: peak %s", rankPrefix(m.Rank), m.Device, Bytes(float64(m.PeakBytes)))
	if !m.Absolute {
		text += " above the trace's start"
	}
	if m.PeakReserved != nil {
		text += fmt.Sprintf(" (%s reserved)", Bytes(float64(*m.PeakReserved)))
	}
	if m.PeakOp != "" {
		text += " in " + m.PeakOp
	}
	if m.PeakPhase != "" {
		text += " (" + m.PeakPhase + ")"
	}
	text += fmt.Sprintf(" after %s; %s allocations of %s in all", Milliseconds(m.PeakAtUs/1e3), Count(m.Allocations), Bytes(float64(m.AllocatedBytes)))
	if m.UnfreedBytes != nil {
		text += fmt.Sprintf(", %s not freed in the trace", Bytes(float64(*m.UnfreedBytes)))
	}
	return text
}
