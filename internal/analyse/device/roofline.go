package device

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// OpWork is the arithmetic of one operator with one set of shapes, against the time that its own kernels took.
type OpWork struct {
	Name    string
	Shapes  string // raw JSON
	Format  arguments.Precision
	Formula string // how Flops was counted
	Count   int64
	Flops   int64     // over all calls
	Bytes   int64     // least memory traffic: every operand once; 0 unknown
	Device  model.Dur // of its own kernels, added up
	// TFLOPs is the rate reached; Peak the device's for the format and Limit what memory traffic allows of it, both 0 where
	// the device's rates are not known. Efficiency is TFLOPs ÷ Limit.
	TFLOPs, Peak, Limit, Efficiency float64
}

// Roofline compares a trace's matrix products, convolutions and attention with what its device could do.
type Roofline struct {
	Peaks   *PeakRates // nil where the device is not known
	Ops     []OpWork   // most device time first
	Flops   int64
	Covered model.Dur // kernel time of the operators in Ops
	Kernels model.Dur // kernel time in all
	Span    model.Dur // first to last device work
	// MFU is Σ Flops ÷ peak of their format, over Span; -1 where the device's rates are not known.
	MFU float64
}

// RooflineOf analyses a trace that has input shapes; nil where it has none, or no device work.
func RooflineOf(t *model.Trace, s *model.Strings) *Roofline { return NewWork(t, s).Roofline() }

// Roofline is RooflineOf.
func (work *Work) Roofline() *Roofline {
	t, s, works := work.trace, work.texts, work.list
	if len(works) == 0 || len(t.Events.OpArgs) == 0 {
		return nil
	}
	r := &Roofline{Ops: []OpWork{}, MFU: -1}
	if gpu := deviceOf(t, works[0].Device); gpu != nil {
		r.Peaks = PeaksOf(*gpu)
	}
	table := opWorkTable{index: map[opWorkKey]int32{}, t: t, s: s}
	for _, w := range works {
		hull := w.Sets().busy.Hull()
		r.Span = max(r.Span, model.Dur(hull.Len()))
		for _, id := range w.Rows {
			if t.Events.Kind[id] != model.KindKernel || w.Classes.Of(&t.Events, id) == naming.ClassCommunication {
				continue
			}
			r.Kernels += t.Events.Dur[id]
			table.add(id)
		}
	}
	table.count()
	if !table.shapes {
		return nil
	}
	for i := range table.rows {
		if table.rows[i].Flops > 0 {
			r.count(table.rows[i])
		}
	}
	r.finish(len(works))
	return r
}

// Device describes the trace's first device; nil where the trace does not.
func (work *Work) Device() *model.GPU {
	if len(work.list) == 0 {
		return nil
	}
	return deviceOf(work.trace, work.list[0].Device)
}

// deviceOf is the description of a device, nil where the trace has none. ROCm numbers agents in its rows (CPUs count) and
// devices in the header: a number that the header does not know stands for any of its devices if they are all the same.
func deviceOf(t *model.Trace, device int32) *model.GPU {
	list := t.Header.Devices
	if at := slices.IndexFunc(list, func(g model.GPU) bool { return g.Index == int(device) }); at >= 0 {
		return &list[at]
	}
	if len(list) == 0 || slices.ContainsFunc(list, func(g model.GPU) bool { return g.Name != list[0].Name || g.SMs != list[0].SMs }) {
		return nil
	}
	return &list[0]
}

func (r *Roofline) count(op OpWork) {
	op.TFLOPs = float64(op.Flops) / float64(max(1, op.Device)) / 1e3
	if r.Peaks != nil {
		op.Peak = r.Peaks.Rates[op.Format]
		op.Limit = op.Peak
		if op.Bytes > 0 {
			op.Limit = min(op.Peak, float64(op.Flops)/float64(op.Bytes)*r.Peaks.GBs/1e3)
		}
		if op.Limit > 0 {
			op.Efficiency = op.TFLOPs / op.Limit
		}
	}
	r.Flops += op.Flops
	r.Covered += op.Device
	r.Ops = append(r.Ops, op)
}

// finish sorts and takes the whole's share of the peak.
func (r *Roofline) finish(devices int) {
	slices.SortFunc(r.Ops, func(a, b OpWork) int {
		return cmp.Or(cmp.Compare(b.Device, a.Device), strings.Compare(a.Name, b.Name), strings.Compare(a.Shapes, b.Shapes))
	})
	if r.Peaks == nil || r.Span == 0 {
		return
	}
	r.MFU = 0
	for _, op := range r.Ops {
		if op.Peak > 0 {
			r.MFU += float64(op.Flops) / (op.Peak * 1e3) / float64(r.Span) / float64(devices)
		}
	}
}

// opWorkTable sums up kernels by operator and arguments.
type opWorkTable struct {
	t      *model.Trace
	s      *model.Strings
	index  map[opWorkKey]int32
	calls  []uint64 // kernels by the call of an operator that launched them: both ids in one number
	rows   []OpWork
	shapes bool
}

type opWorkKey struct {
	name, shapes, types, concrete model.Str
	tf32                          bool
}

// add notes a kernel and the operator that launched it.
func (o *opWorkTable) add(kernel model.EventID) {
	ev := &o.t.Events
	if op := ev.Op[kernel]; op != model.NoEvent && ev.Detail[op] >= 0 {
		o.calls = append(o.calls, uint64(op)<<32|uint64(kernel))
	}
}

// count books the kernels to the operators that launched them, call by call; the first kernel tells a call's format.
func (o *opWorkTable) count() {
	ev := &o.t.Events
	slices.Sort(o.calls)
	row := int32(-1)
	for i, call := range o.calls {
		op, kernel := model.EventID(call>>32), model.EventID(call&(1<<32-1))
		if i == 0 || op != model.EventID(o.calls[i-1]>>32) {
			row = o.rowOf(op, kernel)
			r := &o.rows[row]
			if r.Count > 0 { // Flops and Bytes are those of one call so far
				r.Flops += r.Flops / r.Count
				r.Bytes += r.Bytes / r.Count
			}
			r.Count++
		}
		o.rows[row].Device += ev.Dur[kernel]
	}
	o.calls = nil
}

// rowOf is the row of a call, by its operator's name and arguments.
func (o *opWorkTable) rowOf(op, kernel model.EventID) int32 {
	ev := &o.t.Events
	d := ev.OpArgsOf(ev.Detail[op])
	o.shapes = o.shapes || d.Shapes != 0
	key := opWorkKey{ev.Name[op], d.Shapes, d.Types, d.Concrete, strings.Contains(o.s.Text(ev.Name[kernel]), "tf32")}
	row, known := o.index[key]
	if !known {
		row = int32(len(o.rows))
		o.index[key] = row
		o.rows = append(o.rows, o.work(key))
	}
	return row
}

func (o *opWorkTable) work(key opWorkKey) OpWork {
	name, shapes := o.s.Text(key.name), o.s.Text(key.shapes)
	types := arguments.Texts(o.s.Text(key.types))
	flops, bytes, formula := arguments.MatrixWork(name, shapes, o.s.Text(key.concrete), types)
	return OpWork{Name: name, Shapes: shapes, Format: arguments.PrecisionOf(types, key.tf32), Formula: formula, Flops: flops, Bytes: bytes}
}
