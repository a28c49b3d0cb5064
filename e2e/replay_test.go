package e2e

import (
	"encoding/json"
	"math"
	"os/exec"
	"testing"
)

// replayLimit is how far the unmodified replay may be from the recorded steps, as a share, on whatever machine the tests run; what is
// promised, and how much of the steps may wait for nothing, is judged where the machine is quiet (make replay): workers that
// another program keeps off the processors wait for nothing that is named.
const replayLimit = 0.1

// checkReplay prints a run's step beside its unmodified replay, as what-if gives them, and asks for the two to agree.
func checkReplay(t *testing.T, r *ran) {
	t.Helper()
	cmd := exec.Command(binary(t), "what-if", r.folder, "--scale", "cpu=1", "--json", "-")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v", cmd, err)
		return
	}
	var answer struct {
		Basis    string
		Steps    int
		BeforeMS float64 `json:"before_ms"`
		AfterMS  float64 `json:"after_ms"`
		Error    float64 `json:"replay_error"`
		Slack    float64
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Errorf("what-if --json: %v", err)
		return
	}
	t.Logf("replay of %d %s: %.3f ms, recorded %.3f ms (%+.2f %%), slack %.2f %%", answer.Steps, answer.Basis, answer.BeforeMS,
		answer.BeforeMS/(1+answer.Error), 100*answer.Error, 100*answer.Slack)
	if math.Abs(answer.Error) > replayLimit || math.Abs(answer.AfterMS/answer.BeforeMS-1) > 0.01 {
		t.Errorf("the unmodified replay is %.2f %% off, and %g ms become %g with nothing changed", 100*answer.Error,
			answer.BeforeMS, answer.AfterMS)
	}
}
