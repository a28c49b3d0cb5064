package export

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
)

// writeEvents writes the event list behind the operator table, which prof.events() returns: one line per event with its
// place in the tree. Times are microseconds from the first event of all traces, with the trace's precision.
func writeEvents(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	traces := tracesOf(s, opt)
	if len(traces) == 0 {
		return &UnavailableError{"events", "there is no trace in the input"}
	}
	first := traces[0].From
	for _, t := range traces {
		first = min(first, t.From)
	}
	return buffered(w, func(out *bufio.Writer) error {
		for _, t := range traces {
			if err := writeTraceEvents(ctx, out, s, t, first); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeTraceEvents(ctx context.Context, out *bufio.Writer, s *model.Session, t *model.Trace, first model.Time) error {
	events, _ := keyaverages.FunctionEvents(t, s.Strings, keyaverages.Options{})
	raw := newRawTexts(s.Strings)
	var b []byte
	for i := range events {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b = appendFunctionEvent(b[:0], s, t, raw, events, i, first)
		if _, err := out.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func appendFunctionEvent(b []byte, s *model.Session, t *model.Trace, raw *rawTexts, events []keyaverages.FunctionEvent, i int,
	first model.Time) []byte {
	e := &events[i]
	micros := func(b []byte, key string, ns int64) []byte { return appendMicros(appendKey(b, key), ns) }
	b = append(b, '{')
	b = appendInt(b, "id", int64(i))
	if e.Parent >= 0 {
		b = appendInt(b, "parent", int64(e.Parent))
	}
	b = appendText(b, "name", e.Name)
	if t.Rank != model.NoRank {
		b = appendInt(b, "rank", int64(t.Rank))
	}
	b = micros(b, "start_us", int64(e.Start-first))
	if e.DeviceType == keyaverages.OnCPU {
		b = appendText(b, "device_type", "cpu")
		b = micros(b, "cpu_us", int64(e.CPU))
		b = micros(b, "self_cpu_us", int64(e.SelfCPU))
	} else {
		b = appendText(b, "device_type", "device")
	}
	if e.Event >= 0 {
		l := &t.Lanes[t.Events.Lane[e.Event]]
		b = appendID(appendKey(b, "pid"), s.Strings.Text(l.PID))
		b = appendID(appendKey(b, "tid"), s.Strings.Text(l.TID))
	}
	if e.Device != 0 {
		b = micros(b, "device_us", int64(e.Device))
		b = micros(b, "self_device_us", int64(e.SelfDevice))
	}
	for _, n := range [...]struct {
		key   string
		value int64
	}{
		{"cpu_bytes", e.CPUBytes}, {"self_cpu_bytes", e.SelfCPUBytes}, {"device_bytes", e.DeviceBytes},
		{"self_device_bytes", e.SelfDeviceBytes}, {"flops", e.Flops},
	} {
		if n.value != 0 {
			b = appendInt(b, n.key, n.value)
		}
	}
	if e.Shapes != 0 {
		b = raw.append(appendKey(b, "input_shapes"), e.Shapes)
	}
	if e.Event >= 0 {
		if module := t.Modules.At(e.Event); module != nil {
			b = appendText(b, "module", s.Strings.Text(module.Path))
		}
	}
	if stack := stackOf(events, i); len(stack) > 0 {
		b = appendText(b, "stack", strings.Join(stack, ";"))
	}
	return append(appendFunctionFlags(b, e), '}')
}

// appendFunctionFlags writes the flags that are set.
func appendFunctionFlags(b []byte, e *keyaverages.FunctionEvent) []byte {
	for _, flag := range [...]struct {
		key string
		set bool
	}{{"is_user_annotation", e.IsUserAnnotation}, {"is_python", e.IsPython}, {"is_async", e.IsAsync}} {
		if flag.set {
			b = strconv.AppendBool(appendKey(b, flag.key), true)
		}
	}
	return b
}
