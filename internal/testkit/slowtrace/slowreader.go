package slowtrace

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// This is the second, slow, obvious reader of Kineto traces: encoding/json, maps and sorting, no speed. Package
// ingest's reader must give the same model; the analyses are developed against this one.

// Event is an event as the file has it.
type Event struct {
	Ph, Cat, Name string
	PID           any `json:"pid"`
	TID           any `json:"tid"`
	TS, Dur       json.Number
	Args          map[string]json.RawMessage
}

// File is what a trace file holds.
type File struct {
	Base       json.Number `json:"baseTimeNanoseconds"`
	Events     []Event     `json:"traceEvents"`
	Devices    []Device    `json:"deviceProperties"`
	Distribute struct {
		Backend string          `json:"backend"`
		Rank    json.RawMessage `json:"rank"`
		World   json.RawMessage `json:"world_size"`
	} `json:"distributedInfo"`
}

// Device is a device that the file names.
type Device struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Memory int64  `json:"totalGlobalMem"`
	Major  int    `json:"computeMajor"`
	Minor  int    `json:"computeMinor"`
	SMs    int    `json:"numSms"`
}

func slowKind(cat string) model.Kind {
	switch strings.ToLower(cat) {
	case "cpu_op", "operator":
		return model.KindOp
	case "user_annotation":
		return model.KindAnnotation
	case "python_function":
		return model.KindPython
	case "cuda_runtime", "cuda_driver", "runtime", "xpu_runtime", "mtia_runtime":
		return model.KindRuntime
	case "kernel":
		return model.KindKernel
	case "gpu_memcpy", "memcpy":
		return model.KindMemcpy
	case "gpu_memset", "memset":
		return model.KindMemset
	case "gpu_user_annotation", "user":
		return model.KindGPUAnnotation
	case "cuda_sync":
		return model.KindSync
	case "cuda_event":
		return model.KindDeviceEvent
	case "overhead":
		return model.KindOverhead
	}
	return model.KindOther
}

// slowTime converts decimal microseconds to nanoseconds without a float.
func slowTime(n json.Number) int64 {
	whole, frac, _ := strings.Cut(string(n), ".")
	us, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		f, _ := n.Float64()
		return int64(math.Round(f * 1000))
	}
	frac = (frac + "000")[:3]
	ns, _ := strconv.ParseInt(frac, 10, 64)
	return us*1000 + ns
}

func slowInt(args map[string]json.RawMessage, keys ...string) (int64, bool) {
	for _, k := range keys {
		if raw, ok := args[k]; ok {
			if v, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64); err == nil {
				return v, true
			}
		}
	}
	return 0, false
}

func slowText(args map[string]json.RawMessage, keys ...string) string {
	for _, k := range keys {
		if raw, ok := args[k]; ok {
			var s string
			if json.Unmarshal(raw, &s) == nil {
				return s
			}
			return string(raw)
		}
	}
	return ""
}

// Read reads one trace, plain or gzipped.
func Read(tb testing.TB, path string, s *model.Strings) *model.Trace {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Skipf("no trace to read: %v", err)
	}
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			tb.Fatal(err)
		}
		if raw, err = io.ReadAll(z); err != nil {
			tb.Fatal(err)
		}
	}
	var file File
	if err := json.Unmarshal(raw, &file); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return Build(&file, s)
}

type slowRow struct {
	Event
	kind       model.Kind
	start, dur int64
	lane       model.LaneID
	file       int
}

// Build makes the columns of a file.
func Build(file *File, s *model.Strings) *model.Trace {
	t := &model.Trace{Process: -1, Window: -1, Rank: model.NoRank}
	if v, err := strconv.Atoi(strings.Trim(string(file.Distribute.Rank), `"`)); err == nil {
		t.Rank = v
	}
	t.World, _ = strconv.Atoi(strings.Trim(string(file.Distribute.World), `"`))
	for _, d := range file.Devices {
		t.Header.Devices = append(t.Header.Devices, model.GPU{Index: d.ID, Name: d.Name, MemoryBytes: d.Memory, ComputeMajor: d.Major,
			ComputeMinor: d.Minor, SMs: d.SMs})
	}
	base, _ := file.Base.Int64()
	lanes := map[string]model.LaneID{}
	laneOf := func(e *Event, device bool) model.LaneID {
		key := fmt.Sprint(device, e.PID, "/", e.TID)
		id, ok := lanes[key]
		if !ok {
			id = model.LaneID(len(t.Lanes))
			lanes[key] = id
			tid, _ := strconv.ParseInt(strings.TrimPrefix(fmt.Sprint(e.TID), "stream "), 10, 64)
			lane := model.Lane{PID: s.Intern(fmt.Sprint(e.PID)), TID: s.Intern(fmt.Sprint(e.TID)), Device: -1, Thread: tid}
			if device {
				dev, _ := strconv.Atoi(fmt.Sprint(e.PID))
				lane.Kind, lane.Device, lane.Stream, lane.Thread = model.LaneStream, int32(dev), tid, 0
			}
			t.Lanes = append(t.Lanes, lane)
		}
		return id
	}
	var rows []slowRow
	for i, e := range file.Events {
		kind := slowKind(e.Cat)
		if e.Ph == "i" && e.Name == "[memory]" {
			slowMemory(t, &e, base, laneOf(&e, false))
			continue
		}
		if e.Ph != "X" || kind == model.KindOther {
			continue
		}
		if kind == model.KindOp && (strings.HasPrefix(e.Name, "ProfilerStep#") || strings.HasPrefix(e.Name, "Optimizer.")) {
			kind = model.KindAnnotation // up to 1.9 both had one category
		}
		device := kind.Device() || kind == model.KindGPUAnnotation || kind == model.KindSync || kind == model.KindDeviceEvent
		rows = append(rows, slowRow{e, kind, base + slowTime(e.TS), max(0, slowTime(e.Dur)), laneOf(&e, device), i})
	}
	slices.SortFunc(rows, func(a, b slowRow) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur), cmp.Compare(a.file, b.file))
	})
	for i := range rows {
		slowAppend(t, s, &rows[i])
	}
	slowFinish(t, s)
	return t
}

func slowMemory(t *model.Trace, e *Event, base int64, lane model.LaneID) {
	m := &t.Memory
	bytes, _ := slowInt(e.Args, "Bytes")
	total, _ := slowInt(e.Args, "Total Allocated")
	reserved, _ := slowInt(e.Args, "Total Reserved")
	device, _ := slowInt(e.Args, "Device Type")
	index, _ := slowInt(e.Args, "Device Id")
	addr, _ := strconv.ParseUint(string(e.Args["Addr"]), 10, 64)
	m.Time = append(m.Time, model.Time(base+slowTime(e.TS)))
	m.Lane, m.Addr, m.Bytes = append(m.Lane, lane), append(m.Addr, addr), append(m.Bytes, bytes)
	m.Allocated, m.Reserved = append(m.Allocated, total), append(m.Reserved, reserved)
	m.DeviceType, m.DeviceIndex = append(m.DeviceType, int8(device)), append(m.DeviceIndex, int8(index))
}

func slowAppend(t *model.Trace, s *model.Strings, r *slowRow) {
	ev := &t.Events
	ev.Start, ev.Dur = append(ev.Start, model.Time(r.start)), append(ev.Dur, model.Dur(r.dur))
	ev.Name, ev.Kind, ev.Lane = append(ev.Name, s.Intern(r.Name)), append(ev.Kind, r.kind), append(ev.Lane, r.lane)
	ev.Parent, ev.Link, ev.Op = append(ev.Parent, model.NoEvent), append(ev.Link, model.NoEvent), append(ev.Op, model.NoEvent)
	detail := -1
	text := func(keys ...string) model.Str { return s.Intern(slowText(r.Args, keys...)) }
	number := func(missing int64, keys ...string) int64 {
		if v, ok := slowInt(r.Args, keys...); ok {
			return v
		}
		return missing
	}
	external := number(0, "External id", "external id")
	switch {
	case r.kind == model.KindOp || r.kind == model.KindAnnotation:
		detail = len(ev.OpDetails)
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{External: external, Sequence: number(-1, "Sequence number"),
			FwdThread: int32(number(0, "Fwd thread id")), Args: uint32(len(ev.OpArgs))})
		ev.OpArgs = append(ev.OpArgs, model.OpArgs{
			Shapes: text("Input Dims", "Input dims"), Types: text("Input type"), Concrete: text("Concrete Inputs"),
			Stack: text("Call stack")})
	case r.kind == model.KindPython:
		detail = len(ev.PythonDetails)
		ev.PythonDetails = append(ev.PythonDetails, model.PythonDetail{ID: number(0, "Python id"), ParentID: number(-1, "Python parent id"),
			ModuleID: number(-1, "Python module id"), From: text("CallFrom")})
	case r.kind == model.KindRuntime:
		detail = len(ev.RuntimeDetails)
		ev.RuntimeDetails = append(ev.RuntimeDetails, model.RuntimeDetail{Correlation: number(0, "correlation"), External: external})
	case r.kind != model.KindOverhead:
		detail = len(ev.DeviceDetails)
		ev.DeviceDetails = append(ev.DeviceDetails, model.DeviceDetail{Correlation: number(0, "correlation"), External: external,
			Args: uint32(len(ev.DeviceArgs))})
		d := model.DeviceArgs{Device: int32(number(-1, "device")), Stream: number(-1, "stream"),
			Bytes: number(-1, "bytes"), Occupancy: float32(number(-1, "est. achieved occupancy %")),
			WaitCorrelation: number(-1, "wait_on_cuda_event_record_corr_id"), WaitStream: number(-1, "wait_on_stream"),
			GraphNode: number(0, "graph node id")}
		if bps, err := strconv.ParseFloat(string(r.Args["blocks per SM"]), 32); err == nil {
			d.BlocksPerSM = float32(bps)
		}
		if bw, err := strconv.ParseFloat(string(r.Args["memory bandwidth (GB/s)"]), 32); err == nil {
			d.BandwidthGBs = float32(bw)
		}
		if _, ok := r.Args["Collective name"]; ok {
			raw, _ := json.Marshal(r.Args)
			d.Collective = s.Intern(string(raw))
		}
		ev.DeviceArgs = append(ev.DeviceArgs, d)
	}
	ev.Detail = append(ev.Detail, int32(detail))
}

// slowFinish fills parents, links, operators, lanes' ranges and features.
func slowFinish(t *model.Trace, s *model.Strings) {
	ev := &t.Events
	n := ev.Len()
	for i := range t.Lanes {
		t.Lanes[i].FirstEvent, t.Lanes[i].EndEvent = model.EventID(n), 0
	}
	byCorrelation := map[int64]model.EventID{}
	var stack []model.EventID
	for i := range n {
		id, lane := model.EventID(i), &t.Lanes[ev.Lane[i]]
		lane.FirstEvent, lane.EndEvent = min(lane.FirstEvent, id), id+1
		if lane.FirstEvent == id {
			stack = stack[:0]
		}
		if lane.Kind == model.LaneThread {
			for len(stack) > 0 && (ev.Start[id] >= ev.End(stack[len(stack)-1]) || ev.End(id) > ev.End(stack[len(stack)-1])) {
				stack = stack[:len(stack)-1]
			}
			if len(stack) > 0 {
				ev.Parent[id] = stack[len(stack)-1]
			}
			stack = append(stack, id)
		}
		if ev.Kind[i] == model.KindRuntime {
			byCorrelation[ev.RuntimeDetails[ev.Detail[i]].Correlation] = id
			for p := ev.Parent[id]; p != model.NoEvent; p = ev.Parent[p] {
				if ev.Kind[p] == model.KindOp {
					ev.Op[id] = p
					break
				}
			}
		}
	}
	for i := range t.Lanes {
		if lane := &t.Lanes[i]; lane.EndEvent == 0 {
			lane.FirstEvent = 0
		}
	}
	slowLink(t, byCorrelation)
	slowSortMemory(t)
	slowSteps(t, s)
}

// slowLink links work of the device with its launch and operator.
func slowLink(t *model.Trace, byCorrelation map[int64]model.EventID) {
	ev := &t.Events
	linked, named := 0, 0
	for i := range ev.Len() {
		if k := ev.Kind[i]; !k.Device() && k != model.KindSync {
			continue
		}
		d := ev.DeviceDetails[ev.Detail[i]]
		run, ok := byCorrelation[d.Correlation]
		if !ok {
			continue
		}
		ev.Link[i], ev.Op[i] = run, ev.Op[run]
		if ev.Link[run] == model.NoEvent {
			ev.Link[run] = model.EventID(i)
		}
		if op := ev.Op[run]; op != model.NoEvent {
			linked++
			if d.External != 0 && ev.OpDetails[ev.Detail[op]].External == d.External {
				named++
			}
		}
	}
	t.Features = model.Features{Device: linked > 0, Memory: len(t.Memory.Time) > 0, ExternalLinks: named*2 > linked || linked == 0,
		Shapes: true, PythonStacks: len(ev.PythonDetails) > 0}
}

func slowSortMemory(t *model.Trace) {
	m := &t.Memory
	order := make([]int, len(m.Time))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Time[a], m.Time[b]) })
	m.Time, m.Lane, m.Addr, m.Bytes = pick(m.Time, order), pick(m.Lane, order), pick(m.Addr, order), pick(m.Bytes, order)
	m.Allocated, m.Reserved = pick(m.Allocated, order), pick(m.Reserved, order)
	m.DeviceType, m.DeviceIndex = pick(m.DeviceType, order), pick(m.DeviceIndex, order)
}

func pick[T any](in []T, order []int) []T {
	out := make([]T, len(in))
	for i, at := range order {
		out[i] = in[at]
	}
	return out
}

func slowSteps(t *model.Trace, s *model.Strings) {
	ev := &t.Events
	t.From, t.To = math.MaxInt64, 0
	for i := range ev.Len() {
		t.From, t.To = min(t.From, ev.Start[i]), max(t.To, ev.End(model.EventID(i)))
		if name := s.Text(ev.Name[i]); ev.Kind[i] == model.KindAnnotation && strings.HasPrefix(name, "ProfilerStep#") {
			n, _ := strconv.ParseInt(strings.TrimPrefix(name, "ProfilerStep#"), 10, 64)
			t.Steps = append(t.Steps, model.TraceStep{Number: n, Start: ev.Start[i], End: ev.End(model.EventID(i)),
				Source: model.StepProfiler})
		}
	}
	slices.SortFunc(t.Steps, func(a, b model.TraceStep) int { return cmp.Compare(a.Start, b.Start) })
}
