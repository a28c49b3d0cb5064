package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// A rank that sleeps until the other ranks have started prepares nothing that could be kept.
func TestWaitingForRanksIsNoPreparation(t *testing.T) {
	start := torchFrame("distributed/distributed_c10d.py", "init_process_group")
	for name, c := range map[string]struct {
		act  testkit.Act
		want bool
	}{
		"waits for ranks": {testkit.Blocked(600, module, loop(13), start, torchFrame("distributed/rendezvous.py", "_create_c10d_store")),
			false},
		"waits at a barrier": {testkit.Blocked(600, module, loop(13), torchFrame("distributed/distributed_c10d.py", "barrier")), false},
		"works":              {testkit.Python(600, module, loop(13), user("load", 60, 64)), true},
		"works a little":     {testkit.Python(50, module, loop(13), user("load", 60, 64)), false},
		"sleeps":             {testkit.Blocked(600, module, loop(13), user("load", 60, 64)), true},
		"reads the model": {testkit.Blocked(600, module, loop(13), torchFrame("distributed/checkpoint/filesystem.py", "read_data"),
			torchFrame("serialization.py", "load")), true},
	} {
		p := testkit.NewProgram()
		p.Do(c.act)
		p.Steps(20, model.PhaseBaseline, forward)
		res, _ := find(t, p)
		got := false
		for _, f := range res.Findings {
			got = got || f.Cause == finding.Warmup
		}
		if got != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}
