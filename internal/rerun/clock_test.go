package rerun

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestClocks measures operators whose times are known: a fix is compared by the clock that the operator was timed with, and meets the
// same machine, whatever else that does meanwhile.
func TestClocks(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	stub, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", stub)
	for _, c := range []struct {
		name      string
		threads   int
		fix       string
		low, high float64 // of the time that is left
	}{
		{"aten::crowded", 1, "threads=2", 0.75, 1.35},
		{"aten::slower", 4, "threads=2", 0.7, 2},
		{"aten::faster", 4, "threads=2", 1.5, 2.5},
		{"aten::faster", 4, "threads=1", 3, 5},
	} {
		op := recorded(c.name, floats("[8]"))
		op.RecordedUs = 1100
		got, err := Measure(context.Background(), []Op{op}, Options{Interpreter: python, Budget: time.Second, Threads: c.threads, Cores: 2})
		if err != nil || len(got) != 1 || got[0].BaseUs == nil {
			t.Fatalf("%s: %+v, %v", c.name, got, err)
		}
		i := slices.IndexFunc(got[0].Fixes, func(f Fixed) bool { return f.Fix == c.fix })
		if i < 0 {
			t.Fatalf("%s was not repeated with %s: %+v", c.name, c.fix, got)
		}
		if left := got[0].left(got[0].Fixes[i]); left < c.low || left > c.high {
			t.Errorf("%s takes %g of its time with %s, want %g to %g", c.name, left, c.fix, c.low, c.high)
		}
	}
}
