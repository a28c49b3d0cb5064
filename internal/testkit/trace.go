package testkit

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Trace builds the text of a Kineto trace row by row. Times are nanoseconds and are written as microseconds with three
// digits, as PyTorch does since 2.4.
type Trace struct {
	rows []string
	keys []string
}

// Args are arguments of a row: keys and values in turn.
type Args []any

// NewTrace returns an empty trace.
func NewTrace() *Trace { return &Trace{} }

// Key adds a top-level key with a value that encoding/json can write.
func (t *Trace) Key(key string, value any) *Trace {
	t.keys = append(t.keys, fmt.Sprintf("%s: %s", encode(key), encode(value)))
	return t
}

// X adds a complete event.
func (t *Trace) X(cat, name string, pid, tid any, start, dur int64, args ...any) *Trace {
	return t.Raw(fmt.Sprintf(`{"ph": "X", "cat": %s, "name": %s, "pid": %s, "tid": %s, "ts": %s, "dur": %s, "args": {%s}}`,
		encode(cat), encode(name), encode(pid), encode(tid), micros(start), micros(dur), pairs(args)))
}

// Op adds an operator.
func (t *Trace) Op(name string, tid int, start, dur int64, args ...any) *Trace {
	return t.X("cpu_op", name, 100, tid, start, dur, args...)
}

// Launch adds a runtime call and the kernel that it launched on stream 7 of device 0.
func (t *Trace) Launch(kernel string, tid int, call, callDur, start, dur int64, correlation int) *Trace {
	t.X("cuda_runtime", "cudaLaunchKernel", 100, tid, call, callDur, "correlation", correlation)
	return t.X("kernel", kernel, 0, 7, start, dur, "device", 0, "stream", 7, "correlation", correlation)
}

// Memory adds an allocation (or, with negative bytes, a free).
func (t *Trace) Memory(tid int, at int64, bytes int64) *Trace {
	return t.Raw(fmt.Sprintf(`{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 100, "tid": %d, "ts": %s, "args": {"Device Type": 0, "Device Id": -1, "Addr": 1, "Bytes": %d}}`,
		tid, micros(at), bytes))
}

// Raw adds a row as written.
func (t *Trace) Raw(row string) *Trace {
	t.rows = append(t.rows, row)
	return t
}

// String is the text.
func (t *Trace) String() string {
	return "{\n  " + strings.Join(append(t.keys, `"traceEvents": [`), ",\n  ") + "\n    " + strings.Join(t.rows, ",\n    ") + "\n  ]\n}\n"
}

func pairs(args []any) string {
	var out []string
	for i := 0; i+1 < len(args); i += 2 {
		out = append(out, fmt.Sprintf("%s: %s", encode(args[i]), encode(args[i+1])))
	}
	return strings.Join(out, ", ")
}

func micros(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	return fmt.Sprintf("%s%d.%03d", sign, ns/1000, ns%1000)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test that passes what cannot be written is wrong
	}
	return string(b)
}
