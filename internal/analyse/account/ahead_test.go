package account_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A program that runs ahead of its device is through with a step long before the device is: its steps take what they take the device, and
// what is left of them when the program's own loop is over is no time after the last step.
func TestStepsByTheDevicesClock(t *testing.T) {
	const ms = 1_000_000
	at := testkit.Frame{File: "/home/u/train.py", Function: "train", First: 1, Line: 9}
	for name, c := range map[string]struct {
		device      [3]model.Dur // ms of each third of the steps, 0 unknown
		step, ahead float64      // ms
	}{
		"ahead":                 {[3]model.Dur{60, 60, 60}, 60, 50},
		"not known at the end":  {[3]model.Dur{60, 60, 0}, 60, 50},
		"not known of most":     {[3]model.Dur{60, 0, 0}, 10, 0},
		"waits for it":          {[3]model.Dur{10, 10, 10}, 10, 0},
		"without a device":      {[3]model.Dur{}, 10, 0},
		"some are longer there": {[3]model.Dur{9, 9, 13}, 31. / 3, 1. / 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Steps(30, model.PhaseBaseline, testkit.Native(10, at))
			for i := range p.P.Steps {
				p.P.Steps[i].DeviceDur = c.device[i/10] * ms
			}
			end := p.T + 30*60*ms // until the device is done
			b := account.Of(p.S, p.P)
			if got := b.Mean() / ms; math.Abs(got-c.step) > 0.01 || math.Abs(b.Ahead/30/ms-c.ahead) > 0.01 {
				t.Errorf("a step of %v ms, %v ms of it ahead", got, b.Ahead/30/ms)
			}
			if got := b.Part(account.PartGPUCompute) / 30 / ms; math.Abs(got-c.ahead) > 0.01 {
				t.Errorf("the device computes for %v ms of a step: %+v", got, b.Parts)
			}
			sum, steps := 0.0, 0.0
			run := &model.Run{Start: p.P.Steps[0].Start, End: end}
			for _, part := range account.OfRun(run, p.P) {
				if sum += part.Time; part.ID == account.RunSteps {
					steps = part.Time
				}
			}
			if math.Abs(sum-float64(run.End-run.Start)) > 1 || math.Abs(steps/30/ms-c.step) > 0.01 {
				t.Errorf("steps take %v ms of the run each; the parts sum to %v of %v", steps/30/ms, sum, run.End-run.Start)
			}
		})
	}
}
