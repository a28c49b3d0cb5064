package replay_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// ask asks about traces what what-if can ask: every cause and every kind, alone and together.
func ask(t *testing.T, texts ...string) *replay.Session {
	t.Helper()
	s := &model.Session{Strings: &model.Strings{}}
	for _, text := range texts {
		if _, err := ingest.ReadTrace(context.Background(), bytes.NewReader([]byte(text)), "trace.json", s); err != nil {
			return nil
		}
	}
	r := replay.ForQuestions(s, account.Of(s, account.Driver(s)))
	if r == nil {
		return nil
	}
	changes := []replay.Change{{}, {RanksEqual: true}}
	for _, cause := range r.Causes() {
		if c, ok := r.Removal(cause); ok {
			changes = append(changes, c)
		}
	}
	names := append(r.Kinds(), r.Names()...)
	for _, name := range names[:min(len(names), 8)] {
		changes = append(changes, replay.Change{Scale: []replay.Scale{{Name: name, Factor: 0}}},
			replay.Change{Scale: []replay.Scale{{Name: name, Factor: 3}}})
	}
	for _, c := range changes {
		a, err := r.Ask(c)
		if unknown := (*replay.UnknownName)(nil); errors.As(err, &unknown) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(a.After) || math.IsInf(a.After, 0) || a.After < 0 || a.Before < 0 {
			t.Fatalf("%+v: %v becomes %v", c, a.Before, a.After)
		}
	}
	return r
}

// TestQuestionsToEmptyTraces asks about traces in which nothing lasts, or only the device's work, alone and beside a rank that has both.
func TestQuestionsToEmptyTraces(t *testing.T) {
	instant := testkit.NewTrace().Op("aten::add", 1, 1000, 0).Launch("gemm", 1, 1000, 0, 1000, 1, 5).String()
	kernel := testkit.NewTrace().Op("aten::add", 1, 1000, 0).Launch("gemm", 1, 1000, 0, 1000, 20, 5).String()
	stepped := testkit.NewTrace().X("user_annotation", "ProfilerStep#1", 100, 1, 1000, 0).Op("aten::add", 1, 1000, 0).Launch("gemm", 1,
		1000, 0, 1000, 20, 5).String()
	alone := `{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 0},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 3}}]}`
	whole := testkit.NewTrace().Op("aten::add", 1, 1000, 500).Launch("gemm", 1, 1100, 10, 1500, 20, 5).String()
	if ask(t, whole) == nil {
		t.Error("a whole trace has no answers")
	}
	for i, text := range []string{instant, kernel, stepped, alone} {
		ask(t, text)
		ask(t, text, whole)
		ask(t, whole, text)
		ask(t, text, alone)
		_ = i
	}
}

// FuzzWhatIf asks about any two traces: no panic, and no answer that is no time.
func FuzzWhatIf(f *testing.F) {
	whole := testkit.NewTrace().X("user_annotation", "ProfilerStep#1", 100, 1, 900, 5000).Op("aten::add", 1, 1000, 500).Launch("gemm", 1,
		1100, 10, 1500, 20, 5).
		X("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, 1700, 5, "bytes", 4096, "correlation", 9).String()
	f.Add([]byte(whole), []byte(whole))
	f.Add([]byte(`{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 0},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 3}}]}`), []byte("{}"))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		ask(t, string(one))
		ask(t, string(one), string(other))
	})
}
