package export

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"bottleneck/internal/model"
)

// TestBackwardArrows writes a trace again and compares its arrows from forward to backward with those that torch wrote.
func TestBackwardArrows(t *testing.T) {
	path := sharedTraces + "/tracelens-small/normalization_layers_mi300.json.gz"
	s := &model.Session{Strings: &model.Strings{}}
	if !readInto(s, path) {
		t.Skipf("%s is not beside this checkout", sharedTraces)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var original chromeFile
	if err := json.NewDecoder(z).Decode(&original); err != nil {
		t.Fatal(err)
	}
	for _, phase := range []string{"s", "f"} {
		got, want := arrowEnds(exportChrome(t, s), phase), arrowEnds(original, phase)
		if len(want) == 0 || !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 0.01 }) {
			t.Errorf("%d ends %q, the original has %d, or they stand elsewhere", len(got), phase, len(want))
		}
	}
}

// arrowEnds are the times of one end of all arrows, µs from the first.
func arrowEnds(file chromeFile, phase string) []float64 {
	var out []float64
	for _, e := range file.TraceEvents {
		if e.Cat == "fwdbwd" && e.Ph == phase {
			out = append(out, *e.TS)
		}
	}
	slices.Sort(out)
	for i := range slices.Backward(out) {
		out[i] -= out[0]
	}
	return out
}
