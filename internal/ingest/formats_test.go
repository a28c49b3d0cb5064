package ingest

import (
	"context"
	"path/filepath"
	"testing"
)

// TestResultsOfRocprofAreNamed: a JSON object that is no trace, yet known.
func TestResultsOfRocprofAreNamed(t *testing.T) {
	for name, text := range map[string]string{
		"json":   `{"rocprofiler-sdk-tool":[{"metadata":{"node":{"id":0,"hostname":"h"},"agents":[]},"buffer_records":{}}]}`,
		"sqlite": "SQLite format 3\x00" + string(make([]byte, 84)) + "CREATE TABLE `rocpd_kernel_dispatch`(id INTEGER)",
	} {
		s, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), name), []byte(text))}, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if in := s.Inputs[0]; in.Format != "rocprof" || in.Note == "" {
			t.Errorf("%s: format %q, note %q", name, in.Format, in.Note)
		}
	}
}
