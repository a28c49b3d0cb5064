package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// TestWritesAreSeen has a program write files by the usual functions: each call is a span at the program's line with the file
// and its size; what goes into memory is none.
func TestWritesAreSeen(t *testing.T) {
	want := []string{"write: json.dump writes.py:23 metrics.json", "write: logging.emit writes.py:27 log.txt",
		"write: numpy.save writes.py:26 array.npy", "write: pickle.dump writes.py:25 state.pkl"}
	for _, generation := range generations() {
		interpreter := python(t, generation)
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			plain := startPlain(t, interpreter, "writes.py")
			agent, dir := withAgent(t, interpreter, Config{}, nil, "writes.py")
			same(t, plain, agent)
			var got []string
			for _, row := range only(t, dir, "main").of("span", "io") {
				if row[8] == nil || row[9] == nil || row[9].(float64) < 10_000 {
					t.Errorf("no file or size: %v", row)
					continue
				}
				got = append(got, fmt.Sprintf("%s %s:%.0f %s", row[5], filepath.Base(row[6].(string)), row[7],
					filepath.Base(row[8].(string))))
			}
			slices.Sort(got)
			if counts := len(got); counts < 8 || counts > 12 {
				t.Errorf("%d spans: %v", counts, got)
			}
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("spans %q, want %q", got, want)
			}
		})
	}
}
