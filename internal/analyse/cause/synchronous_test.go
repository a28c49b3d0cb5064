package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestSynchronousStepsPriceNoLaunches: where each launch waited for the device, an operator's time holds its kernel's, and nobody knows how
// much of it an ordinary run would hide. What the program does itself keeps its price, and so do launches where no device was used.
func TestSynchronousStepsPriceNoLaunches(t *testing.T) {
	for _, c := range []struct {
		name, variable string
		device, hidden bool
	}{
		{"ordinary", "", true, false},
		{"synchronous", "1", true, true},
		{"switched off", "0", true, false},
		{"on the CPU alone", "1", false, false},
	} {
		p := testkit.NewProgram()
		cell := []testkit.Frame{module, loop(40), user("cell", 20, 23)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(60, cell...), testkit.Python(40, cell...))
		traced(p, 3, 3000, 20)
		p.S.Environment.Threads["CUDA_LAUNCH_BLOCKING"] = c.variable
		if c.device {
			for i := range p.P.Steps {
				p.P.Steps[i].DeviceDur = 1
			}
		}
		res, b := find(t, p)
		launch := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Launch })
		if launch == c.hidden {
			t.Errorf("%s: launches priced: %v", c.name, launch)
		}
		r := replay.NewSession(p.S, b)
		if r == nil || r.Removable("sync") == c.hidden || r.Removable("comm-exposed") == c.hidden || !r.Removable("python") {
			t.Errorf("%s: the wrong causes can be removed", c.name)
		}
		p.P.Steps, p.S.Environment.GPUs = nil, []model.GPU{{Name: "G"}}
		if r := replay.NewSession(p.S, account.Of(p.S, p.P)); c.hidden == (r != nil) && c.device {
			t.Errorf("%s: its traces are replayed", c.name)
		}
	}
}
