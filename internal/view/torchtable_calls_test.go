package view

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/ingest"
)

// TestCallsTableIsWhatPstatsPrints compares the table with Python's own of files that others recorded.
func TestCallsTableIsWhatPstatsPrints(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	files, _ := filepath.Glob("../../../shared/traces/pstats/*.prof")
	if len(files) == 0 {
		t.Skip("../../../shared/traces is not beside this checkout")
	}
	const program = `
import pstats, sys
s = pstats.Stats(sys.argv[1])
s.files = []
s.sort_stats(sys.argv[2]).print_stats(*map(int, sys.argv[3:]))`
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := ingest.ReadPstats(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"tottime", "cumtime", "ncalls", "pcalls"} {
			for _, limit := range []string{"", "15"} {
				args := []string{"-c", program, file, key}
				opt := CallsTableOptions{SortBy: key}
				if limit != "" {
					args = append(args, limit)
					opt.RowLimit = 15
				}
				want, err := exec.Command(python, args...).Output()
				if err != nil {
					t.Fatal(err)
				}
				var got strings.Builder
				if err := CallsTable(&got, calls, opt); err != nil {
					t.Fatal(err)
				}
				if got.String() != string(want) {
					t.Errorf("%s by %s:\n%s", filepath.Base(file), key, firstDifference(got.String(), string(want)))
				}
			}
		}
	}
}

func TestCallsTableUnknownSortKey(t *testing.T) {
	calls, err := ingest.ReadPstats(strings.NewReader("{0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := CallsTable(&strings.Builder{}, calls, CallsTableOptions{SortBy: "totime"}); err == nil ||
		!strings.Contains(err.Error(), "tottime") {
		t.Errorf("error %v does not list the keys", err)
	}
}
