package ingest

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
)

var update = flag.Bool("update-cases", false, "rewrite the expected dumps in testdata/cases")

// TestCases reads every trace of testdata/cases and compares the session, as text, with the file beside it. A case is a
// few rows that show one rule of the format.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s, err := Open(context.Background(), []string{path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := model.Dump(&got, s); err != nil {
				t.Fatal(err)
			}
			golden := path[:len(path)-len(".json")] + ".golden"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got:\n%s\nwant:\n%s", got.Bytes(), want)
			}
		})
	}
}
