package ingest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// TestTorchTrace reads what PyTorch 2.15 wrote of a program with a print in a compiled function, three shapes and three factors.
func TestTorchTrace(t *testing.T) {
	s, err := Open(context.Background(), []string{"testdata/torchtrace/comp.log.gz"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if len(s.FileTables) != 2 || s.Inputs[0].Format != "torch-trace" || len(s.Inputs[0].Diagnostics) != 0 {
		t.Fatalf("%+v", s.Inputs)
	}
	compiled, breaks := s.FileTables[0], s.FileTables[1]
	functions, again := map[string]int{}, 0
	for _, row := range compiled.Rows {
		functions[row[0].Text]++
		if row[3].Number <= 0 {
			t.Errorf("%+v takes no time", row)
		}
		if row[7].Text != "" {
			again++
		}
	}
	if functions["f"] != 2 || functions["torch_dynamo_resume_in_f_at_5"] != 2 || functions["g"] != 2 || again != 3 {
		t.Errorf("%v, %d again: %+v", functions, again, compiled.Rows)
	}
	if len(breaks.Rows) != 1 || breaks.Rows[0][0].Text != "/home/user/comp.py:5" || breaks.Rows[0][1].Number != 2 ||
		breaks.Rows[0][2].Text != "Failed to trace builtin operator" {
		t.Errorf("%+v", breaks.Rows)
	}
	for _, part := range []string{"6 compilations took ", "3 of them because a guard",
		"2 graph breaks, most at /home/user/comp.py:5 (Failed to trace builtin operator)"} {
		if !strings.Contains(compiled.Sentence, part) {
			t.Errorf("%q lacks %q", compiled.Sentence, part)
		}
	}
}

func TestDamagedTorchTrace(t *testing.T) {
	text := `V1123 09:46:00.743000 24971 torch/_dynamo/utils.py:2473] {"compilation_metrics": {"compile_id": "0/0", "co_name": "f", "entire_frame_compile_time_s": 1.5}}` + "\nnothing\n" +
		`V1123 09:46:00.743000 24971 torch/_dynamo/utils.py:2473] {"compilation_metrics": {"co_na` + "\n" +
		`V1123 09:46:00.743000 24971 torch/x.py:1] {"artifact": {"name": "dynamo_graph_break_reason"}, "has_payload": "a"}` +
		"\n\tGraph break in user code at a.py:7"
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if in := s.Inputs[0]; len(in.Diagnostics) != 1 || in.Diagnostics[0].Count != 2 || len(s.FileTables[0].Rows) != 1 ||
		s.FileTables[1].Rows[0][0].Text != "a.py:7" {
		t.Errorf("%+v %+v", in, s.FileTables)
	}
}

func FuzzTorchTrace(f *testing.F) {
	f.Add(`V1123 09:46:00.743000 24971 torch/x.py:2473] {"compilation_metrics": {"compile_id": "0/0", "recompile_reason": "a\nb"}}` + "\n")
	f.Add(`V1123 09:46:00.743000 24971 torch/x.py:1] {"artifact": {"name": "dynamo_graph_break_reason"}}` +
		"\n\tGraph break in user code at a.py:7\n\tReason: x\n")
	f.Fuzz(func(t *testing.T, text string) {
		o := &opening{s: &model.Session{Strings: &model.Strings{}}}
		add, err := readTorchTrace(o, source{path: "fuzz"}, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := add(); err != nil {
			t.Fatal(err)
		}
		if err := o.s.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
