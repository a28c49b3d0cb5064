package view

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// Bounds of the document's rows and lists, by trace where there are several.
const (
	maxRooflineOps = 200
	maxHolders     = 50
	maxPoints      = 1000 // of a timeline
	maxSequences   = 20   // by trace
	minSequence    = 3    // kernels: fewer are hardly worth fusing
)

// rooflines are one row by trace that has input shapes and device work.
func (b *builder) rooflines(traces []*model.Trace) {
	for i, t := range traces {
		r := b.traceParts()[i].Roofline
		if r == nil || len(r.Ops) == 0 || len(b.r.Roofline) >= maxOpRows {
			continue
		}
		row := Roofline{Rank: rankPtr(t.Rank), Flops: r.Flops, SpanUs: us(r.Span), KernelUs: us(r.Kernels), Ops: []RooflineRow{}}
		if r.Kernels > 0 {
			row.CoveredShare = float64(r.Covered) / float64(r.Kernels)
		}
		if r.Peaks != nil {
			row.Device = r.Peaks.Name
		}
		if r.MFU >= 0 {
			row.MFU = ptr(r.MFU)
		}
		for i := range r.Ops[:min(len(r.Ops), maxRooflineOps)] {
			row.Ops = append(row.Ops, rooflineRow(&r.Ops[i]))
		}
		b.r.Roofline = append(b.r.Roofline, row)
	}
}

func rooflineRow(op *analyse.OpWork) RooflineRow {
	row := RooflineRow{Name: op.Name, Shapes: op.Shapes, Format: op.Format.String(), Formula: op.Formula, Count: op.Count, Flops: op.Flops,
		DeviceUs: us(op.Device), TFLOPs: op.TFLOPs}
	if op.Bytes > 0 {
		row.Bytes = ptr(op.Bytes)
	}
	if op.Limit > 0 {
		row.Peak, row.Attainable, row.Efficiency = ptr(op.Peak), ptr(op.Limit), ptr(op.Efficiency)
	}
	return row
}

// copyRows sums copies by rank, device and name; a rank can have several traces.
func (b *builder) copyRows(traces []*model.Trace) {
	type key struct {
		rank   int
		device int32
		name   string
	}
	index := map[key]int{}
	for i, t := range traces {
		for _, c := range b.traceParts()[i].Copies {
			k := key{t.Rank, c.Device, c.Name}
			at, known := index[k]
			if !known {
				if len(b.r.Copies) >= maxOpRows {
					continue
				}
				at = len(b.r.Copies)
				index[k] = at
				b.r.Copies = append(b.r.Copies, CopyRow{Rank: rankPtr(t.Rank), Device: int(c.Device), Name: c.Name, Direction: c.Direction,
					Pageable: c.Pageable, Where: traceWhere(c.Where)})
			}
			row := &b.r.Copies[at]
			row.Count += c.Count
			row.Us += us(c.Dur)
			row.ExposedUs += us(c.Exposed)
			row.HostWaitUs += us(c.Waited)
			if c.Bytes > 0 {
				row.Bytes = ptr(c.Bytes + valueOr(row.Bytes, 0))
			}
		}
		for _, w := range analyse.Bandwidths(t, b.s.Strings) {
			if len(b.r.Bandwidth) < maxOpRows {
				b.r.Bandwidth = append(b.r.Bandwidth, BandwidthRow{rankPtr(t.Rank), w.Kind, w.Max, w.Mean})
			}
		}
	}
	for i := range b.r.Copies {
		if c := &b.r.Copies[i]; c.Bytes != nil && c.Us > 0 {
			c.GBs = ptr(float64(*c.Bytes) / c.Us / 1e3)
		}
	}
	slices.SortStableFunc(b.r.Copies, func(x, y CopyRow) int { return cmp.Compare(y.Us, x.Us) })
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func (b *builder) streamRows(traces []*model.Trace) {
	for _, t := range traces {
		for _, s := range analyse.Streams(t, b.s.Strings) {
			if len(b.r.Streams) >= maxOpRows {
				return
			}
			b.r.Streams = append(b.r.Streams, StreamRow{Rank: rankPtr(t.Rank), Device: int(s.Device), Stream: s.Stream, Count: s.Count, BusyUs: us(s.Busy),
				HostWaitUs: us(s.HostWait), KernelWaitUs: us(s.KernelWait), OtherWaitUs: us(s.OtherWait),
				QueueMax: s.Queue.Max, QueueMean: s.Queue.Mean, QueueFullUs: us(s.Queue.Full)})
		}
	}
}

func (b *builder) sequenceRows(traces []*model.Trace) {
	for _, t := range traces {
		for _, q := range analyse.Sequences(t, b.s.Strings, minSequence, maxSequences) {
			if len(b.r.Sequences) >= maxOpRows {
				return
			}
			b.r.Sequences = append(b.r.Sequences, SequenceRow{Rank: rankPtr(t.Rank), Op: q.Op, Kernels: orEmpty(q.Kernels), Length: q.Length, Count: q.Count,
				DeviceUs: us(q.Device), CPUUs: us(q.CPU), Where: traceWhere(q.Where)})
		}
	}
	slices.SortStableFunc(b.r.Sequences, func(x, y SequenceRow) int { return cmp.Compare(y.DeviceUs, x.DeviceUs) })
}

// stepParts cuts the steps of traces with device work; for others the breakdown says it.
func (b *builder) stepParts(traces []*model.Trace) {
	for _, t := range traces {
		if !t.Features.Device {
			continue
		}
		for _, st := range analyse.StepPartsOf(t, b.s.Strings) {
			if len(b.r.StepParts) >= maxOpRows {
				return
			}
			p := &st.Parts
			b.r.StepParts = append(b.r.StepParts, StepPartsRow{Rank: rankPtr(t.Rank), Step: st.Number, Us: us(st.End.Sub(st.Start)),
				KernelUs: us(p[analyse.StepKernel]), MemcpyUs: us(p[analyse.StepMemcpy]), MemsetUs: us(p[analyse.StepMemset]),
				CommunicationUs: us(p[analyse.StepCommunication]), RuntimeUs: us(p[analyse.StepRuntime]), DataLoaderUs: us(p[analyse.StepDataLoader]),
				CPUOpUs: us(p[analyse.StepCPUOp]), OtherUs: us(p[analyse.StepOther]), Utilisation: st.Utilisation})
		}
	}
}

// memoryRows are one row by rank and device: the trace with the highest peak, and the allocations of all its traces.
func (b *builder) memoryRows(traces []*model.Trace) {
	type key struct {
		rank        int
		kind, index int8
	}
	index := map[key]int{}
	for _, t := range traces {
		for _, m := range analyse.MemoryUse(t, b.s.Strings) {
			k := key{t.Rank, m.DeviceType, m.DeviceIndex}
			at, known := index[k]
			if !known {
				index[k] = len(b.r.Memory)
				b.r.Memory = append(b.r.Memory, b.memoryRow(t, &m))
				continue
			}
			old := b.r.Memory[at]
			if m.Peak > old.PeakBytes {
				b.r.Memory[at] = b.memoryRow(t, &m)
				b.r.Memory[at].Allocations += old.Allocations
				b.r.Memory[at].AllocatedBytes += old.AllocatedBytes
				continue
			}
			b.r.Memory[at].Allocations += m.Allocations
			b.r.Memory[at].AllocatedBytes += m.Allocated
		}
	}
}

func (b *builder) memoryRow(t *model.Trace, m *analyse.Memory) MemoryRow {
	row := MemoryRow{Rank: rankPtr(t.Rank), Device: deviceName(m.DeviceType, m.DeviceIndex), Absolute: m.Absolute, PeakBytes: m.Peak, PeakAtUs: us(m.PeakAt.Sub(t.From)),
		PeakOp: m.PeakOp, PeakPhase: m.PeakPhase, Allocations: int64(m.Allocations), AllocatedBytes: m.Allocated,
		Holders: []HolderRow{}, Timeline: []MemoryPoint{}}
	if m.Unfreed > 0 && m.Unfreed <= m.Peak { // more cannot be alive: traces of 2021 have no addresses to match frees with
		row.UnfreedBytes = ptr(m.Unfreed)
	}
	if m.PeakReserved > 0 {
		row.PeakReserved = ptr(m.PeakReserved)
	}
	for _, h := range m.Holders[:min(len(m.Holders), maxHolders)] {
		row.Holders = append(row.Holders, HolderRow{h.Op, h.Phase, h.Bytes, h.Blocks})
	}
	each := max((len(m.Timeline)+b.points-1)/b.points, 1)
	for chunk := range slices.Chunk(m.Timeline, each) {
		p := slices.MaxFunc(chunk, func(x, y analyse.MemoryPoint) int { return cmp.Compare(x.Bytes, y.Bytes) })
		point := MemoryPoint{AtUs: us(p.Time.Sub(t.From)), Bytes: p.Bytes}
		if p.Reserved > 0 {
			point.Reserved = ptr(p.Reserved)
		}
		row.Timeline = append(row.Timeline, point)
	}
	return row
}
