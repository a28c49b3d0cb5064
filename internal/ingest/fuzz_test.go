package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// FuzzReadTrace reads any text: no panic, the invariants hold, and where nothing was found wrong with the text and
// encoding/json agrees, the slow reader must have seen the same.
func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(testkit.NewTrace().Key("baseTimeNanoseconds", 1000).Key("distributedInfo", map[string]any{"rank": "3", "world_size": 8}).
		Op("aten::add", 1, 1000, 500, "External id", 1, "Sequence number", 3, "Input Dims", [][]int{{2, 3}, {}}).
		Op("aten::mul", 1, 1100, 100, "External id", 2, "Call stack", "f(1): g").
		Launch("gemm", 1, 1120, 10, 1500, 20, 5).Launch("gemm", 2, 1220, 10, 1600, 20, 6).
		X("user_annotation", "ProfilerStep#1", 100, 1, 900, 5000).
		X("python_function", "a.py(1): f", 100, 1, 950, 600, "Python id", 1, "Python parent id", nil).
		X("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 1700, 5, "bytes", 4096, "correlation", 9).
		Memory(1, 1200, 512).Memory(1, 1300, -512).String()))
	f.Add([]byte(`[{"name": "a", "ph": "X", "ts": 327.8461, "dur": 94.83699999999999, "tid": 1, "pid": "CPU functions", "args": {}}]`))
	f.Add([]byte(`{"traceEvents": [{"ph": "B", "name": "x", "pid": 1, "tid": "s", "ts": 1}, {"ph": "E", "pid": 1, "tid": "s", "ts": 3}, {"ph": "C", "name": "c", "ts": 1, "args": {"v": 1}}], "deviceProperties": [{"id": 0}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &model.Session{}
		tr, err := ReadTrace(context.Background(), bytes.NewReader(text), "fuzz", s)
		if err != nil {
			return
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		if !comparableText(s, text) {
			return
		}
		ref, err := testkit.ReadReference(text)
		if err != nil {
			return
		}
		if err := ref.Compare(s, tr); err != nil {
			t.Fatal(err)
		}
	})
}

// comparableText leaves out what the slow reader does not promise to see alike: texts with anything wrong in them, keys
// written twice or with escapes, and times without a fraction beside ones with an exponent.
func comparableText(s *model.Session, text []byte) bool {
	return len(s.Inputs[0].Diagnostics) == 0 && !bytes.ContainsAny(text, "\\\x00") && !strings.ContainsAny(string(text), "eE+") &&
		!bytes.Contains(text, []byte("\xEF\xBF\xBD")) && !duplicateKeys(text)
}

// duplicateKeys says whether an object has a key twice, or in two spellings.
func duplicateKeys(text []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(text))
	type level struct {
		keys  map[string]bool
		value bool // the next token of an object is a value
	}
	var stack []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		top := len(stack) - 1
		if key, ok := token.(string); ok && top >= 0 && stack[top].keys != nil && !stack[top].value {
			key = strings.ToLower(key)
			if stack[top].keys[key] {
				return true
			}
			stack[top].keys[key] = true
			stack[top].value = true
			continue
		}
		if top >= 0 && token != json.Delim('}') && token != json.Delim(']') {
			stack[top].value = false
		}
		switch token {
		case json.Delim('{'):
			stack = append(stack, level{keys: map[string]bool{}})
		case json.Delim('['):
			stack = append(stack, level{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
	}
}
