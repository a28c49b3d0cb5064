package ingest

import (
	"bytes"
	"compress/zlib"
	"context"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"bottleneck/internal/model"
)

const perfettoFile = "testdata/perfetto/small.pftrace"

// TestPerfetto: what testdata/perfetto/generate.py wrote with Google's own messages comes back.
func TestPerfetto(t *testing.T) {
	s := openRocprof(t, perfettoFile)
	if len(s.Inputs) != 1 || s.Inputs[0].Format != "perfetto" || len(s.Traces) != 1 || len(s.Processes) != 1 {
		t.Fatalf("%+v", s.Inputs)
	}
	const base = 1_700_000_000_000_000_000 - 5_000_000_000
	type row struct {
		start model.Time
		dur   model.Dur
		kind  model.Kind
	}
	want := map[string]row{"aten::addmm": {base + 5_000_001_000, 8000, model.KindOp}, "hipLaunchKernel": {base + 5_000_002_000, 1000,
		model.KindRuntime}, "gemm_kernel": {base + 5_000_004_000, 4500, model.KindKernel}, "late slice": {base + 5_000_101_000, 4000,
		model.KindOther}, "legacy": {base + 5_000_020_000, 7000, model.KindOther}}
	ev := &s.Traces[0].Events
	for i := range ev.Kind {
		name := s.Strings.Text(ev.Name[i])
		if got := (row{ev.Start[i], ev.Dur[i], ev.Kind[i]}); got != want[name] {
			t.Errorf("%s: %+v, want %+v", name, got, want[name])
		}
		lane := &s.Traces[0].Lanes[ev.Lane[i]]
		if ev.Kind[i] == model.KindKernel {
			if lane.Stream != 3 || lane.Device != 1 || ev.Link[i] == model.NoEvent || ev.Op[i] == model.NoEvent {
				t.Errorf("kernel on %+v, launched by %d", lane, ev.Link[i])
			}
		} else if lane.Thread != 11 || s.Strings.Text(lane.Name) != "worker" {
			t.Errorf("%s on %+v", name, lane)
		}
	}
	if ev.Len() != len(want) {
		t.Errorf("%d events, want %d", ev.Len(), len(want))
	}
	c := s.Traces[0].Counters
	if len(c) != 2 || c[0].Value != 4 || c[1].Value != 3 || s.Strings.Text(c[1].Name) != "queue depth" ||
		s.Strings.Text(c[1].Key) != "items" {
		t.Errorf("%+v", c)
	}
	samples := &s.Processes[0].Samples
	if samples.Len() != 30 || samples.AskedHz != 100 {
		t.Fatalf("%d samples at %v Hz", samples.Len(), samples.AskedHz)
	}
	frame := samples.Stacks.Frames[samples.Stacks.Frame[samples.Stack[0]]]
	if s.Strings.Text(frame.Function) != "leaf" || s.Strings.Text(frame.File) != "/app/train.py" || frame.Line != 20 {
		t.Errorf("%+v", frame)
	}
	if d := s.Inputs[0].Diagnostics; len(d) != 1 || d[0].Kind != "lost-state" || d[0].Count != 1 {
		t.Errorf("%+v", d)
	}
}

func TestCutPerfetto(t *testing.T) {
	text, err := os.ReadFile(perfettoFile)
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	for cut := 1; cut < 100; cut++ {
		s, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "x"), text[:len(text)*cut/100])}, Options{})
		if err != nil {
			continue
		}
		opened++
		if err := s.Check(); err != nil {
			t.Fatalf("at %d %%: %v", cut, err)
		}
		if s.Inputs[0].Format != "perfetto" {
			t.Errorf("at %d %%: %s", cut, s.Inputs[0].Format)
		}
	}
	if opened < 70 {
		t.Errorf("opened %d of 99 cuts", opened)
	}
	packed := openRocprof(t, write(t, filepath.Join(t.TempDir(), "p"), gzipped(t, string(text))))
	if packed.Inputs[0].Events != openRocprof(t, perfettoFile).Inputs[0].Events {
		t.Error("the packed file has other events")
	}
}

// perfettoPackets wraps messages as packets of a trace.
func perfettoPackets(messages ...[]byte) (out []byte) {
	for _, m := range messages {
		out = protowire.AppendBytes(protowire.AppendTag(out, 1, protowire.BytesType), m)
	}
	return out
}

// TestHostilePerfetto: bundles that unpack to far more than they are, bundles within bundles, depth and stated lengths cost bounded memory
// and are said.
func TestHostilePerfetto(t *testing.T) {
	field := func(n protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
	}
	number := func(n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
	}
	begin := append(append(number(8, 1000), number(10, 1)...), field(11, append(number(9, 1), field(23, []byte("a"))...))...)
	end := append(append(number(8, 2000), number(10, 1)...), field(11, number(9, 2))...)
	squeeze := func(plain []byte) []byte {
		var out bytes.Buffer
		z := zlib.NewWriter(&out)
		_, _ = z.Write(plain)
		z.Close()
		return field(50, out.Bytes())
	}
	bomb := squeeze(make([]byte, 1<<29))
	nested := squeeze(perfettoPackets(squeeze(perfettoPackets(begin))))
	deep := bytes.Repeat(perfettoPackets(begin), 50_000)
	stated := append(perfettoPackets(begin, end), 0x0A, 0xFF, 0xFF, 0xFF, 0x0F)
	for name, text := range map[string][]byte{"bomb": perfettoPackets(begin, end, bomb), "nested": perfettoPackets(begin, end, nested),
		"deep": append(deep, perfettoPackets(end)...), "stated": stated} {
		var s *model.Session
		path := write(t, filepath.Join(t.TempDir(), "x"), text)
		used := memoryOf(func() { s = openRocprof(t, path) })
		if s.Inputs[0].Format != "perfetto" || s.Traces[0].Events.Len() != 1 || len(s.Inputs[0].Diagnostics) == 0 || used > 512<<20 {
			t.Errorf("%s: %d MB, %+v", name, used>>20, s.Inputs[0])
		}
	}
}

// TestPprofIsNoPerfetto: both begin with their first field.
func TestPprofIsNoPerfetto(t *testing.T) {
	for _, name := range []string{"pprof/large.cpu.pb", "pprof/go.crc32.cpu"} {
		text, err := os.ReadFile(realDatabase(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if isPerfetto(text[:min(len(text), headSize)]) {
			t.Error(name)
		}
	}
}

// FuzzPerfetto: whatever packets hold, the model stays whole.
func FuzzPerfetto(f *testing.F) {
	text, err := os.ReadFile(perfettoFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		o := &opening{s: &model.Session{Strings: &model.Strings{}}}
		add, err := readPerfetto(o, source{path: "fuzz"}, bytes.NewReader(text))
		if err != nil {
			return
		}
		if err := add(); err != nil {
			t.Fatal(err)
		}
		if err := o.s.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
