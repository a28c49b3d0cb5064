package page

import (
	"bottleneck/internal/report"
	"strconv"
)

const groupDevice = "Device"

func deviceTables(r *report.Report) []Table {
	return []Table{
		gpuTable(r), idleTable(r), launchTable(r), copyTable(r), streamTable(r), sequenceTable(r), stepPartsTable(r), rooflineTable(r),
		collectiveTable(r), criticalTable(r), memoryTable(r), holderTable(r),
	}
}

func gpuTable(r *report.Report) Table {
	of := func(us func(*report.GPURow) float64) func(*report.GPURow) *float64 {
		return func(g *report.GPURow) *float64 { return ratio(us(g), g.SpanUs) }
	}
	return tableOf("gpu", "Devices", groupDevice, "of each device's time from its first to its last work", r.GPU,
		rank(func(g *report.GPURow) *int { return g.Rank }),
		text("device", func(g *report.GPURow) string { return strconv.Itoa(g.Device) }),
		number("span", unitTime, func(g *report.GPURow) float64 { return g.SpanUs }),
		perhaps("compute", unitShare, of(func(g *report.GPURow) float64 { return g.ComputeUs })),
		perhaps("communication", unitShare, of(func(g *report.GPURow) float64 { return g.CommunicationUs })),
		perhaps("overlap", unitShare, of(func(g *report.GPURow) float64 { return g.OverlapUs })),
		perhaps("copy", unitShare, of(func(g *report.GPURow) float64 { return g.CopyUs })),
		perhaps("exposed communication", unitShare, of(func(g *report.GPURow) float64 { return g.ExposedCommUs })),
		perhaps("exposed copy", unitShare, of(func(g *report.GPURow) float64 { return g.ExposedCopyUs })),
		bar(perhaps("idle", unitShare, of(func(g *report.GPURow) float64 { return g.IdleUs }))),
		perhaps("SM efficiency, estimated", unitShare, func(g *report.GPURow) *float64 { return g.SMEfficiency }),
		perhaps("occupancy, estimated", unitShare, func(g *report.GPURow) *float64 { return g.Occupancy }),
		perhaps("matrix units, by names", unitShare, func(g *report.GPURow) *float64 { return g.TensorCores }))
}

// idleOf is idle time of one device.
type idleOf struct {
	gpu *report.GPURow
	report.IdleRow
}

func idleTable(r *report.Report) Table {
	var rows []idleOf
	for i := range r.GPU {
		for _, idle := range r.GPU[i].IdleByCause {
			rows = append(rows, idleOf{&r.GPU[i], idle})
		}
	}
	return tableOf("idle", "Idle time", groupDevice, "gaps of a device, by what the next work waited for and where that was", rows,
		rank(func(i *idleOf) *int { return i.gpu.Rank }),
		text("device", func(i *idleOf) string { return strconv.Itoa(i.gpu.Device) }),
		text("because of", func(i *idleOf) string { return i.Cause }),
		sum(bar(number("idle", unitTime, func(i *idleOf) float64 { return i.Us }))),
		perhaps("share", unitShare, func(i *idleOf) *float64 { return ratio(i.Us, i.gpu.SpanUs) }),
		sum(count("gaps", func(i *idleOf) int64 { return i.Gaps })),
		name("operator", func(i *idleOf) string { return i.Where.Op }),
		place("at", func(i *idleOf) (string, int) { return i.Where.File, i.Where.Line }))
}

func launchTable(r *report.Report) Table {
	var rows []report.GPURow
	for i := range r.GPU {
		if r.GPU[i].Launches != nil {
			rows = append(rows, r.GPU[i])
		}
	}
	return tableOf("launches", "Launches", groupDevice, "delay is from the call's end to the work's start", rows,
		rank(func(g *report.GPURow) *int { return g.Rank }),
		text("device", func(g *report.GPURow) string { return strconv.Itoa(g.Device) }),
		count("launches", func(g *report.GPURow) int64 { return g.Launches.Count }),
		number("median delay", unitTime, func(g *report.GPURow) float64 { return g.Launches.MedianDelayUs }),
		number("90 % delay", unitTime, func(g *report.GPURow) float64 { return g.Launches.P90DelayUs }),
		count("shorter than their call", func(g *report.GPURow) int64 { return g.Launches.Short }),
		count("calls over 50 µs", func(g *report.GPURow) int64 { return g.Launches.SlowCalls }),
		perhaps("queue empty", unitShare, func(g *report.GPURow) *float64 { return g.Launches.QueueEmptyShare }))
}

func copyTable(r *report.Report) Table {
	return tableOf("copies", "Copies", groupDevice, "exposed: while neither kernels nor collectives ran", r.Copies,
		rank(func(c *report.CopyRow) *int { return c.Rank }),
		text("device", func(c *report.CopyRow) string { return strconv.Itoa(c.Device) }),
		name("copy", func(c *report.CopyRow) string { return c.Name }),
		text("memory", func(c *report.CopyRow) string {
			if c.Pageable {
				return "pageable"
			}
			return ""
		}),
		sum(count("count", func(c *report.CopyRow) int64 { return c.Count })),
		sum(perhaps("bytes", unitBytes, func(c *report.CopyRow) *float64 { return fromInt64(c.Bytes) })),
		sum(bar(number("time", unitTime, func(c *report.CopyRow) float64 { return c.Us }))),
		perhaps("GB/s", unitNumber, func(c *report.CopyRow) *float64 { return c.GBs }),
		sum(number("exposed", unitTime, func(c *report.CopyRow) float64 { return c.ExposedUs })),
		number("host waits", unitTime, func(c *report.CopyRow) float64 { return c.HostWaitUs }),
		text("by", func(c *report.CopyRow) string { return c.Where.Op }),
		place("at", func(c *report.CopyRow) (string, int) { return c.Where.File, c.Where.Line }))
}

func streamTable(r *report.Report) Table {
	return tableOf("streams", "Streams", groupDevice, "gaps by what the next work waited for", r.Streams,
		rank(func(s *report.StreamRow) *int { return s.Rank }),
		text("device", func(s *report.StreamRow) string { return strconv.Itoa(s.Device) }),
		text("stream", func(s *report.StreamRow) string { return strconv.FormatInt(s.Stream, 10) }),
		sum(count("count", func(s *report.StreamRow) int64 { return s.Count })),
		bar(number("busy", unitTime, func(s *report.StreamRow) float64 { return s.BusyUs })),
		number("not launched yet", unitTime, func(s *report.StreamRow) float64 { return s.HostWaitUs }),
		number("launched, gaps below 30 µs", unitTime, func(s *report.StreamRow) float64 { return s.KernelWaitUs }),
		number("launched, longer gaps", unitTime, func(s *report.StreamRow) float64 { return s.OtherWaitUs }),
		count("queue at most", func(s *report.StreamRow) int64 { return int64(s.QueueMax) }),
		number("queue, mean", unitNumber, func(s *report.StreamRow) float64 { return s.QueueMean }))
}

func sequenceTable(r *report.Report) Table {
	return tableOf("sequences", "Sequences", groupDevice, "kernels that one operator launches in the same order again and again",
		r.Sequences, rank(func(s *report.SequenceRow) *int { return s.Rank }),
		name("operator", func(s *report.SequenceRow) string { return s.Op }),
		count("kernels", func(s *report.SequenceRow) int64 { return int64(s.Length) }),
		count("times", func(s *report.SequenceRow) int64 { return s.Count }),
		sum(bar(number("device time", unitTime, func(s *report.SequenceRow) float64 { return s.DeviceUs }))),
		number("CPU time", unitTime, func(s *report.SequenceRow) float64 { return s.CPUUs }),
		text("the first", func(s *report.SequenceRow) string { return oneLine(s.Kernels) }),
		place("at", func(s *report.SequenceRow) (string, int) { return s.Where.File, s.Where.Line }))
}

func stepPartsTable(r *report.Report) Table {
	part := func(head string, get func(*report.StepPartsRow) float64) column[report.StepPartsRow] {
		return number(head, unitTime, get)
	}
	return tableOf("step-parts", "Step parts", groupDevice, "traced steps in exclusive parts, with the TensorBoard plugin's precedence",
		r.StepParts, rank(func(s *report.StepPartsRow) *int { return s.Rank }),
		number("step", unitNumber, func(s *report.StepPartsRow) float64 { return float64(s.Step) }),
		bar(part("time", func(s *report.StepPartsRow) float64 { return s.Us })),
		part("kernels", func(s *report.StepPartsRow) float64 { return s.KernelUs }),
		part("copies", func(s *report.StepPartsRow) float64 { return s.MemcpyUs }),
		part("sets", func(s *report.StepPartsRow) float64 { return s.MemsetUs }),
		part("communication", func(s *report.StepPartsRow) float64 { return s.CommunicationUs }),
		part("runtime calls", func(s *report.StepPartsRow) float64 { return s.RuntimeUs }),
		part("DataLoader", func(s *report.StepPartsRow) float64 { return s.DataLoaderUs }),
		part("operators", func(s *report.StepPartsRow) float64 { return s.CPUOpUs }),
		part("other", func(s *report.StepPartsRow) float64 { return s.OtherUs }),
		number("device used", unitShare, func(s *report.StepPartsRow) float64 { return s.Utilisation }))
}

// rooflineOf is an operator of one trace's roofline.
type rooflineOf struct {
	of *report.Roofline
	report.RooflineRow
}

func rooflineTable(r *report.Report) Table {
	var rows []rooflineOf
	for i := range r.Roofline {
		for _, op := range r.Roofline[i].Ops {
			rows = append(rows, rooflineOf{&r.Roofline[i], op})
		}
	}
	return tableOf("roofline", "Roofline", groupDevice, "arithmetic against what the device and its memory could do, in TFLOP/s", rows,
		rank(func(o *rooflineOf) *int { return o.of.Rank }),
		name("operator", func(o *rooflineOf) string { return o.Name }),
		text("shapes", func(o *rooflineOf) string { return o.Shapes }),
		text("format", func(o *rooflineOf) string { return o.Format }),
		sum(count("calls", func(o *rooflineOf) int64 { return o.Count })),
		count("FLOPs", func(o *rooflineOf) int64 { return o.Flops }),
		perhaps("least traffic", unitBytes, func(o *rooflineOf) *float64 { return fromInt64(o.Bytes) }),
		sum(bar(number("device time", unitTime, func(o *rooflineOf) float64 { return o.DeviceUs }))),
		number("reached", unitNumber, func(o *rooflineOf) float64 { return o.TFLOPs }),
		perhaps("attainable", unitNumber, func(o *rooflineOf) *float64 { return o.Attainable }),
		perhaps("peak", unitNumber, func(o *rooflineOf) *float64 { return o.Peak }),
		perhaps("efficiency", unitShare, func(o *rooflineOf) *float64 { return o.Efficiency }))
}

func collectiveTable(r *report.Report) Table {
	return tableOf("collectives", "Collectives", groupDevice, "waiting is for ranks that came later", r.Communication,
		rank(func(c *report.CommRow) *int { return c.Rank }),
		name("collective", func(c *report.CommRow) string { return c.Op }),
		text("group", func(c *report.CommRow) string { return c.Group }),
		text("type", func(c *report.CommRow) string { return c.Dtype }),
		sum(count("count", func(c *report.CommRow) int64 { return c.Count })),
		sum(bar(number("time", unitTime, func(c *report.CommRow) float64 { return c.DeviceUs }))),
		sum(perhaps("exposed", unitTime, func(c *report.CommRow) *float64 { return c.ExposedUs })),
		sum(perhaps("waiting", unitTime, func(c *report.CommRow) *float64 { return c.WaitUs })),
		perhaps("late rank", unitNumber, func(c *report.CommRow) *float64 { return fromInt(c.LateRank) }),
		sum(number("bytes", unitBytes, func(c *report.CommRow) float64 { return float64(c.Bytes) })),
		perhaps("algorithm GB/s", unitNumber, func(c *report.CommRow) *float64 { return c.AlgBW }),
		perhaps("bus GB/s", unitNumber, func(c *report.CommRow) *float64 { return c.BusBW }))
}

// criticalOf is one long stretch of the critical path.
type criticalOf struct {
	of *report.CriticalRow
	report.CriticalSpan
}

func criticalTable(r *report.Report) Table {
	var rows []criticalOf
	for i := range r.CriticalPath {
		for _, span := range r.CriticalPath[i].Spans {
			rows = append(rows, criticalOf{&r.CriticalPath[i], span})
		}
	}
	return tableOf("critical-path", "Critical path", groupDevice, "the longest stretches of the chain of waits that ends one traced step",
		rows, rank(func(c *criticalOf) *int { return c.Rank }),
		text("kind", func(c *criticalOf) string { return c.of.Kind }),
		name("what", func(c *criticalOf) string { return c.Name }),
		text("on", func(c *criticalOf) string { return c.Lane }),
		sum(bar(number("time", unitTime, func(c *criticalOf) float64 { return c.Us }))),
		number("all of this kind", unitTime, func(c *criticalOf) float64 { return c.of.Us }),
		number("its share of the step", unitShare, func(c *criticalOf) float64 { return c.of.Share }))
}

func memoryTable(r *report.Report) Table {
	return tableOf("memory", "Memory", groupDevice, "of the traced time", r.Memory,
		rank(func(m *report.MemoryRow) *int { return m.Rank }),
		text("device", func(m *report.MemoryRow) string { return m.Device }),
		bar(number("peak", unitBytes, func(m *report.MemoryRow) float64 { return float64(m.PeakBytes) })),
		text("counted", func(m *report.MemoryRow) string {
			if m.Absolute {
				return "in total"
			}
			return "from the trace's start"
		}),
		perhaps("peak reserved", unitBytes, func(m *report.MemoryRow) *float64 { return fromInt64(m.PeakReserved) }),
		number("peak after", unitTime, func(m *report.MemoryRow) float64 { return m.PeakAtUs }),
		name("in operator", func(m *report.MemoryRow) string { return m.PeakOp }),
		text("phase", func(m *report.MemoryRow) string { return m.PeakPhase }),
		sum(count("allocations", func(m *report.MemoryRow) int64 { return m.Allocations })),
		number("allocated", unitBytes, func(m *report.MemoryRow) float64 { return float64(m.AllocatedBytes) }),
		perhaps("not freed", unitBytes, func(m *report.MemoryRow) *float64 { return fromInt64(m.UnfreedBytes) }))
}

// holderOf is memory that was alive at one device's peak.
type holderOf struct {
	of *report.MemoryRow
	report.HolderRow
}

func holderTable(r *report.Report) Table {
	var rows []holderOf
	for i := range r.Memory {
		for _, h := range r.Memory[i].Holders {
			rows = append(rows, holderOf{&r.Memory[i], h})
		}
	}
	return tableOf("memory-holders", "Memory at the peak", groupDevice,
		"what was alive, by the operator that allocated it; the rest was there before the trace", rows,
		rank(func(h *holderOf) *int { return h.of.Rank }),
		text("device", func(h *holderOf) string { return h.of.Device }),
		name("operator", func(h *holderOf) string { return h.Op }),
		text("phase", func(h *holderOf) string { return h.Phase }),
		sum(bar(number("bytes", unitBytes, func(h *holderOf) float64 { return float64(h.Bytes) }))),
		sum(perhaps("share of the peak", unitShare, func(h *holderOf) *float64 {
			return ratio(float64(h.Bytes), float64(h.of.PeakBytes))
		})),
		sum(count("blocks", func(h *holderOf) int64 { return h.Blocks })))
}
