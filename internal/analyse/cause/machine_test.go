package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"math"
	"testing"
)

// A quota's price is what it held back, and at most what the cores that the program wants beyond it can make faster: the counter is the
// sum over all cores' queues and over all that runs in the container.
func TestQuotaSavesNoMoreThanItsCores(t *testing.T) {
	for _, c := range []struct {
		name               string
		quota              float64
		cpus               int
		threads            string
		throttled, run     float64 // s
		mid, high, allowed float64 // s
	}{
		{"held back for a little", 2, 8, "4", 2, 10, 2 * 0.8 / 4, 2, 0.001},
		{"held back nearly all the time by the counter", 0.5, 2, "1", 9, 10, 5, 7.5, 0.001},
		{"threads on each core", 1, 4, "4", 9.5, 10, 9.5 * 0.8 / 4, 7.5, 0.001},
		{"more granted than its threads want", 4, 8, "2", 8, 10, 8 * 0.8 / 2, 5, 0.001},
		{"more granted than there is", 8, 4, "4", 3, 10, 0, 0, 0.001},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			e := &p.S.Environment
			e.CPUs, e.CPUQuota, e.ThrottledSeconds = c.cpus, &c.quota, &c.throttled
			e.Threads["torch.get_num_threads"] = c.threads
			p.Steps(int(c.run*10), model.PhaseBaseline, testkit.Native(100, module, loop(40),
				torchFrame("nn/modules/linear.py", "forward")))
			res, _ := find(t, p)
			var got finding.Range
			for _, f := range res.Findings {
				if f.Sub == "cpu-quota" {
					got = f.Run
				}
			}
			if math.Abs(got.Mid/1e9-c.mid) > c.allowed || math.Abs(got.High/1e9-c.high) > c.allowed {
				t.Errorf("saves %.2f s, up to %.2f, want %.2f, up to %.2f", got.Mid/1e9, got.High/1e9, c.mid, c.high)
			}
		})
	}
}
