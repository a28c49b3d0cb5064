package export

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// TestLprofIsWhatLineProfilerReads writes counts of two processes and has the real line_profiler read them, and our own reader.
func TestLprofIsWhatLineProfilerReads(t *testing.T) {
	big := int64(1) << 40
	line := func(file, function string, first, number int32, hits int64, time model.Dur) model.CallLine {
		return model.CallLine{File: file, Function: function, First: first, Line: number, Hits: hits, Time: time}
	}
	s := &model.Session{Strings: &model.Strings{}, Calls: []*model.Calls{
		{Process: -1, Input: -1, Lines: []model.CallLine{line("/ü.py", "f", 3, 5, 7, 1500), line("/ü.py", "f", 3, 4, 1, model.Dur(big))}},
		{Process: -1, Input: -1, Lines: []model.CallLine{line("/ü.py", "f", 3, 5, 70000, 500), line("/b.py", "g", 300, 301, big, 1)}},
	}}
	var out bytes.Buffer
	if err := writeLprof(context.Background(), s, &out, Options{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.lprof")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	back, err := ingest.Open(context.Background(), []string{path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.CallLine{line("/b.py", "g", 300, 301, big, 1), line("/ü.py", "f", 3, 4, 1, model.Dur(big)),
		line("/ü.py", "f", 3, 5, 70007, 2000)}
	var got []model.CallLine
	for _, c := range back.Calls {
		got = append(got, c.Lines...)
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("read back:\n%+v, want\n%+v", got, want)
	}
	python, err := exec.Command("../../scripts/env.sh", "line-profiler").Output()
	if err != nil {
		t.Skipf("scripts/env.sh line-profiler: %v", err)
	}
	const show = "import line_profiler, sys; s = line_profiler.load_stats(sys.argv[1]); print(s.unit, sorted(s.timings.items()))"
	text, err := exec.Command(strings.TrimSpace(string(python)), "-c", show, path).CombinedOutput()
	const read = "1e-09 [(('/b.py', 300, 'g'), [(301, 1099511627776, 1)]), " +
		"(('/ü.py', 3, 'f'), [(4, 1, 1099511627776), (5, 70007, 2000)])]\n"
	if err != nil || string(text) != read {
		t.Errorf("%v: %s", err, text)
	}
}
