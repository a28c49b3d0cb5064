package model

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Dump writes a session's inputs and traces as text, one line per fact, for golden files and for looking at by hand. Times are
// nanoseconds since the trace's beginning; events are named by their row, links by the row they point to.
func Dump(w io.Writer, s *Session) error {
	d := &dumper{w: w, s: s}
	for i := range s.Inputs {
		d.input(&s.Inputs[i])
	}
	for i, t := range s.Traces {
		d.trace(i, t)
	}
	return d.err
}

type dumper struct {
	w   io.Writer
	s   *Session
	err error
}

func (d *dumper) line(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format+"\n", args...)
	}
}

func (d *dumper) text(id Str) string { return d.s.Strings.Text(id) }

func (d *dumper) input(in *Input) {
	d.line("input %s %s events %d rank %d", in.Path, in.Format, in.Events, in.Rank)
	for _, cat := range slices.Sorted(maps.Keys(in.Counts)) {
		d.line("  count %q %d", cat, in.Counts[cat])
	}
	for _, g := range in.Diagnostics {
		d.line("  diagnostic %s %d at %d: %s", g.Kind, g.Count, g.FirstOffset, g.Text)
	}
}

func (d *dumper) trace(i int, t *Trace) {
	d.line("trace %d rank %d of %d lasts %d features %s", i, t.Rank, t.World, t.To-t.From, t.Features)
	for _, step := range t.Steps {
		d.line("  step %d %s %d..%d apart %v", step.Number, step.Source, step.Start-t.From, step.End-t.From, step.Warmup)
	}
	for l := range t.Lanes {
		lane := &t.Lanes[l]
		d.line("  lane %d %s pid %s tid %s %q", l, [...]string{"thread", "stream", "other"}[min(lane.Kind, LaneOther)], d.text(lane.PID),
			d.text(lane.TID), d.text(lane.Name))
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			d.event(t, id)
		}
	}
	m := &t.Memory
	for i := range m.Time {
		d.line("  memory %d bytes %d allocated %d device %d:%d", m.Time[i]-t.From, m.Bytes[i], m.Allocated[i],
			m.DeviceType[i], m.DeviceIndex[i])
	}
	for _, c := range t.Counters {
		d.line("  counter %d %q %q %g", c.Time-t.From, d.text(c.Name), d.text(c.Key), c.Value)
	}
}

func (d *dumper) event(t *Trace, id EventID) {
	e := &t.Events
	var more strings.Builder
	for _, link := range []struct {
		name string
		to   EventID
	}{{"parent", e.Parent[id]}, {"link", e.Link[id]}, {"op", e.Op[id]}} {
		if link.to != NoEvent {
			fmt.Fprintf(&more, " %s %d", link.name, link.to)
		}
	}
	d.line("    %d %s %d+%d %q%s%s", id, e.Kind[id], e.Start[id]-t.From, e.Dur[id], d.text(e.Name[id]), more.String(), d.detail(e, id))
}

// detail writes the arguments that say something.
func (d *dumper) detail(e *Events, id EventID) string {
	row := e.Detail[id]
	if row < 0 {
		return ""
	}
	var b strings.Builder
	integer := func(name string, v, none int64) {
		if v != none {
			fmt.Fprintf(&b, " %s=%d", name, v)
		}
	}
	text := func(name string, v Str) {
		if v != 0 {
			fmt.Fprintf(&b, " %s=%s", name, d.text(v))
		}
	}
	switch kind := e.Kind[id]; {
	case kind == KindOp || kind == KindAnnotation:
		o := &e.OpDetails[row]
		integer("external", o.External, 0)
		integer("sequence", o.Sequence, -1)
		integer("forward", int64(o.FwdThread), 0)
		a := e.OpArgsOf(row)
		text("shapes", a.Shapes)
		text("types", a.Types)
		text("stack", a.Stack)
		text("extra", a.Extra)
	case kind == KindPython:
		integer("id", e.PythonDetails[row].ID, 0)
		integer("caller", e.PythonDetails[row].ParentID, -1)
		text("from", e.PythonDetails[row].From)
	case kind == KindRuntime:
		integer("correlation", e.RuntimeDetails[row].Correlation, 0)
	default:
		o := e.DeviceArgsOf(row)
		integer("correlation", e.DeviceDetails[row].Correlation, 0)
		integer("bytes", o.Bytes, -1)
		integer("waits-for", o.WaitCorrelation, -1)
		text("collective", o.Collective)
	}
	return b.String()
}

// String is the kind's word.
func (k Kind) String() string {
	return [...]string{"other", "op", "annotation", "python", "runtime", "kernel", "memcpy", "memset", "gpu-annotation", "sync",
		"device-event", "overhead", "kind?"}[min(k, KindOverhead+1)]
}

// String lists the features that are there.
func (f Features) String() string {
	var words []string
	for _, w := range []struct {
		name string
		on   bool
	}{{"device", f.Device}, {"shapes", f.Shapes}, {"memory", f.Memory}, {"python", f.PythonStacks}, {"sync", f.Sync}, {"flops", f.Flops},
		{"external", f.ExternalLinks}} {
		if w.on {
			words = append(words, w.name)
		}
	}
	return "[" + strings.Join(words, " ") + "]"
}
