package cpython_test

import (
	"testing"
	"time"

	"bottleneck/internal/cpython"
)

// TestLocalsOfOtherFrames asks for variables of frames that are left at once: another function's values are not theirs.
func TestLocalsOfOtherFrames(t *testing.T) {
	for version, python := range interpreters(t) {
		t.Run(version, func(t *testing.T) {
			r := readerOf(t, start(t, python, "testdata/alternate.py"))
			kind := map[string]string{"numbers": "int", "texts": "str"}
			right, wrong, gone := 0, 0, 0
			var s cpython.Snapshot
			for deadline := time.Now().Add(time.Minute); right < 1000 && time.Now().Before(deadline); {
				if err := r.Take(&s); err != nil {
					t.Fatal(err)
				}
				if len(s.Threads) == 0 || len(s.Threads[0].Frames) == 0 || s.Threads[0].Fault != cpython.FaultNone {
					continue
				}
				want := kind[s.Threads[0].Frames[0].Code.Function]
				if want == "" {
					continue
				}
				locals, err := r.Locals(s.Threads[0].Addr, 0)
				if err != nil {
					gone++
				}
				for _, l := range locals {
					if l.Type == want {
						right++
					} else if l.Type == "int" || l.Type == "str" {
						wrong++
					}
				}
			}
			t.Logf("%d variables, %d of another frame; %d frames were gone", right, wrong, gone)
			// The same function may be back in its place by the time that the reading ends: a few per cent where two take turns so fast.
			if wrong*20 > right {
				t.Errorf("%d variables are of another frame, %d right", wrong, right)
			}
			if right == 0 {
				t.Error("no variables were read")
			}
		})
	}
}
