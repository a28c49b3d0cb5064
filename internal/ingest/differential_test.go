package ingest

import (
	"context"
	"os"
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestFastEqualsSlow holds the reader against the slow one on every real trace that is well-formed.
func TestFastEqualsSlow(t *testing.T) {
	compared := 0
	for _, path := range realFiles(t) {
		if format := wantFormat(path); format != "kineto" && format != "autograd-profiler" ||
			os.Getenv("BOTTLENECK_LONG_TESTS") == "" && tooLarge(t, path) {
			continue
		}
		if strings.Contains(path, "truncated_gzip") {
			continue // no text to hold against
		}
		text := realText(t, strings.TrimPrefix(path, realTraces))
		ref, err := testkit.ReadReference(text)
		if err != nil {
			if !strings.Contains(path, "malformed") {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		s := &model.Session{}
		tr, err := ReadTrace(context.Background(), strings.NewReader(string(text)), path, s)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if err := ref.Compare(s, tr); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		compared++
	}
	if compared < 30 {
		t.Errorf("only %d files were compared", compared)
	}
}

// tooLarge leaves the dozen biggest files, a minute of the slow reader, to BOTTLENECK_LONG_TESTS.
func tooLarge(t *testing.T, path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size() > 512<<10
}
