package ingest

import (
	"context"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// A Python call says from where it was made, as PyTorch 2.12 and later write it.
func TestCallFrom(t *testing.T) {
	const text = `{"traceEvents": [
{"ph": "X", "cat": "python_function", "name": "step.py(5): step", "pid": 1, "tid": 1, "ts": 1, "dur": 90, "args": {"Python id": 1}},
{"ph": "X", "cat": "python_function", "name": "<built-in method relu>", "pid": 1, "tid": 1, "ts": 9, "dur": 5,
"args": {"Python parent id": 1, "CallFrom": "step.py:8", "Python id": 2}}]}`
	s := &model.Session{Strings: &model.Strings{}}
	s.Strings.Intern("shifts the numbers of texts")
	trace, err := ReadTrace(context.Background(), strings.NewReader(text), "trace.json", s)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for id := range trace.Events.Len() {
		got[s.Strings.Text(trace.Events.Name[id])] = s.Strings.Text(trace.Events.PythonDetails[trace.Events.Detail[id]].From)
	}
	if got["step.py(5): step"] != "" || got["<built-in method relu>"] != "step.py:8" {
		t.Errorf("%q", got)
	}
}
