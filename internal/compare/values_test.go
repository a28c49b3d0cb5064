package compare

import (
	"testing"

	"bottleneck/internal/report"
)

// TestValues judges times that were measured in turns: as many pairs as decide it, fewer than that decide nothing.
func TestValues(t *testing.T) {
	noise := []float64{0, 0.004, -0.003, 0.002, -0.001, 0.003, -0.004, 0.001, 0.002, -0.002}
	side := func(ms float64, n int, turn int) (out []float64) {
		for i := range n {
			out = append(out, ms*(1+noise[(i+turn)%len(noise)]))
		}
		return out
	}
	for _, c := range []struct {
		after float64
		pairs int
		want  string
	}{{1.2, 10, report.Slower}, {0.8, 10, report.Faster}, {1, 10, report.Equal}, {1.2, 3, report.Undecided}} {
		d := Values(side(1, c.pairs, 0), side(c.after, c.pairs, 3))
		if d.Verdict != c.want || (d.Step.LowMs == nil) != (c.pairs < FewestRuns) {
			t.Errorf("%g after 1, %d pairs: %s, %+v", c.after, c.pairs, d.Verdict, d.Step)
		}
	}
}
