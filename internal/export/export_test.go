package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// traceEvent is a row of a Chrome trace as any reader sees it.
type traceEvent struct {
	Ph, Cat, Name string
	PID, TID      any
	TS, Dur       *float64
	ID            *int64
	BP            string
	Args          map[string]any
}

type chromeFile struct {
	Schema      int   `json:"schemaVersion"`
	Base        int64 `json:"baseTimeNanoseconds"`
	TraceName   string
	TraceEvents []traceEvent
}

// validate checks a Chrome trace without the code that wrote it: well-formed JSON, known phases, times, and flows that
// begin and end at most once each and never go back in time by more than devices' clocks differ.
func validate(t *testing.T, data []byte) chromeFile {
	t.Helper()
	var file chromeFile
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("not JSON: %v", err)
	}
	starts, ends := map[string]int{}, map[string]int{}
	for i, e := range file.TraceEvents {
		if e.Ph != "M" && (e.TS == nil || *e.TS < 0) {
			t.Fatalf("event %d (%s) has no time: %+v", i, e.Name, e)
		}
		flow := e.Cat
		if e.ID != nil {
			b, _ := json.Marshal(*e.ID)
			flow += string(b)
		}
		switch e.Ph {
		case "X":
			if e.Dur == nil || *e.Dur < 0 || e.Cat == "" || e.PID == nil || e.TID == nil {
				t.Fatalf("event %d is incomplete: %+v", i, e)
			}
		case "s":
			starts[flow]++
		case "f":
			ends[flow]++
			if e.BP != "e" {
				t.Fatalf("flow end %d is not bound to its slice: %+v", i, e)
			}
		case "M", "i", "C":
		default:
			t.Fatalf("event %d has phase %q", i, e.Ph)
		}
	}
	for flow := range ends {
		if starts[flow] == 0 {
			t.Errorf("flow %s ends without a start", flow)
		}
	}
	for flow, n := range starts {
		if n > 1 {
			t.Errorf("flow %s starts %d times", flow, n)
		}
	}
	return file
}

// gpuSession is an operator that launches a kernel on stream 7, its backward operator, an allocation and a counter.
func gpuSession(rank int) *model.Session {
	s := pythonSession()
	t := s.Traces[0]
	t.Rank, t.World = rank, 2
	t.From, t.To = 5e9, 5e9+1000
	t.Header = model.Header{Backend: "nccl", TraceName: "x.json", Metadata: map[string]string{
		"user": `{"a": [1, 2]}`, "broken": `{"cut`, "with_stack": "1", "traceName": `"old"`,
	}}
	e := &t.Events
	*e = model.Events{}
	str := s.Strings.Intern
	add := func(kind model.Kind, lane model.LaneID, name string, start, dur int64, detail int32, link model.EventID) {
		e.Start = append(e.Start, model.Time(5e9+start))
		e.Dur = append(e.Dur, model.Dur(dur))
		e.Name = append(e.Name, str(name))
		e.Kind = append(e.Kind, kind)
		e.Lane = append(e.Lane, lane)
		e.Detail = append(e.Detail, detail)
		e.Link = append(e.Link, link)
		e.Op = append(e.Op, model.NoEvent)
		e.Parent = append(e.Parent, model.NoEvent)
	}
	add(model.KindOp, 0, "aten::mm \"quoted\" \x01 \xff", 0, 100, 0, model.NoEvent)
	add(model.KindRuntime, 0, "cudaLaunchKernel", 10, 5, 0, 3)
	add(model.KindOp, 0, "MmBackward0", 200, 50, 1, model.NoEvent)
	add(model.KindKernel, 1, "gemm", 20, 60, 0, 1)
	e.OpDetails = []model.OpDetail{
		{External: 1, Sequence: 4, Args: 1},
		{External: 2, Sequence: 4, FwdThread: 1},
	}
	e.OpArgs = []model.OpArgs{
		{}, {Shapes: str(`[[2, 3], []]`), Types: str(`["float`), Extra: str(`{"kernel_file": "a.py", "n": 3}`), Stack: str("a.py(1): f")},
	}
	e.RuntimeDetails = []model.RuntimeDetail{{Correlation: 99, External: 1}}
	e.DeviceDetails = []model.DeviceDetail{{Correlation: 99, External: 1}}
	e.DeviceArgs = []model.DeviceArgs{
		{Stream: 7, Grid: [3]int32{4, 1, 1}, Block: [3]int32{32, 1, 1}, Occupancy: 50, Bytes: -1, Collective: str(`{"dtype": "Float"}`)},
	}
	t.Lanes = []model.Lane{
		{Kind: model.LaneThread, PID: str("12"), TID: str("12"), Name: str("thread 12 (python)"), Device: -1, EndEvent: 3},
		{Kind: model.LaneStream, PID: str("0"), TID: str("7"), Stream: 7, FirstEvent: 3, EndEvent: 4},
	}
	t.Memory = model.MemoryEvents{
		Time: []model.Time{5e9 + 5}, Lane: []model.LaneID{0}, Addr: []uint64{1 << 63}, Bytes: []int64{512}, Allocated: []int64{512},
		Reserved: []int64{1024}, DeviceType: []int8{1}, DeviceIndex: []int8{0},
	}
	t.Counters = []model.CounterEvent{{Time: 5e9 + 7, Name: str("Power (W)"), Key: 0, PID: str("GPU 0 Counters"), Value: 70.5}}
	return s
}

func exportChrome(t *testing.T, s *model.Session) chromeFile {
	t.Helper()
	var out bytes.Buffer
	if err := writeChrome(context.Background(), s, &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	return validate(t, out.Bytes())
}

func TestChromeKeepsWhatTheModelHolds(t *testing.T) {
	file := exportChrome(t, gpuSession(1))
	if file.Base != 5e9 || file.TraceName != "x.json" {
		t.Errorf("base %d, name %q", file.Base, file.TraceName)
	}
	byName := map[string]traceEvent{}
	for _, e := range file.TraceEvents {
		byName[e.Ph+" "+e.Cat+" "+e.Name] = e
	}
	op := byName["X cpu_op aten::mm \"quoted\" \x01 \ufffd"]
	if op.Args["Input type"] != `["float` || op.Args["kernel_file"] != "a.py" || op.Args["Call stack"] != "a.py(1): f" {
		t.Errorf("operator %+v", op)
	}
	kernel := byName["X kernel gemm"]
	if *kernel.TS != 0.020 || *kernel.Dur != 0.060 || kernel.Args["correlation"] != 99.0 || kernel.Args["dtype"] != "Float" ||
		kernel.TID != 7.0 {
		t.Errorf("kernel %+v", kernel)
	}
	for _, name := range []string{"s ac2g ac2g", "f ac2g ac2g", "s fwdbwd fwdbwd", "f fwdbwd fwdbwd", "C  Power (W)",
		"i cpu_instant_event [memory]", "i  Record Window End"} {
		if _, ok := byName[name]; !ok {
			t.Errorf("no row %q", name)
		}
	}
	var top map[string]any
	var out bytes.Buffer
	writeChrome(context.Background(), gpuSession(1), &out, Options{Rank: model.NoRank})
	json.Unmarshal(out.Bytes(), &top)
	if top["broken"] != `{"cut` || top["with_stack"] != 1.0 || top["user"].(map[string]any)["a"] == nil ||
		top["distributedInfo"].(map[string]any)["rank"] != 1.0 {
		t.Errorf("metadata %+v", top)
	}
}

// TestChromeKeepsRanksApart merges two ranks that have the same process numbers, devices and correlation ids.
func TestChromeKeepsRanksApart(t *testing.T) {
	a, b := gpuSession(0), gpuSession(1)
	b.Traces = append(a.Traces, b.Traces...)
	file := exportChrome(t, b)
	pids := map[any]bool{}
	for _, e := range file.TraceEvents {
		if e.Ph == "X" {
			pids[e.PID] = true
		}
	}
	if len(pids) != 4 {
		t.Errorf("processes %v, want 2 programs and 2 devices", pids)
	}
}

// TestChromeKeepsWindowsTogether merges two windows of one process: they are one process in the output.
func TestChromeKeepsWindowsTogether(t *testing.T) {
	s := gpuSession(0)
	second := *s.Traces[0]
	s.Traces = append(s.Traces, &second)
	s.Processes = []*model.Process{
		{PID: 12, Steps: []model.Step{{Number: 3, Start: 5e9, End: 5e9 + 500}}},
		{PID: 77, Role: model.RoleWorker, Spans: []model.Span{{Kind: model.SpanFetch, Start: 4.5e9, End: 4.6e9}}},
	}
	s.Traces[0].Process, s.Traces[1].Process = 0, 0
	pids := map[any]bool{}
	steps := 0
	for _, e := range exportChrome(t, s).TraceEvents {
		if e.Ph == "X" {
			pids[e.PID] = true
		}
		if e.Cat == "bottleneck" {
			steps++
		}
	}
	if len(pids) != 3 || steps != 2 {
		t.Errorf("processes %v and %d rows, want the program, its device and a worker; a step and a fetch", pids, steps)
	}
}

func TestTensorboardNamesAndRepeats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	s := gpuSession(0)
	s.Traces = append(s.Traces, s.Traces[0])
	f, err := Find("tensorboard")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := WriteFile(context.Background(), s, f, dir, Options{Rank: model.NoRank, Gzip: true}); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 2 {
		t.Fatalf("%d files, want one per trace", len(files))
	}
	for _, f := range files {
		if !regexp.MustCompile(`^rank0_12\.\d+\.pt\.trace\.json\.gz$`).MatchString(f.Name()) {
			t.Errorf("file %s", f.Name())
		}
	}
}

func TestWriteFileLeavesTheOldFileOnFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.prof")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, _ := Find("pstats")
	err := WriteFile(context.Background(), &model.Session{Strings: &model.Strings{}}, f, path, Options{Rank: model.NoRank})
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) {
		t.Errorf("error %v", err)
	}
	files, _ := os.ReadDir(filepath.Dir(path))
	if old, _ := os.ReadFile(path); string(old) != "old" || len(files) != 1 {
		t.Errorf("the old file is %q, %d files are there", old, len(files))
	}
}

func TestFindNamesTheFormats(t *testing.T) {
	if _, err := Find("crome"); !errors.Is(err, ErrUnknownFormat) || !strings.Contains(err.Error(), "chrome") {
		t.Errorf("error %v", err)
	}
	for _, f := range Formats() {
		if f.Description == "" || f.Write == nil {
			t.Errorf("format %s is incomplete", f.Name)
		}
	}
}

func TestExportStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := writeChrome(ctx, gpuSession(0), &bytes.Buffer{}, Options{Rank: model.NoRank}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestLightningTables(t *testing.T) {
	s := &model.Session{Strings: &model.Strings{}}
	counters := map[string]float64{"action_count:run_training_epoch": 1, "action_ns:run_training_epoch": 5e8}
	for rank := range 2 {
		s.Processes = append(s.Processes, &model.Process{Rank: rank, WorldSize: 2, Start: 1e9, End: 2e9, Counters: counters})
	}
	s.Processes = append(s.Processes, &model.Process{Rank: model.NoRank})
	var out bytes.Buffer
	if err := writeLightning(context.Background(), s, &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "FIT Profiler Report") != 2 || !strings.Contains(text, "rank: 1\n") ||
		!strings.Contains(text, "|  50.0 ") {
		t.Errorf("%s", text)
	}
	err := writeLightning(context.Background(), gpuSession(0), &out, Options{Rank: model.NoRank})
	var unavailable *UnavailableError
	if !errors.As(err, &unavailable) {
		t.Errorf("error %v", err)
	}
}

// TestChromeWithoutTraces: a run that was timed but not traced still has its steps.
func TestChromeWithoutTraces(t *testing.T) {
	s := &model.Session{Strings: &model.Strings{}, Processes: []*model.Process{{PID: 5, Steps: []model.Step{{Start: 7e9, End: 8e9}}}}}
	rows := 0
	for _, e := range exportChrome(t, s).TraceEvents {
		if e.Ph == "X" && *e.Dur == 1e6 {
			rows++
		}
	}
	if rows != 1 {
		t.Errorf("%d steps, want 1", rows)
	}
	s.Processes = nil
	var unavailable *UnavailableError
	if err := writeChrome(context.Background(), s, &bytes.Buffer{}, Options{Rank: model.NoRank}); !errors.As(err, &unavailable) {
		t.Errorf("error %v", err)
	}
}
