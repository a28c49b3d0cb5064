package export

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

const sharedTraces = "../../../shared/traces"

// sharedFiles lists recorded traces of other people, smallest first up to a size; the test is skipped where they are not.
func sharedFiles(t testing.TB, limit int64) []string {
	t.Helper()
	if _, err := os.Stat(sharedTraces); err != nil {
		t.Skipf("%s is not beside this checkout", sharedTraces)
	}
	var out []string
	filepath.Walk(sharedTraces, func(path string, info os.FileInfo, err error) error {
		if err == nil && strings.Contains(path, ".json") && info.Size() <= limit {
			out = append(out, path)
		}
		return nil
	})
	return out
}

// TestChromeOfSharedTraces exports every trace up to a size, whole or damaged: the result is valid and reads back as the
// same model.
func TestChromeOfSharedTraces(t *testing.T) {
	limit := int64(400 << 10)
	if testing.Short() {
		limit = 60 << 10
	}
	exported := 0
	for _, path := range sharedFiles(t, limit) {
		s := &model.Session{Strings: &model.Strings{}}
		if !readInto(s, path) {
			continue // no trace: other tests say what it is
		}
		name := strings.TrimPrefix(path, sharedTraces+"/")
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := writeChrome(context.Background(), s, &out, Options{Rank: model.NoRank}); err != nil {
				t.Fatal(err)
			}
			validate(t, out.Bytes())
			roundTrip(t, s, name)
		})
		exported++
	}
	if exported < 10 {
		t.Errorf("only %d traces were exported", exported)
	}
}

// TestExportOfLargestTraceIsFast watches the time of every form, given the model; a tenth of the limit is usual.
func TestExportOfLargestTraceIsFast(t *testing.T) {
	s := largest(t)
	for _, f := range Formats() {
		if f.WriteDir != nil {
			continue
		}
		var counted countingWriter
		start := time.Now()
		err := f.Write(context.Background(), s, &counted, Options{Rank: model.NoRank})
		t.Logf("%-16s %8.0f ms %10d bytes  %v", f.Name, time.Since(start).Seconds()*1000, counted, err)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", f.Name, took)
		}
	}
}

type countingWriter int64

func (c *countingWriter) Write(b []byte) (int, error) {
	*c += countingWriter(len(b))
	return len(b), nil
}

func largest(t testing.TB) *model.Session {
	t.Helper()
	path := sharedTraces + "/segment-anything-fast/eager_False.json.gz"
	s := &model.Session{Strings: &model.Strings{}}
	if !readInto(s, path) {
		t.Skipf("%s is not beside this checkout", sharedTraces)
	}
	return s
}

// readInto reads one trace; false where the file is none or is not there.
func readInto(s *model.Session, path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = ingest.ReadTrace(context.Background(), f, path, s)
	return err == nil && len(s.Traces) == 1
}

func BenchmarkChrome(b *testing.B) {
	s := largest(b)
	for b.Loop() {
		var n countingWriter
		if err := writeChrome(context.Background(), s, &n, Options{Rank: model.NoRank}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(n))
	}
}
