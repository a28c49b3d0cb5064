package cpython_test

import (
	"strings"
	"testing"

	"bottleneck/internal/cpython"
)

// TestSubinterpreter finds the threads of a second interpreter beside those of the first.
func TestSubinterpreter(t *testing.T) {
	for version, python := range interpreters(t) {
		t.Run(version, func(t *testing.T) {
			cmd := start(t, python, "testdata/subinterpreter.py")
			r := readerOf(t, cmd)
			var s cpython.Snapshot
			for range 20 { // an outermost frame elsewhere than before is believed the second time
				if err := r.Take(&s); err != nil {
					t.Fatal(err)
				}
			}
			inside, beside := 0, 0 // the newest interpreter comes first
			for _, th := range s.Threads {
				var names []string
				for _, f := range th.Frames {
					names = append(names, f.Code.Function)
				}
				switch text := strings.Join(names, ";"); {
				case strings.HasPrefix(text, "inside;<module>") && th.Interp == 0:
					inside++
				case strings.Contains(text, "beside;") && th.Interp == 1:
					beside++
				}
			}
			if inside != 1 || beside != 1 {
				t.Errorf("%d threads inside, %d beside: %+v", inside, beside, s.Threads)
			}
		})
	}
}
