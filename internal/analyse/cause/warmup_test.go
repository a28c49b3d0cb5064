package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"math"
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

// What our own profiler takes of a preparation is no part of it: not of what is promised, nor of whether there is something to promise.
func TestPausesArePartOfNoPreparation(t *testing.T) {
	// what was sampled before the first step stands for all of it, 671 ms
	for paused, most := range map[int]float64{0: 671, 300: 335, 580: 0} {
		p := testkit.NewProgram()
		load := []testkit.Frame{module, loop(13), user("load", 60, 64)}
		p.Do(testkit.Python(600-paused, load...))
		if paused > 0 {
			p.Do(testkit.Python(paused, load...).In(model.SpanProfiler))
		}
		p.Steps(20, model.PhaseBaseline, forward)
		res, _ := find(t, p)
		got := 0.0
		for _, f := range res.Findings {
			if f.Cause == finding.Warmup {
				got = f.Run.High / 1e6
			}
		}
		if math.Abs(got-most) > 0.1*most {
			t.Errorf("%d of 600 ms are pauses: %v ms at most, want about %v", paused, got, most)
		}
	}
}
