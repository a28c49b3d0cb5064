package testkit

import (
	"encoding/json"
	"fmt"
	"strings"

	"bottleneck/internal/model"
)

// Compare says where a trace differs from what the slow reader made of the same text; nil when nowhere. A trace from
// which duplicates were dropped cannot be compared row by row.
func (ref *Reference) Compare(s *model.Session, t *model.Trace) error {
	for _, d := range s.Inputs[t.Input].Diagnostics {
		if d.Kind == "duplicate" {
			return nil
		}
	}
	ev := &t.Events
	if ev.Len() != len(ref.Rows) {
		return fmt.Errorf("%d events, the reference has %d", ev.Len(), len(ref.Rows))
	}
	if len(t.Memory.Time) != ref.Memory {
		return fmt.Errorf("%d memory events, the reference has %d", len(t.Memory.Time), ref.Memory)
	}
	for i := range ref.Rows {
		if err := ref.compareRow(s, t, i); err != nil {
			return fmt.Errorf("event %d (%s %q at %d): %w", i, ref.Rows[i].Cat, ref.Rows[i].Name, ref.Rows[i].Start, err)
		}
	}
	return nil
}

type difference struct {
	what      string
	got, want any
}

func firstOf(list []difference) error {
	for _, d := range list {
		if d.got != d.want {
			return fmt.Errorf("%s is %v, the reference has %v", d.what, d.got, d.want)
		}
	}
	return nil
}

func (ref *Reference) compareRow(s *model.Session, t *model.Trace, i int) error {
	r, ev, id := &ref.Rows[i], &t.Events, model.EventID(i)
	lane := t.Lanes[ev.Lane[id]]
	list := []difference{
		{"pid", s.Strings.Text(lane.PID), r.PID}, {"tid", s.Strings.Text(lane.TID), r.TID},
		{"stream", lane.Kind == model.LaneStream, r.Stream}, {"other", lane.Kind == model.LaneOther, r.Other},
		{"start", int64(ev.Start[id]), r.Start + ref.Base}, {"duration", int64(ev.Dur[id]), r.Dur},
		{"name", s.Strings.Text(ev.Name[id]), r.Name}, {"kind", ev.Kind[id], r.Kind}, {"parent", int(ev.Parent[id]), r.Parent},
	}
	switch {
	case r.Kind.Device() || r.Kind == model.KindSync || r.Kind == model.KindDeviceEvent:
		d, a := ev.DeviceDetails[ev.Detail[id]], ev.DeviceArgsOf(ev.Detail[id])
		list = append(list, difference{"call", int(ev.Link[id]), r.Call}, r.integer("correlation", d.Correlation, 0),
			r.integer("registers per thread", int64(a.Registers), 0), r.integer("bytes", a.Bytes, -1),
			r.integer("wait_on_cuda_event_record_corr_id", a.WaitCorrelation, -1))
	case r.Kind == model.KindRuntime:
		d := ev.RuntimeDetails[ev.Detail[id]]
		list = append(list, r.integer("correlation", d.Correlation, 0))
		if r.Op >= 0 {
			list = append(list, difference{"operator", int(ev.Op[id]), r.Op})
		}
	case r.Kind == model.KindOp || r.Kind == model.KindAnnotation:
		d, a := ev.OpDetails[ev.Detail[id]], ev.OpArgsOf(ev.Detail[id])
		list = append(list, r.integer("Sequence number", d.Sequence, -1), r.json(s, "Input Dims", a.Shapes),
			r.json(s, "Input type", a.Types), r.json(s, "Concrete Inputs", a.Concrete), r.json(s, "Input Strides", a.Strides),
			difference{"Call stack", s.Strings.Text(a.Stack), plain(r.Args["Call stack"])})
	}
	return firstOf(list)
}

func (r *Row) integer(key string, got, none int64) difference {
	want := none
	if n, ok := r.Args[key].(json.Number); ok {
		if v, err := n.Int64(); err == nil {
			want = v
		} else {
			want = got // beyond int64: kept as bits
		}
	} else if r.Args[key] != nil {
		want = got // not a number: nothing is promised
	}
	return difference{key, got, want}
}

// json compares values, not their layout.
func (r *Row) json(s *model.Session, key string, got model.Str) difference {
	value, ok := r.Args[key]
	if !ok {
		value, ok = r.Args["Input dims"]
		ok = ok && key == "Input Dims"
	}
	text := s.Strings.Text(got)
	if !ok {
		return difference{key, text, ""}
	}
	var again any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&again); err != nil {
		return difference{key, err.Error(), ""}
	}
	return difference{key, encode(again), encode(value)}
}
