package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// readText reads a text as a trace and checks the invariants.
func readText(tb testing.TB, text string) (*model.Session, *model.Trace) {
	tb.Helper()
	s := &model.Session{}
	tr, err := ReadTrace(context.Background(), strings.NewReader(text), "test", s)
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Check(); err != nil {
		tb.Fatal(err)
	}
	return s, tr
}

// Kernels that begin while the one before ends are no damage where the device lets them: NVIDIA's from compute capability 9 on. One within
// another, or a copy beside a kernel of its stream, still is.
func TestKernelsThatStartEarly(t *testing.T) {
	for name, c := range map[string]struct {
		device string
		major  int
		want   int64
	}{"Hopper": {"NVIDIA H200", 9, 2}, "Ampere": {"NVIDIA A100", 8, 3}, "AMD's gfx90a": {"AMD Instinct MI250X", 9, 3}} {
		s, _ := readText(t, testkit.NewTrace().
			Key("deviceProperties", []any{map[string]any{"id": 0, "name": c.device, "computeMajor": c.major}}).
			Launch("first", 1, 1000, 100, 4000, 500, 11).
			Launch("its dependent", 1, 1200, 100, 4400, 300, 12).
			Launch("within it", 1, 1400, 100, 4500, 100, 13).
			X("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, 4600, 500, "device", 0, "stream", 7, "correlation", 14).
			String())
		if got := diagnostic(s, "stream-overlap"); got != c.want {
			t.Errorf("%s: %d overlaps are named, want %d", name, got, c.want)
		}
	}
}

func diagnostic(s *model.Session, kind string) int64 {
	for _, d := range s.Inputs[0].Diagnostics {
		if d.Kind == kind {
			return d.Count
		}
	}
	return 0
}

// TestTruncation cuts three real files at every 1 %: what remains opens, never with more events than before the cut,
// and always with a word about it.
func TestTruncation(t *testing.T) {
	for _, name := range []string{"megatron-tp8-a100/megatron_kineto_0.json.gz", "torchao/gtx1650_llama_with_stack_memory.json.gz",
		"tracelens-b200/eager_trace.json.gz"} {
		text := string(realText(t, name))
		_, whole := readText(t, text)
		step := 1
		if testing.Short() {
			step = 10
		}
		last := 0
		for percent := step; percent < 100; percent += step {
			s := &model.Session{}
			tr, err := ReadTrace(context.Background(), strings.NewReader(text[:len(text)*percent/100]), name, s)
			if errors.As(err, new(*UnusableError)) && last == 0 {
				continue // cut within the header
			}
			if err != nil {
				t.Fatalf("%s at %d %%: %v", name, percent, err)
			}
			if err := s.Check(); err != nil {
				t.Fatalf("%s at %d %%: %v", name, percent, err)
			}
			n := tr.Events.Len()
			if n < last || n > whole.Events.Len() {
				t.Fatalf("%s at %d %%: %d events, %d at the cut before, %d in all", name, percent, n, last, whole.Events.Len())
			}
			if len(s.Inputs[0].Diagnostics) == 0 {
				t.Fatalf("%s at %d %%: nothing says that it is cut", name, percent)
			}
			last = n
		}
		if last < whole.Events.Len()*8/10 {
			t.Fatalf("%s at 99 %%: only %d of %d events", name, last, whole.Events.Len())
		}
	}
}

func TestImpossibleEventsAreCounted(t *testing.T) {
	text := testkit.NewTrace().
		Op("fine", 1, 1000, 500).
		X("cpu_op", "backwards", 100, 1, 2000, -5000).
		X("kernel", "lost", 0, 7, 0, 0, "stream", 7, "correlation", 9).
		X("cpu_op", "for a year", 100, 1, 3000, 365*24*3600*1e9).
		Launch("early", 1, 5000, 100, 4000, 50, 11).
		Launch("much too early", 1, 9_000_000, 100, 4000, 50, 12).
		X("kernel", "second", 0, 7, 4020, 50, "stream", 7, "correlation", 13).
		X("kernel", "second", 0, 7, 4020, 50, "stream", 7, "correlation", 13).
		Raw(`{"ph": "X", "cat": "cpu_op", "name": "no time", "pid": 1, "tid": 1, "ts": "soon", "dur": 1}`).
		Raw(`{"ph": "X", "cat": "cpu_op", "name": "no duration", "pid": 100, "tid": 1, "ts": 1.5, "dur": NaN}`).
		Raw(`{"ph": "E", "name": "end", "pid": 1, "tid": 1, "ts": 3}`).
		Raw(`{"ph": "X", "cat": "cpu_op", "name": "huge", "pid": 1, "tid": 1, "ts": 1e300, "dur": 1}`).
		String()
	s, tr := readText(t, text)
	for kind, want := range map[string]int64{"negative-duration": 1, "no-device-time": 1, "absurd-duration": 1, "before-launch": 1,
		"before-launch-far": 1, "duplicate": 1, "no-time": 2, "no-duration": 1, "end-without-begin": 1, "stream-overlap": 2} {
		if got := diagnostic(s, kind); got != want {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
	}
	if n := tr.Events.Len(); n != 7 {
		t.Errorf("%d events are left, want 7", n)
	}
	for id, kind := range tr.Events.Kind {
		if linked := tr.Events.Link[id] != model.NoEvent; kind == model.KindKernel &&
			linked != (s.Strings.Text(tr.Events.Name[id]) == "early") {
			t.Errorf("kernel %s: linked %v", s.Strings.Text(tr.Events.Name[id]), linked)
		}
	}
}

// endless repeats a piece of text between a head and a tail without ever holding it.
type endless struct {
	head, piece, tail string
	times             int
	rest              string
}

func (e *endless) Read(p []byte) (int, error) {
	for e.rest == "" {
		switch {
		case e.head != "":
			e.rest, e.head = e.head, ""
		case e.times > 0:
			e.rest = e.piece
			e.times--
		case e.tail != "":
			e.rest, e.tail = e.tail, ""
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

const fine = `{"ph": "X", "cat": "cpu_op", "name": "fine", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "args": {}}`

// TestHostileTexts reads texts that are made to hurt: each must come back with the events that are whole, in bounded
// memory, with a word about the rest.
func TestHostileTexts(t *testing.T) {
	kilo := strings.Repeat("x", 1<<10)
	size := 1 << 16 // of pieces: 64 MiB; a gigabyte in the long form
	if os.Getenv("BOTTLENECK_LONG_TESTS") != "" {
		size = 1 << 20
	}
	cases := []struct {
		name   string
		text   *endless
		events int
		kind   string
	}{
		{"a huge string in an event", &endless{head: `{"traceEvents": [` + fine + `, {"ph": "X", "name": "`, piece: kilo, times: size,
			tail: `"}, ` + fine + `]}`}, 2, "oversized"},
		{"a huge string at the top", &endless{head: `{"note": "`, piece: kilo, times: size, tail: `", "traceEvents": [` + fine + `]}`},
			1, "bad-header"},
		{"ten million brackets", &endless{head: `{"traceEvents": [` + fine + `, {"ph": "X", "args": {"a": `,
			piece: strings.Repeat("[", 1000), times: 10000, tail: ``}, 1, "truncated"},
		{"ten million objects", &endless{head: `{"traceEvents": [` + fine + `, `, piece: strings.Repeat(`{"a":`, 1000), times: 10000,
			tail: ``}, 1, "oversized"},
		{"blanks", &endless{head: `{"traceEvents": [` + fine + `, `, piece: strings.Repeat(" ", 1<<10), times: size, tail: fine + `]}`},
			2, ""},
		{"a string without an end", &endless{head: `{"traceEvents": [` + fine + `, {"ph": "X", "name": "open, "ts": 1}, `,
			piece: fine + ",", times: 1000, tail: fine + `]}`}, 1002, "bad-event"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &model.Session{}
			tr, err := ReadTrace(context.Background(), c.text, c.name, s)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			if n := tr.Events.Len(); n != c.events {
				t.Errorf("%d events, want %d", n, c.events)
			}
			if c.kind != "" && diagnostic(s, c.kind) == 0 {
				t.Errorf("no diagnostic %q: %+v", c.kind, s.Inputs[0].Diagnostics)
			}
		})
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if stats.Sys > 600<<20 {
		t.Errorf("%d MB were taken from the system", stats.Sys>>20)
	}
}

func TestGzipBomb(t *testing.T) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, 6)
	if err != nil {
		t.Fatal(err)
	}
	const times = 700 << 10
	if _, err := io.Copy(z, &endless{head: `{"traceEvents": [` + fine + `, {"name": "`, piece: strings.Repeat("x", 1<<10), times: times,
		tail: `"}]}`}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := &model.Session{}
	tr, err := ReadTrace(context.Background(), &packed, "bomb", s)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Events.Len() != 1 || diagnostic(s, "unreadable-end") != 1 {
		t.Errorf("%d events, diagnostics %+v; want one event and a word about the bomb", tr.Events.Len(), s.Inputs[0].Diagnostics)
	}
}

func TestManyThreads(t *testing.T) {
	var text strings.Builder
	text.WriteString("[")
	const threads = 200_000
	for i := range threads {
		fmt.Fprintf(&text, `{"ph": "X", "cat": "cpu_op", "name": "f", "pid": 1, "tid": %d, "ts": %d, "dur": 1},`, i, i)
	}
	s, tr := readText(t, text.String())
	if len(tr.Lanes) != threads || diagnostic(s, "unclosed") != 1 {
		t.Errorf("%d lanes, want %d; %+v", len(tr.Lanes), threads, s.Inputs[0].Diagnostics)
	}
}

// TestUTF16 reads a trace that a Windows tool saved, in both byte orders.
func TestUTF16(t *testing.T) {
	text := testkit.NewTrace().Op("naïve 🙂", 1, 1000, 10).String()
	for _, big := range []bool{false, true} {
		units := []byte{0xFF, 0xFE}
		if big {
			units = []byte{0xFE, 0xFF}
		}
		for _, r := range utf16Of(text) {
			low, high := byte(r), byte(r>>8)
			if big {
				low, high = high, low
			}
			units = append(units, low, high)
		}
		s, tr := readText(t, string(units))
		if got := s.Strings.Text(tr.Events.Name[0]); got != "naïve 🙂" {
			t.Errorf("name %q", got)
		}
	}
}

func utf16Of(text string) []uint16 { return utf16.Encode([]rune(text)) }

// TestByteFlips damages a real file in twenty places: what is lost must be near the damage, not behind it.
func TestByteFlips(t *testing.T) {
	text := realText(t, "megatron-tp8-a100/megatron_kineto_0.json.gz")
	_, whole := readText(t, string(text))
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 0))
		damaged := bytes.Clone(text)
		const flips = 20
		for range flips {
			at := len(text)/10 + random.IntN(len(text)*8/10) // not in the header
			damaged[at] ^= 1 << random.IntN(8)
		}
		_, tr := readText(t, string(damaged))
		if lost := whole.Events.Len() - tr.Events.Len(); lost > 3*flips {
			t.Errorf("seed %d: %d events lost by %d flipped bits", seed, lost, flips)
		}
	}
}
