package cpython_test

import (
	"path/filepath"
	"testing"
	"time"

	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

// callers are the only functions that call each function of churn.py.
var callers = map[string][]string{
	"c": {"a"}, "d": {"b"}, "a": {"main"}, "b": {"main"}, "consume": {"main"}, "fresh": {"main"},
	"produce": {"consume"}, "fib": {"main", "fib"}, "callee": {"made_0", "made_1", "made_2", "made_3", "made_4", "made_5", "made_6"},
}

// TestChurn reads a program that calls and returns as fast as it can and checks every edge of every stack: none may be
// one that the program never made, and few stacks may be lost.
func TestChurn(t *testing.T) {
	seconds := "1.5"
	if testing.Short() {
		seconds = "0.8"
	}
	for version, python := range interpreters(t) {
		t.Run(version, func(t *testing.T) {
			cmd := start(t, python, "testdata/churn.py", seconds)
			mem := proc.OpenMemory(cmd.Process.Pid)
			in, err := cpython.Find(cmd.Process.Pid, mem)
			if err != nil {
				t.Fatal(err)
			}
			r := cpython.NewReader(in, mem, 5000)
			var s cpython.Snapshot
			var good, torn, moved, wrong int
			for begin := time.Now(); time.Since(begin) < 5*time.Second; {
				if r.Take(&s) != nil {
					break // the program ended
				}
				for i := range s.Threads {
					th := &s.Threads[i]
					switch {
					case th.Fault != cpython.FaultNone:
						torn++
						continue
					case len(th.Frames) > 0:
						good++
					}
					if th.Moved {
						moved++
					}
					if w := badEdge(th); w != "" {
						if wrong++; wrong < 5 {
							t.Logf("edge that was never made: %s", w)
						}
					}
				}
			}
			t.Logf("%s: %d stacks, %d torn (%.3f %%), %d moved, %d wrong (%.3f %%)", in.Version, good, torn,
				100*float64(torn)/float64(good+torn+1), moved, wrong, 100*float64(wrong)/float64(good+1))
			limit := good / 500 // a burst while threads end; the figure to reach is measured in bench/sampler
			if in.Layout.Frame.Heap {
				limit = good / 10
			}
			if good < 100 || torn > limit+3 || wrong > good/1000 {
				t.Errorf("too many bad stacks")
			}
		})
	}
}

// badEdge names a call in a stack that the program never makes, "" if there is none.
func badEdge(th *cpython.ThreadSample) string {
	for i := range th.Frames {
		c := th.Frames[i].Code
		want, known := callers[c.Function]
		if !known || filepath.Base(c.File) != "churn.py" && c.Function != "callee" {
			continue
		}
		caller := "(nothing)"
		if i+1 < len(th.Frames) {
			caller = th.Frames[i+1].Code.Function
		}
		ok := false
		for _, w := range want {
			ok = ok || w == caller
		}
		if !ok {
			return caller + " → " + c.Function
		}
	}
	return ""
}
