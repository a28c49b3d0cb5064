package kineto

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

var seeds = []string{
	`{"schemaVersion": 1, "traceEvents": [
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 12, "tid": 13,
    "ts": 1697770410661103, "dur": 1.5,
    "args": {
      "External id": 8802,"Ev Idx": 8801, "Input Dims": [[], [2, 3]], "Input type": ["", "float"], "Concrete Inputs": ["", "[1]"]
    }
  },
  {
    "ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 12, "tid": 13,
    "ts": 1697770410661104, "dur": 0,
    "args": {
      "External id": 8803,"Ev Idx": 8802, "Input Dims": [[], [2, 3]], "Input type": ["", "float"]
    }
  },
  {
    "ph": "f", "id": 5, "pid": 0, "tid": 7, "ts": 12, "cat": "ac2g", "name": "ac2g", "bp": "e"
  }
  ],
  "traceName": "x", "baseTimeNanoseconds": 5
}`,
	`[{"name": "a", "ph": "X", "ts": 327.8461, "dur": 94.83699999999999, "tid": 1, "pid": "CPU functions", "args": {}}, {"ph": "B", "ts": "1e3"}]`,
	`{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k\u00e9\"\\", "pid": 0, "tid": "stream 7", "ts": 1, "dur": 2, "args": {"grid": [1, 2, 3], "block": [4, 5, 6], "stream": "0x7", "bytes": NaN, "finished": false, "x": {"y": [1, "]"]}}}, {"ph": "C", "name": "c", "ts": 1, "args": {"v": 1.5}}]}`,
	`{"traceEvents": [{"ph": "X", "name": "{"device": "cpu"}(1): f", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"External id": 1}}, {"ph": "X", "name": "C:\x", "ts": 2}, {"ph": "X"`,
	"\xEF\xBB\xBF{\"INFO\": [\"a \"b\" c\"], , \"traceEvents\": [{\"ph\": \"M\", \"name\": \"thread_name\", \"args\": {\"name\": \"t\n" +
		"\"}},]",
}

// events lists what a scanner finds, in words.
func events(s *Scanner) []string {
	var out []string
	s.OnKey = func(key string, raw []byte) { out = append(out, fmt.Sprintf("%s=%s", key, raw)) }
	var e Event
	for s.Next(&e) {
		text := fmt.Sprintf("%d %c %q %q %s %s %d %d %x", e.Offset, max(e.Phase, ' '), s.Names.String(e.Cat), s.Names.String(e.Name),
			idText(s, e.PID), idText(s, e.TID), e.IntOr(External, -1), e.IntOr(Correlation, -1), e.Has)
		if e.HasTS() {
			text += fmt.Sprint(" ts ", e.TS)
		}
		if e.HasDur() {
			text += fmt.Sprint(" dur ", e.Dur)
		}
		for f := Dims; f < endTexts; f++ {
			table := s.JSON
			if f >= CallStack {
				table = s.Names
			}
			text += fmt.Sprintf(" %q", table.String(e.Text(f)))
		}
		if e.HasGrid() {
			text += fmt.Sprint(e.Grid)
		}
		for _, x := range e.Extra {
			text += fmt.Sprintf(" %q: %s", s.Names.String(x.Key), x.Raw)
		}
		out = append(out, text)
	}
	return append(out, fmt.Sprint(s.Damage, s.Err(), s.SawEvents))
}

func idText(s *Scanner, id ID) string {
	if id.Text != 0 {
		return s.Names.String(id.Text)
	}
	return fmt.Sprint(id.Num, id.Set)
}

// slowly reads few bytes at a time.
type slowly struct {
	r    io.Reader
	size int
}

func (s *slowly) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.size)]) }

// plainRules makes a scanner that never remembers a layout.
func plainRules(text []byte) *Scanner {
	s := NewBytesScanner(text)
	s.nodes, s.idNodes = maxNodes, maxIDNodes
	return s
}

// flowless leaves out events of the phases s, t and f.
func flowless(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(text string) bool {
		_, rest, _ := strings.Cut(text, " ")
		return strings.HasPrefix(rest, "s ") || strings.HasPrefix(rest, "t ") || strings.HasPrefix(rest, "f ")
	})
}

// onePhase says that no event can have two phases: there are no more of them than events.
func onePhase(text []byte) bool {
	s := NewBytesScanner(text)
	var e Event
	phases := 0
	for s.Next(&e) {
		if e.Phase != 0 {
			phases++
		}
	}
	return bytes.Count(text, []byte(`"ph"`)) <= phases
}

// FuzzScanner holds four ways of reading one text against each other: from memory by remembered layouts, from memory
// by the general rules alone, without flow events, and from a stream through a small buffer.
func FuzzScanner(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := events(NewBytesScanner(text))
		noFlows := NewBytesScanner(text)
		noFlows.NoFlows = true
		if got := flowless(events(noFlows)); onePhase(text) && !slices.Equal(got, flowless(want)) {
			t.Fatalf("without flows: %q\nwith:          %q", got, flowless(want))
		}
		if got := events(plainRules(text)); !slices.Equal(got, want) {
			t.Fatalf("general rules: %q\nlayouts:      %q", got, want)
		}
		stream := NewScanner(&slowly{bytes.NewReader(text), 1 + len(text)/7})
		stream.buf = make([]byte, 0, 64)
		if got := events(stream); !slices.Equal(got, want) && stream.Damage == (Damages{}) {
			t.Fatalf("stream: %q\nmemory: %q", got, want)
		}
	})
}
