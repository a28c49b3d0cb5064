package view

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
)

// TimeSpan is an interval on the session clock; Start belongs to it, End does not.
type TimeSpan struct{ Start, End model.Time }

// ActionSpans gives the intervals of each action of a process, by the action's name, in order of time.
func ActionSpans(p *model.Process, strs *model.Strings) map[string][]TimeSpan {
	spans := map[string][]TimeSpan{}
	for i := range p.Spans {
		if s := &p.Spans[i]; s.Kind == model.SpanAction {
			name := strs.Text(s.Name)
			spans[name] = append(spans[name], TimeSpan{s.Start, s.End})
		}
	}
	for _, of := range spans {
		slices.SortFunc(of, func(a, b TimeSpan) int { return cmp.Compare(a.Start, b.Start) })
	}
	return spans
}

// TorchRowsWithin is TorchRows of the events that began in one of the spans, which are sorted and do not overlap: the
// operators of one action. A kernel counts to the span in which it was launched, whenever it ran.
func TorchRowsWithin(t *model.Trace, strs *model.Strings, opt keyaverages.Options, spans []TimeSpan) []TorchRow {
	events, averages := keyaverages.FunctionEvents(t, strs, opt)
	times := TorchTimes(t, strs, events)
	rows := make([]TorchRow, len(averages))
	for i := range rows {
		rows[i] = torchRow(&averages[i], opt)
		r := &rows[i]
		r.Count, r.Flops, r.SelfCPUBytes, r.CPUBytes, r.SelfDeviceBytes, r.DeviceBytes = 0, 0, 0, 0, 0, 0
	}
	for i := range events {
		e := &events[i]
		if e.Group < 0 || !within(spans, launchTime(t, e)) {
			continue
		}
		r := &rows[e.Group]
		r.addTimes(&times[i])
		r.Count++
		r.Flops += e.Flops
		r.SelfCPUBytes += e.SelfCPUBytes
		r.CPUBytes += e.CPUBytes
		r.SelfDeviceBytes += e.SelfDeviceBytes
		r.DeviceBytes += e.DeviceBytes
	}
	return slices.DeleteFunc(rows, func(r TorchRow) bool { return r.Count == 0 })
}

// launchTime is when the program asked for an event: the start of the launching operator for work on the device.
func launchTime(t *model.Trace, e *keyaverages.FunctionEvent) model.Time {
	if e.DeviceType != keyaverages.OnCPU && e.Event >= 0 {
		if op := t.Events.Op[e.Event]; op != model.NoEvent {
			return t.Events.Start[op]
		}
		if launch := t.Events.Link[e.Event]; launch != model.NoEvent {
			return t.Events.Start[launch]
		}
	}
	return e.Start
}

func within(spans []TimeSpan, at model.Time) bool {
	i, found := slices.BinarySearchFunc(spans, at, func(s TimeSpan, at model.Time) int { return cmp.Compare(s.Start, at) })
	if !found {
		i--
	}
	return i >= 0 && at < spans[i].End
}

// MergeTorchRows adds up the rows of several traces: those of the same name, shapes, stack and place become one, in the
// order in which they first occurred.
func MergeTorchRows(tables ...[]TorchRow) []TorchRow {
	type key struct {
		name, overload, shapes, stack string
		device, annotation            bool
	}
	index := map[key]int{}
	var out []TorchRow
	for _, rows := range tables {
		for _, r := range rows {
			k := key{r.Name, r.Overload, r.InputShapes, strings.Join(r.Stack, "\x00"), r.OnDevice, r.UserAnnotation}
			at, ok := index[k]
			if !ok {
				index[k] = len(out)
				out = append(out, r)
				continue
			}
			sum := &out[at]
			sum.addTimes(&TorchTime{r.SelfCPU, r.CPU, r.SelfDevice, r.Device})
			sum.Count += r.Count
			sum.Flops += r.Flops
			sum.SelfCPUBytes += r.SelfCPUBytes
			sum.CPUBytes += r.CPUBytes
			sum.SelfDeviceBytes += r.SelfDeviceBytes
			sum.DeviceBytes += r.DeviceBytes
		}
	}
	return out
}
