package report

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
)

// Bounds of the document's rows and lists, by trace where there are several.
const (
	maxRooflineOps = 200
	maxHolders     = 50
	MaxPoints      = 1000 // of a timeline
	maxSequences   = 20   // by trace
	minSequence    = 3    // kernels: fewer are hardly worth fusing
)

// rooflines are one row by trace that has input shapes and device work.
func (b *Builder) rooflines(traces []*model.Trace) {
	for i, t := range traces {
		r := b.traceParts()[i].Roofline
		if r == nil || len(r.Ops) == 0 || len(b.R.Roofline) >= maxOpRows {
			continue
		}
		row := Roofline{Rank: RankPtr(t.Rank), Flops: r.Flops, SpanUs: us(r.Span), KernelUs: us(r.Kernels), Ops: []RooflineRow{}}
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
		b.R.Roofline = append(b.R.Roofline, row)
	}
}

func rooflineRow(op *device.OpWork) RooflineRow {
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
func (b *Builder) copyRows(traces []*model.Trace) {
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
				if len(b.R.Copies) >= maxOpRows {
					continue
				}
				at = len(b.R.Copies)
				index[k] = at
				b.R.Copies = append(b.R.Copies, CopyRow{Rank: RankPtr(t.Rank), Device: int(c.Device), Name: c.Name, Direction: c.Direction,
					Pageable: c.Pageable, Where: traceWhere(c.Where)})
			}
			row := &b.R.Copies[at]
			row.Count += c.Count
			row.Us += us(c.Dur)
			row.ExposedUs += us(c.Exposed)
			row.HostWaitUs += us(c.Waited)
			if c.Bytes > 0 {
				row.Bytes = ptr(c.Bytes + ValueOr(row.Bytes, 0))
			}
		}
		for _, w := range device.Bandwidths(t, b.S.Strings) {
			if len(b.R.Bandwidth) < maxOpRows {
				b.R.Bandwidth = append(b.R.Bandwidth, BandwidthRow{RankPtr(t.Rank), w.Kind, w.Max, w.Mean})
			}
		}
	}
	for i := range b.R.Copies {
		if c := &b.R.Copies[i]; c.Bytes != nil && c.Us > 0 {
			c.GBs = ptr(float64(*c.Bytes) / c.Us / 1e3)
		}
	}
	slices.SortStableFunc(b.R.Copies, func(x, y CopyRow) int { return cmp.Compare(y.Us, x.Us) })
}

func ValueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func (b *Builder) streamRows(traces []*model.Trace) {
	for _, t := range traces {
		for _, s := range device.Streams(t, b.S.Strings) {
			if len(b.R.Streams) >= maxOpRows {
				return
			}
			b.R.Streams = append(b.R.Streams, StreamRow{Rank: RankPtr(t.Rank), Device: int(s.Device), Stream: s.Stream,
				Count: s.Count, BusyUs: us(s.Busy), HostWaitUs: us(s.HostWait), KernelWaitUs: us(s.KernelWait),
				OtherWaitUs: us(s.OtherWait), QueueMax: s.Queue.Max, QueueMean: s.Queue.Mean, QueueFullUs: us(s.Queue.Full)})
		}
	}
}

func (b *Builder) sequenceRows(traces []*model.Trace) {
	for _, t := range traces {
		for _, q := range device.Sequences(t, b.S.Strings, minSequence, maxSequences) {
			if len(b.R.Sequences) >= maxOpRows {
				return
			}
			b.R.Sequences = append(b.R.Sequences, SequenceRow{Rank: RankPtr(t.Rank), Op: q.Op, Kernels: orEmpty(q.Kernels),
				Length: q.Length, Count: q.Count, DeviceUs: us(q.Device), CPUUs: us(q.CPU), Where: traceWhere(q.Where)})
		}
	}
	slices.SortStableFunc(b.R.Sequences, func(x, y SequenceRow) int { return cmp.Compare(y.DeviceUs, x.DeviceUs) })
}

// stepParts cuts the steps of traces with device work; for others the breakdown says it.
func (b *Builder) stepParts(traces []*model.Trace) {
	for _, t := range traces {
		if !t.Features.Device {
			continue
		}
		for _, st := range account.StepPartsOf(t, b.S.Strings) {
			if len(b.R.StepParts) >= maxOpRows {
				return
			}
			p := &st.Parts
			b.R.StepParts = append(b.R.StepParts, StepPartsRow{Rank: RankPtr(t.Rank), Step: st.Number, Us: us(st.End.Sub(st.Start)),
				KernelUs: us(p[account.StepKernel]), MemcpyUs: us(p[account.StepMemcpy]), MemsetUs: us(p[account.StepMemset]),
				CommunicationUs: us(p[account.StepCommunication]), RuntimeUs: us(p[account.StepRuntime]),
				DataLoaderUs: us(p[account.StepDataLoader]), CPUOpUs: us(p[account.StepCPUOp]), OtherUs: us(p[account.StepOther]),
				Utilisation: st.Utilisation})
		}
	}
}

// memoryRows are one row by rank and device: the trace with the highest peak, and the allocations of all its traces.
func (b *Builder) memoryRows(traces []*model.Trace) {
	type key struct {
		rank        int
		kind, index int8
	}
	index := map[key]int{}
	for _, t := range traces {
		for _, m := range allocations.UseOf(t, b.S.Strings) {
			k := key{t.Rank, m.DeviceType, m.DeviceIndex}
			at, known := index[k]
			if !known {
				index[k] = len(b.R.Memory)
				b.R.Memory = append(b.R.Memory, b.memoryRow(t, &m))
				continue
			}
			old := b.R.Memory[at]
			if m.Peak > old.PeakBytes {
				b.R.Memory[at] = b.memoryRow(t, &m)
				b.R.Memory[at].Allocations += old.Allocations
				b.R.Memory[at].AllocatedBytes += old.AllocatedBytes
				continue
			}
			b.R.Memory[at].Allocations += m.Allocations
			b.R.Memory[at].AllocatedBytes += m.Allocated
		}
	}
}

func (b *Builder) memoryRow(t *model.Trace, m *allocations.Use) MemoryRow {
	row := MemoryRow{Rank: RankPtr(t.Rank), Device: DeviceName(m.DeviceType, m.DeviceIndex), Absolute: m.Absolute, PeakBytes: m.Peak,
		PeakAtUs: us(m.PeakAt.Sub(t.From)), PeakOp: m.PeakOp, PeakPhase: m.PeakPhase, Allocations: int64(m.Allocations),
		AllocatedBytes: m.Allocated, Holders: []HolderRow{}, Timeline: []MemoryPoint{}}
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
		p := slices.MaxFunc(chunk, func(x, y allocations.Point) int { return cmp.Compare(x.Bytes, y.Bytes) })
		point := MemoryPoint{AtUs: us(p.Time.Sub(t.From)), Bytes: p.Bytes}
		if p.Reserved > 0 {
			point.Reserved = ptr(p.Reserved)
		}
		row.Timeline = append(row.Timeline, point)
	}
	return row
}
