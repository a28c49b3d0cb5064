package collect

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// TestSamplerStates samples a program that counts its own time: shares of functions lie within the statistical error of
// the truth, and each phase is seen in the state that it was in.
func TestSamplerStates(t *testing.T) {
	all := pythons(t)
	if testing.Short() {
		python := newestPython(t)
		all = map[string]string{"newest": python}
	}
	for version, python := range all {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			p := startProgram(t, python, "testdata/states.py")
			p.line(t)
			s, err := StartSampler(context.Background(), SamplerOptions{PID: p.cmd.Process.Pid, Hz: 500, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			var truth map[string][2]float64
			if err := json.Unmarshal([]byte(p.line(t)), &truth); err != nil {
				t.Fatal(err)
			}
			st := s.Stop()
			got := readSampled(t, dir)
			pid := p.cmd.Process.Pid
			checkShares(t, got.byLeaf[pid], truth, "heavy", "light")
			state := func(name string, want model.ThreadState) float64 {
				n := got.states[pid][name]
				return float64(n[want]) / float64(max(got.byLeaf[pid][name], 1))
			}
			flag := func(name string, bit uint8) float64 {
				n := int64(0)
				for f, k := range got.flags[pid][name] {
					if f&bit != 0 {
						n += k
					}
				}
				return float64(n) / float64(max(got.byLeaf[pid][name], 1))
			}
			// Shares of the GIL that a thread holds that runs alone, and one of two; a free-threaded build has none.
			alone, oneOfTwo, waits, busy := [2]float64{0.95, 1}, [2]float64{0.4, 0.6}, [2]float64{0.15, 0.6}, 0.98
			if version != "newest" && strings.HasSuffix(version, "t") {
				// A thread that is put aside on a busy machine may hold one of the many locks inside, and the other sleeps.
				alone, oneOfTwo, waits, busy = [2]float64{}, [2]float64{}, [2]float64{}, 0.5
			}
			attached := [2]float64{} // shares of samples in which such a build's thread runs Python
			if alone[0] == 0 {
				attached = [2]float64{0.95, 1}
			}
			for _, c := range []struct {
				what      string
				got       float64
				low, high float64
			}{
				{"heavy on CPU", state("heavy", model.StateCPU), 0.95, 1},
				{"heavy holds the GIL", flag("heavy", model.SampleHoldsGIL), alone[0], alone[1]},
				{"sleeping blocked", state("sleeping", model.StateBlocked), 0.95, 1},
				{"sleeping for a set time", flag("sleeping", model.SampleTimedSleep), 0.95, 1},
				{"sleeping in a lock", flag("sleeping", model.SampleOwnLock), 0, 0.05},
				{"locked in a lock", flag("locked", model.SampleOwnLock), 0.95, 1},
				{"locked for a set time", flag("locked", model.SampleTimedSleep), 0, 0.05},
				{"sleeping holds the GIL", flag("sleeping", model.SampleHoldsGIL), 0, 0.05},
				{"compressing on CPU", state("compressing", model.StateCPU), 0.9, 1},
				{"compressing holds the GIL", flag("compressing", model.SampleHoldsGIL), 0, 0.2},
				{"heavy attached", flag("heavy", model.SampleAttached), attached[0], attached[1]},
				{"compressing attached", flag("compressing", model.SampleAttached), 0, 0.2},
				{"sleeping attached", flag("sleeping", model.SampleAttached), 0, 0.05},
				{"collecting with GC", flag("collecting", model.SampleGC), 0.3, 1},
				{"sleeping with GC", flag("sleeping", model.SampleGC), 0, 0.05},
				{"contending holds the GIL", flag("contending", model.SampleHoldsGIL), oneOfTwo[0], oneOfTwo[1]},
				// A thread that waits wakes up every 5 ms and then stands in a busy machine's queue: it waits all the same.
				{"contending waits for the GIL", state("contending", model.StateGILWait), waits[0], waits[1]},
				{"contending waits or runs", state("contending", model.StateGILWait) + state("contending", model.StateCPU), busy, 1.001},
			} {
				if c.got < c.low || c.got > c.high {
					t.Errorf("%s: share %.2f, want %.2f to %.2f", c.what, c.got, c.low, c.high)
				}
			}
			if st.Failed*100 > st.Samples {
				t.Errorf("%d of %d samples failed", st.Failed, st.Samples)
			}
		})
	}
}

// checkShares compares the ratio of two functions with what the program counted, within five standard errors: a test
// of hundreds of runs must not fail by chance.
func checkShares(t *testing.T, leaves map[string]int64, truth map[string][2]float64, a, b string) {
	t.Helper()
	n := float64(leaves[a] + leaves[b])
	want := truth[a][0] / (truth[a][0] + truth[b][0])
	if n < 100 {
		t.Fatalf("only %v samples of %s and %s", n, a, b)
	}
	got := float64(leaves[a]) / n
	if limit := 5*math.Sqrt(want*(1-want)/n) + 0.01; math.Abs(got-want) > limit {
		t.Errorf("%s has %.3f of %s and %s, the program counted %.3f (± %.3f)", a, got, a, b, want, limit)
	}
}
