package view

import (
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bottleneck/internal/units"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tracesFolder holds the collection of real traces beside the repository.
const tracesFolder = "../../../shared/traces"

func realTrace(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(tracesFolder, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no collection of real traces: %v", err)
	}
	return path
}

// realReport builds a trace's report and checks what holds for every one: the document is valid, the text fits.
func realReport(t *testing.T, path string) (*report.Report, string) {
	t.Helper()
	s, err := ingest.Open(context.Background(), []string{path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := report.Build(s, report.Options{Path: "t"})
	if len(r.Unread) > 0 {
		t.Errorf("not made: %v", r.Unread)
	}
	validDocument(t, r)
	var b bytes.Buffer
	if err := WriteText(&b, r, TextOptions{All: true, Width: 100}); err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if units.TextWidth(l) > 100 {
			t.Errorf("%d columns: %s", units.TextWidth(l), l)
		}
	}
	return r, b.String()
}

// rawEvent is an event as the file has it, read without this project's readers.
type rawEvent struct {
	Ph, Cat, Name string
	Dur           float64
	Args          struct {
		Stream     json.Number
		Bytes      float64
		Dims       json.RawMessage `json:"Input Dims"`
		Total      int64           `json:"Total Allocated"`
		DeviceType int             `json:"Device Type"`
	}
}

func rawEvents(t *testing.T, path string) []rawEvent {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []json.RawMessage `json:"traceEvents"`
	}
	if err := json.NewDecoder(z).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	var out []rawEvent
	for _, text := range doc.TraceEvents {
		var e rawEvent
		if json.Unmarshal(text, &e) == nil { // metadata has arguments of other types
			out = append(out, e)
		}
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(math.Abs(a), math.Abs(b)) }

func TestCopiesAndStreamsOfARealTrace(t *testing.T) {
	path := realTrace(t, "hta-critical-path/alexnet_a100.json.gz")
	r, text := realReport(t, path)
	type sum struct {
		n         int64
		us, bytes float64
	}
	copies, streams := map[string]sum{}, map[string]sum{}
	for _, e := range rawEvents(t, path) {
		device := e.Cat == "kernel" || strings.HasPrefix(e.Cat, "gpu_mem")
		if e.Ph != "X" || !device {
			continue
		}
		if e.Cat != "kernel" {
			c := copies[e.Name]
			copies[e.Name] = sum{c.n + 1, c.us + e.Dur, c.bytes + e.Args.Bytes}
		}
		s := streams[e.Args.Stream.String()]
		streams[e.Args.Stream.String()] = sum{s.n + 1, s.us + e.Dur, 0}
	}
	if len(copies) == 0 || len(r.Copies) != len(copies) || len(r.Streams) != len(streams) {
		t.Fatalf("%d copies and %d streams, the file has %d and %d", len(r.Copies), len(r.Streams), len(copies), len(streams))
	}
	for _, c := range r.Copies {
		if want := copies[c.Name]; c.Count != want.n || !near(c.Us, want.us) || !near(float64(report.ValueOr(c.Bytes, 0)), want.bytes) ||
			c.Pageable != strings.Contains(c.Name, "Pageable") {
			t.Errorf("%+v, the file has %+v", c, want)
		}
	}
	for _, s := range r.Streams {
		if want := streams[units.Count(s.Stream)]; s.Count != want.n || !near(s.BusyUs, want.us) {
			t.Errorf("%+v, the file has %+v", s, want)
		}
	}
	for _, part := range []string{"HtoD (Pageable -> Device)", "\nStreams", "\nKernel sequences", "\nParts of traced steps"} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q", part)
		}
	}
	p := r.StepParts[0]
	if sum := p.KernelUs + p.MemcpyUs + p.MemsetUs + p.CommunicationUs + p.RuntimeUs + p.DataLoaderUs + p.CPUOpUs +
		p.OtherUs; !near(sum, p.Us) {
		t.Errorf("parts sum to %v of %v µs", sum, p.Us)
	}
}

// matmulFlops is 2·m·n·k of a product's two matrices or batches of them.
func matmulFlops(dims json.RawMessage, skip int) int64 {
	var shapes [][]int64
	if json.Unmarshal(dims, &shapes) != nil || len(shapes) < skip+2 {
		return 0
	}
	flops := int64(2)
	for _, n := range shapes[skip] {
		flops *= n
	}
	b := shapes[skip+1]
	return flops * b[len(b)-1]
}

func TestArithmeticAndPathOfEightRanks(t *testing.T) {
	folder := realTrace(t, "megatron-tp8-a100")
	r, text := realReport(t, folder)
	if len(r.Roofline) != 8 || len(r.Ranks) != 8 {
		t.Fatalf("%d rooflines, %d ranks", len(r.Roofline), len(r.Ranks))
	}
	files, err := filepath.Glob(filepath.Join(folder, "megatron_kineto_*.json.gz"))
	if err != nil || len(files) != 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	want := int64(0)
	for _, e := range rawEvents(t, files[0]) {
		switch e.Name {
		case "aten::mm", "aten::bmm":
			want += matmulFlops(e.Args.Dims, 0)
		case "aten::baddbmm", "aten::addmm":
			want += matmulFlops(e.Args.Dims, 1)
		}
	}
	f := r.Roofline[0]
	if f.Flops != want || want == 0 {
		t.Errorf("%d flops, the file's products have %d", f.Flops, want)
	}
	if mfu := float64(want) / (312e6 * f.SpanUs); f.MFU == nil || !near(*f.MFU, mfu) { // 312 TFLOP/s of an A100 in bf16
		t.Errorf("MFU %v, want %v", report.ValueOr(f.MFU, -1), mfu)
	}
	share, us := 0.0, 0.0
	for _, c := range r.CriticalRanks {
		share += c.Share
		us += c.Us
	}
	kinds := 0.0
	for _, c := range r.CriticalPath {
		kinds += c.Us
		if c.Spans[0].Rank == nil {
			t.Errorf("%s: no rank", c.Kind)
		}
	}
	if !near(share, 1) || !near(kinds, us) {
		t.Errorf("ranks sum to %v, %v µs; kinds to %v µs", share, us, kinds)
	}
	for _, rank := range r.Ranks {
		if rank.Clock == nil || rank.Clock.ErrorUs > 1000 || rank.Clock.Collectives == 0 {
			t.Errorf("rank %d: clock %+v", rank.Rank, rank.Clock)
		}
	}
	for _, part := range []string{"MFU 9.3–9.9 % (8 traces)", "\nRoofline", "by rank: 0 "} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q", part)
		}
	}
}

// Clocks that collectives leave uncertain by more than the path's detail give no path over ranks.
func TestNoPathOverUncertainClocks(t *testing.T) {
	r, _ := realReport(t, realTrace(t, "hta-sampled-128ranks"))
	if len(r.CriticalPath) == 0 || len(r.CriticalRanks) != 0 {
		t.Errorf("%d kinds, %d ranks on the path", len(r.CriticalPath), len(r.CriticalRanks))
	}
}

func TestMemoryOfARealTrace(t *testing.T) {
	path := realTrace(t, "tracelens-qwen-h100-vs-mi300/mi300_Qwen1.5-0.5B-Chat.json.gz")
	r, text := realReport(t, path)
	peak := int64(0)
	for _, e := range rawEvents(t, path) {
		if e.Name == "[memory]" && e.Args.DeviceType != 0 {
			peak = max(peak, e.Args.Total)
		}
	}
	at := 0
	for at < len(r.Memory) && r.Memory[at].Device == "CPU" {
		at++
	}
	if at == len(r.Memory) || peak == 0 {
		t.Fatalf("no device in %+v, peak %d", r.Memory, peak)
	}
	m := r.Memory[at]
	highest, held := int64(0), int64(0)
	for _, p := range m.Timeline {
		highest = max(highest, p.Bytes)
	}
	for _, h := range m.Holders {
		held += h.Bytes
	}
	if m.PeakBytes != peak || highest != peak || !m.Absolute || held <= 0 || held > peak || len(m.Timeline) > report.MaxPoints {
		t.Errorf("peak %d, timeline's %d, the file's %d; holders have %d, %d points", m.PeakBytes, highest, peak, held, len(m.Timeline))
	}
	// ROCm counts CPUs among its agents: the device is 2 in the rows and 0 in the header.
	if len(r.Roofline) != 1 || r.Roofline[0].Device != "MI300X" || !strings.Contains(text, "MFU ") {
		t.Errorf("rooflines %+v", r.Roofline)
	}
}

func TestEmptySectionSaysWhatItNeeds(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{})
	for _, s := range Sections() {
		var b bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Sections: []string{s.Name}}); err != nil || strings.TrimSpace(b.String()) == "" {
			t.Errorf("section %s: %q, %v", s.Name, b.String(), err)
		}
	}
	var b bytes.Buffer
	if err := WriteText(&b, r, TextOptions{Sections: []string{"roofline"}}); err != nil ||
		!strings.Contains(b.String(), "record_shapes=True") {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// The line on devices is about traced steps, with their waits before the first work: not about the first trace, which is most often of a
// part of the warm-up.
func TestDevicesLineIsOfTheSteps(t *testing.T) {
	const ms = 1_000_000
	p := testkit.OnDevice(80, false, "ampere_fp16_s16816gemm_fp16_128x64")
	kernels := func(from model.Time, count int) {
		tr := &model.Trace{Window: -1, Rank: model.NoRank, From: from, To: from + model.Time(count)*50*ms,
			Features: model.Features{Device: true}}
		for i := range count {
			id := p.Event(&tr.Events, from+model.Time(i)*45*ms, ms, "ampere_sgemm_128x64_nn", model.KindKernel, model.NoEvent, -1)
			tr.Events.Lane[id] = 0
		}
		tr.Lanes = []model.Lane{{Kind: model.LaneStream, Stream: 7, EndEvent: model.EventID(count)}}
		p.S.Traces = append([]*model.Trace{tr}, p.S.Traces...)
	}
	kernels(p.P.Steps[0].Start-120*ms, 2) // of the warm-up
	var b bytes.Buffer
	r := report.Build(p.S, report.Options{})
	if err := WriteText(&b, r, TextOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	const want = "device 0 computes 80 % of 300 ms in 3 traced steps, idle because of wait 13 %, no work seen 6.7 %"
	if !strings.Contains(b.String(), want) {
		t.Errorf("%s\nlacks %q", b.String(), want)
	}
	b.Reset()
	if err := WriteText(&b, r, TextOptions{Width: 200, Sections: []string{"gpu"}}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	if !strings.Contains(text, "steps span") || !strings.Contains(text, "0 - 46.0 ms 4.3 %") || !strings.Contains(text, "0 3 280 ms 86 %") {
		t.Error(text)
	}
}

func TestCopiesAreNamedOnlyWhereTheyMatter(t *testing.T) {
	r := report.EmptyReport()
	r.GPU = []report.GPURow{{SpanUs: 1000, CopyUs: 300}}
	r.Copies = []report.CopyRow{
		{Name: "Memcpy HtoD (Pageable -> Device)", Pageable: true, Count: 3, Us: 300, ExposedUs: 250, HostWaitUs: 280,
			Where: report.Where{File: "/a/train.py", Line: 9}},
	}
	show := func() string {
		var b bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Width: 100}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	want := "Copies: 250 µs while nothing computes (25 %); 300 µs of copies use pageable host memory, the host waited 280 µs for them; " +
		"most: HtoD (Pageable -> Device) at train.py:9"
	if got := show(); !strings.Contains(got, want) {
		t.Errorf("%s\nlacks %s", got, want)
	}
	r.GPU[0].SpanUs = 1e6
	if got := show(); strings.Contains(got, "Copies:") {
		t.Errorf("copies of 0.03 %% are named: %s", got)
	}
}

func TestShapesText(t *testing.T) {
	for in, want := range map[string]string{"[[8, 2], [2, 4], []]": "8×2 2×4", "": "", "[]": "", "[[3], \"\"]": "3", "[[8": "8"} {
		if got := shapesText(in); got != want {
			t.Errorf("%s gives %q, want %q", in, got, want)
		}
	}
}

// foreignVerdict reports a trace of one step of 10 ms with the given rows beside it.
func foreignVerdict(t *testing.T, rows string) *report.Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.json")
	text :=
		`{"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 1000, "dur": 10000}, ` + rows + `]}`
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r, _ := realReport(t, path)
	return r
}

func kernelRow(ts, dur int) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "k%d", "pid": 0, "tid": 7, "ts": %d, "dur": %d, "args": {"device": 0, "stream": 7, "correlation": %d}}`, ts, ts, dur, ts)
}

// TestDevicesBesideTheStep: the shares of a device's time, from its first to its last work, are no shares of a step of
// which they are a tenth.
func TestDevicesBesideTheStep(t *testing.T) {
	r := foreignVerdict(t, kernelRow(2000, 1000))
	if r.Account.Unit != "run" || !near(r.Account.TotalMs, 1) || !near(r.Breakdown[0].Ms, 1) {
		t.Errorf("a device that worked 1 ms of a step of 10 ms: %+v of %+v", r.Breakdown, r.Account)
	}
	if !strings.Contains(r.Verdict.Sentence, "the steps took 10.0 ms") || r.Verdict.Bound != "cpu" {
		t.Errorf("the verdict does not say so: %+v", r.Verdict)
	}
	r = foreignVerdict(t, kernelRow(1000, 5000)+", "+kernelRow(6000, 5000))
	if r.Account.Unit != "step" || !near(r.Account.TotalMs, 10) || r.Verdict.Bound != "gpu" ||
		strings.Contains(r.Verdict.Sentence, "the steps took") {
		t.Errorf("a device that worked all of the step: %+v, %+v", r.Account, r.Verdict)
	}
}

// TestIdleWithoutCause: a trace of kernels alone does not show why the device idles, and no text says that nothing is to gain.
func TestIdleWithoutCause(t *testing.T) {
	r := foreignVerdict(t, kernelRow(1000, 100)+", "+kernelRow(10900, 100))
	if !strings.Contains(r.Verdict.Sentence, "does not show what the devices waited for") {
		t.Errorf("verdict of an unexplained idle device: %+v; %+v", r.Verdict, r.Breakdown)
	}
}

// TestBlindLaunches: a trace that launches kernels and holds none did not observe its device.
func TestBlindLaunches(t *testing.T) {
	op := `{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1100, "dur": 9000}`
	call := `{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1200, "dur": 5, "args": {"correlation": 1}}`
	r := foreignVerdict(t, op+", "+call)
	if !strings.Contains(r.Verdict.Sentence, "the GPU was not observed") ||
		!strings.Contains(strings.Join(r.Account.Notes, " "), "1 launches of kernels") {
		t.Errorf("a launch without its kernel: %+v, %v", r.Verdict, r.Account.Notes)
	}
	if r = foreignVerdict(t, op); strings.Contains(r.Verdict.Sentence, "GPU") || len(r.Account.Notes) != 1 {
		t.Errorf("no launch at all: %+v, %v", r.Verdict, r.Account.Notes)
	}
}

func TestEndsTell(t *testing.T) {
	row := func(texts ...string) report.TableRow {
		var cells []report.TableCell
		for _, text := range texts {
			cells = append(cells, report.TableCell{Text: text})
		}
		return report.TableRow{Cells: cells}
	}
	long := strings.Repeat("counter_", 4)
	table := &report.Table{Columns: []report.TableColumn{{Name: "a", Unit: "text"}, {Name: "b", Unit: "text"}, {Name: "c", Unit: "text"}},
		Rows: []report.TableRow{
			row("x", long+"add", long), row("y", long+"mul", long), row("z", "", "")}}
	ends := report.EndsTell(table)
	if ends[0] || !ends[1] || ends[2] {
		t.Errorf("only the second column's texts differ behind the cut: %v", ends)
	}
	if got := generalColumns(table)[2].cell(&table.Rows[0]); !strings.HasSuffix(got, "add") ||
		units.TextWidth(got) != report.BesideText(table) {
		t.Errorf("%q", got)
	}
}
