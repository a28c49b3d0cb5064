package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// Row is one complete event as the slow reader sees it.
type Row struct {
	PID, TID   string
	Cat, Name  string
	Kind       model.Kind
	Stream     bool // on a device's row
	Other      bool // on a row that is neither thread nor stream
	Start, Dur int64
	Args       map[string]any
	Parent     int // index in Reference.Rows, -1 none
	Call       int // of device rows: the runtime call, -1 none
	Op         int // of runtime rows: the innermost operator around it, -1 none
}

// Reference is a trace as the slow reader sees it: rows by lane in the order of first appearance, by start, the longer first.
type Reference struct {
	Rows   []Row
	Memory int
	Base   int64
	slack  int64
}

var referenceKinds = map[string]model.Kind{
	"cpu_op": model.KindOp, "operator": model.KindOp, "user_annotation": model.KindAnnotation, "python_function": model.KindPython,
	"cuda_runtime": model.KindRuntime, "runtime": model.KindRuntime, "cuda_driver": model.KindRuntime, "xpu_runtime": model.KindRuntime,
	"xpu_driver": model.KindRuntime, "mtia_runtime": model.KindRuntime, "privateuse1_runtime": model.KindRuntime,
	"privateuse1_driver": model.KindRuntime, "glow_runtime": model.KindRuntime, "kernel": model.KindKernel,
	"mtia_ccp_events": model.KindKernel, "hpu_op": model.KindKernel, "gpu_memcpy": model.KindMemcpy, "memcpy": model.KindMemcpy,
	"gpu_memset": model.KindMemset, "memset": model.KindMemset, "gpu_user_annotation": model.KindGPUAnnotation,
	"user": model.KindGPUAnnotation, "cuda_sync": model.KindSync, "xpu_sync": model.KindSync, "cuda_event": model.KindDeviceEvent,
	"overhead": model.KindOverhead,
}

// ReadReference reads a well-formed trace slowly. Only complete events and memory events are understood.
func ReadReference(text []byte) (*Reference, error) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		return nil, err
	}
	ref := &Reference{slack: 1000}
	events, _ := root.([]any)
	if object, ok := root.(map[string]any); ok {
		events, _ = object["traceEvents"].([]any)
		if base, ok := object["baseTimeNanoseconds"].(json.Number); ok {
			ref.Base, _ = base.Int64()
		}
	}
	for _, e := range events {
		event, ok := e.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("an event is a %T", e)
		}
		ref.add(event)
	}
	ref.order()
	ref.link()
	return ref, nil
}

func (ref *Reference) add(e map[string]any) {
	for _, key := range []string{"ts", "dur"} {
		if n, ok := e[key].(json.Number); ok && strings.Contains(n.String(), ".") {
			ref.slack = 0
		}
	}
	args, _ := e["args"].(map[string]any)
	if e["ph"] == "i" && e["name"] == "[memory]" && args["Bytes"] != nil {
		ref.Memory++
	}
	if e["ph"] != "X" {
		return
	}
	start, ok := nanoseconds(e["ts"])
	if !ok {
		return
	}
	dur, _ := nanoseconds(e["dur"])
	row := Row{PID: plain(e["pid"]), TID: plain(e["tid"]), Cat: plain(e["cat"]), Name: plain(e["name"]), Start: start, Dur: dur, Args: args,
		Parent: -1, Call: -1, Op: -1}
	row.Kind = referenceKinds[strings.ToLower(row.Cat)]
	switch {
	case row.Cat == "" && row.PID == "CPU functions":
		row.Kind = model.KindOp
	case row.Cat == "" && row.PID == "CUDA functions":
		row.Kind = model.KindKernel
	case strings.EqualFold(row.Cat, "operator") && (strings.HasPrefix(row.Name, "ProfilerStep#") ||
		strings.HasPrefix(row.Name, "Optimizer.")):
		row.Kind = model.KindAnnotation // one category held both
	}
	if dur < 0 || row.Kind.Device() && start == 0 && dur == 0 {
		return
	}
	_, pidIsNumber := e["pid"].(json.Number)
	_, hasStream := args["stream"].(json.Number)
	switch {
	case row.Kind.Device() || row.Kind == model.KindGPUAnnotation || row.Kind == model.KindSync || row.Kind == model.KindDeviceEvent:
		row.Stream = true
	case row.Kind == model.KindOther && hasStream:
		row.Stream = true
	case row.Kind == model.KindOverhead, row.Kind == model.KindOther && !pidIsNumber && !isInteger(row.PID):
		row.Other = true
	}
	ref.Rows = append(ref.Rows, row)
}

func isInteger(s string) bool {
	v, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(v, 10) == s
}

// nanoseconds turns decimal microseconds into nanoseconds exactly, rounding halves away from zero.
func nanoseconds(v any) (int64, bool) {
	if v == nil {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(plain(v))
	if !ok {
		return 0, false
	}
	r.Mul(r, big.NewRat(1000, 1))
	half := big.NewRat(1, 2)
	if r.Sign() < 0 {
		half.Neg(half)
	}
	r.Add(r, half)
	return new(big.Int).Quo(r.Num(), r.Denom()).Int64(), true
}

func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}

type laneName struct {
	pid, tid      string
	stream, other bool
}

func (r *Row) lane() laneName { return laneName{r.PID, r.TID, r.Stream, r.Other} }

func (ref *Reference) order() {
	lanes := map[laneName]int{}
	for i := range ref.Rows {
		if _, ok := lanes[ref.Rows[i].lane()]; !ok {
			lanes[ref.Rows[i].lane()] = len(lanes)
		}
	}
	sort.SliceStable(ref.Rows, func(i, j int) bool {
		a, b := &ref.Rows[i], &ref.Rows[j]
		if x, y := lanes[a.lane()], lanes[b.lane()]; x != y {
			return x < y
		}
		if a.Start != b.Start {
			return a.Start < b.Start
		}
		return a.Dur > b.Dur
	})
}

// link searches for parents and calls one by one. longest[i] bounds the search: no row up to i ends later.
func (ref *Reference) link() {
	rows := ref.Rows
	longest := make([]int64, len(rows))
	calls := map[string][]int{}
	for i := range rows {
		r := &rows[i]
		end := r.Start + r.Dur
		longest[i] = end
		if i > 0 && rows[i-1].lane() == r.lane() {
			longest[i] = max(end, longest[i-1])
		}
		if r.Stream || r.Other {
			continue
		}
		for k := i - 1; k >= 0 && rows[k].lane() == r.lane() && longest[k]+ref.slack >= end && longest[k] > r.Start; k-- {
			if e := rows[k].Start + rows[k].Dur; e+ref.slack >= end && e > r.Start {
				r.Parent = k
				break
			}
		}
		if r.Kind == model.KindRuntime {
			for r.Op = r.Parent; r.Op >= 0 && rows[r.Op].Kind != model.KindOp; r.Op = rows[r.Op].Parent {
			}
			if c := plain(r.Args["correlation"]); c != "" && c != "0" {
				calls[c] = append(calls[c], i)
			}
		}
	}
	for i := range rows {
		if k := rows[i].Kind; k.Device() || k == model.KindSync || k == model.KindDeviceEvent {
			rows[i].Call = ref.callOf(&rows[i], calls[plain(rows[i].Args["correlation"])])
		}
	}
}

// callOf is the last call that began by the row's start, or the first; none if the row began a millisecond before it.
func (ref *Reference) callOf(r *Row, calls []int) int {
	best := -1
	sort.SliceStable(calls, func(i, j int) bool { return ref.Rows[calls[i]].Start < ref.Rows[calls[j]].Start })
	for _, c := range calls {
		if best < 0 || ref.Rows[c].Start <= r.Start {
			best = c
		}
	}
	if best >= 0 && r.Kind.Device() && ref.Rows[best].Start-r.Start > 1_000_000 {
		return -1
	}
	return best
}
