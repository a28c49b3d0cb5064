package view

import (
	"math"
	"strings"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
)

// TorchRows gives the rows of TorchTable for one trace. They are the key averages with times in microseconds, added up
// as torch does it in float64: its printed averages depend on the last bit where the exact value lies half-way between
// two of them, as every second average over two calls does.
func TorchRows(t *model.Trace, strs *model.Strings, opt keyaverages.Options) []TorchRow {
	events, averages := keyaverages.FunctionEvents(t, strs, opt)
	rows := make([]TorchRow, len(averages))
	for i := range averages {
		rows[i] = torchRow(&averages[i], opt)
	}
	times := TorchTimes(t, strs, events)
	for i := range events {
		if g := events[i].Group; g >= 0 {
			rows[g].addTimes(&times[i])
		}
	}
	return rows
}

func (r *TorchRow) addTimes(x *TorchTime) {
	r.SelfCPU += x.SelfCPU
	r.CPU += x.CPU
	r.SelfDevice += x.SelfDevice
	r.Device += x.Device
}

// TorchRowsOf gives the rows of averages over several traces; their times are exact sums, not torch's sums of floats,
// because torch has no such table.
func TorchRowsOf(averages []keyaverages.Row, opt keyaverages.Options) []TorchRow {
	us := func(d model.Dur) float64 { return float64(d) / 1000 }
	rows := make([]TorchRow, len(averages))
	for i := range averages {
		a := &averages[i]
		rows[i] = torchRow(a, opt)
		rows[i].SelfCPU, rows[i].CPU, rows[i].SelfDevice, rows[i].Device = us(a.SelfCPU), us(a.CPU), us(a.SelfDevice), us(a.Device)
	}
	return rows
}

func torchRow(a *keyaverages.Row, opt keyaverages.Options) TorchRow {
	r := TorchRow{
		Name: a.Name, Count: a.Count, Flops: a.Flops, NodeID: -1, Stack: a.Stack, Module: a.Module,
		SelfCPUBytes: a.SelfCPUBytes, CPUBytes: a.CPUBytes, SelfDeviceBytes: a.SelfDeviceBytes, DeviceBytes: a.DeviceBytes,
		OnDevice: a.DeviceType != keyaverages.OnCPU, Async: a.IsAsync, UserAnnotation: a.IsUserAnnotation, TopLevel: a.TopLevel,
	}
	if r.InputShapes = a.InputShapes; opt.ByShapes && r.InputShapes == "" {
		r.InputShapes = "[]"
	}
	return r
}

// TorchTime is one event's four times in microseconds.
type TorchTime struct{ SelfCPU, CPU, SelfDevice, Device float64 }

// TorchTimes computes the events' times as torch/autograd/profiler_util.py does: starts and ends are divided first and
// subtracted then, and what children take is summed before it is taken off.
func TorchTimes(t *model.Trace, strs *model.Strings, events []keyaverages.FunctionEvent) []TorchTime {
	start := profilerStart(t, strs)
	us := func(at model.Time) float64 { return float64(at-start) / 1000 }
	times := make([]TorchTime, len(events))
	below := make([]neumaier, len(events))
	owners := newKernelOwners(t, events)
	for i := range events {
		e, x := &events[i], &times[i]
		elapsed := us(e.Start+model.Time(duration(t, e))) - us(e.Start)
		switch {
		case e.DeviceType != keyaverages.OnCPU:
			x.Device, x.SelfDevice = elapsed, elapsed
			owners.add(e, elapsed)
		default:
			x.CPU = elapsed
			if e.Parent >= 0 {
				below[e.Parent].add(elapsed)
			}
		}
	}
	deviceBelow := make([]neumaier, len(events))
	for i := len(events) - 1; i >= 0; i-- {
		e, x := &events[i], &times[i]
		if e.DeviceType != keyaverages.OnCPU || e.IsAsync {
			continue
		}
		x.SelfCPU = x.CPU - below[i].sum()
		if e.Device != 0 {
			x.Device = owners.sum(int32(i), e) + deviceBelow[i].sum()
			x.SelfDevice = x.Device - deviceBelow[i].sum()
		}
		if e.Parent >= 0 {
			deviceBelow[e.Parent].add(x.Device)
		}
	}
	return times
}

// kernelOwners adds up each operator's own device rows.
type kernelOwners struct {
	trace *model.Trace
	index []int32 // by trace event: its place in the list, -1
	sums  map[int32]*kernelSum
}

type kernelSum struct {
	us neumaier
	ns model.Dur
}

func newKernelOwners(t *model.Trace, events []keyaverages.FunctionEvent) *kernelOwners {
	o := &kernelOwners{trace: t, index: make([]int32, t.Events.Len()), sums: map[int32]*kernelSum{}}
	for i := range o.index {
		o.index[i] = -1
	}
	for i := range events {
		if events[i].Event >= 0 {
			o.index[events[i].Event] = int32(i)
		}
	}
	return o
}

// add counts a device row to its operator; where torch removed that one as the only child of a namesake, to the parent.
func (o *kernelOwners) add(e *keyaverages.FunctionEvent, us float64) {
	if e.Event < 0 || e.IsUserAnnotation {
		return
	}
	op := o.trace.Events.Op[e.Event]
	for op != model.NoEvent && o.index[op] < 0 {
		op = o.trace.Events.Parent[op]
	}
	if op == model.NoEvent {
		return
	}
	sum, ok := o.sums[o.index[op]]
	if !ok {
		sum = &kernelSum{}
		o.sums[o.index[op]] = sum
	}
	sum.us.add(us)
	sum.ns += e.Device
}

// sum is the operator's own device time; the exact one where it is not made of the rows that were counted here.
func (o *kernelOwners) sum(i int32, e *keyaverages.FunctionEvent) float64 {
	if sum, ok := o.sums[i]; ok && sum.ns == e.SelfDevice {
		return sum.us.sum()
	}
	return float64(e.SelfDevice) / 1000
}

// duration is the event's length; unclaimed memory events have none.
func duration(t *model.Trace, e *keyaverages.FunctionEvent) model.Dur {
	if e.Event < 0 {
		return 0
	}
	return t.Events.Dur[e.Event]
}

// profilerStart is the instant that torch counts from: the start of Kineto's own span, which stands in the trace; the
// first event where there is none.
func profilerStart(t *model.Trace, strs *model.Strings) model.Time {
	for i := range t.Lanes {
		l := &t.Lanes[i]
		if l.Kind != model.LaneOther {
			continue
		}
		for id := l.FirstEvent; id < l.EndEvent; id++ {
			if strings.HasPrefix(strs.Text(t.Events.Name[id]), "PyTorch Profiler (") {
				return t.Events.Start[id]
			}
		}
	}
	return t.From
}

// neumaier adds floats as Python's sum() does since 3.12: with the lost low bits kept apart.
type neumaier struct{ total, lost float64 }

func (n *neumaier) add(v float64) {
	t := n.total + v
	if math.Abs(n.total) >= math.Abs(v) {
		n.lost += (n.total - t) + v
	} else {
		n.lost += (v - t) + n.total
	}
	n.total = t
}

func (n *neumaier) sum() float64 { return n.total + n.lost }
