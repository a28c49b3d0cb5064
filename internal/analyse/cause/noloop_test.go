package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"testing"
)

// A call that sleeps in a coroutine holds up the event loop; the same call in a thread of the program's own does not.
func TestACallThatHoldsUpTheEventLoop(t *testing.T) {
	std := func(file, fn string) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/" + file, Function: fn, First: 1, Line: 9}
	}
	run := []testkit.Frame{module, std("asyncio/base_events.py", "_run_once"), std("asyncio/events.py", "_run")}
	for _, c := range []struct {
		name  string
		outer []testkit.Frame
		inner testkit.Frame
		cause string
		sub   string
		loop  bool
	}{
		{"a socket in a coroutine", run, std("socket.py", "readinto"), finding.IO, "network", true},
		{"a lock in a coroutine", run, std("threading.py", "wait"), finding.Input, "queue", true},
		{"a socket", []testkit.Frame{module}, std("socket.py", "readinto"), finding.IO, "network", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			at := func(line int, inner ...testkit.Frame) []testkit.Frame {
				return append(append(append([]testkit.Frame{}, c.outer...), user("handle", 10, line)), inner...)
			}
			p.Steps(30, model.PhaseBaseline, testkit.Native(40, at(14)...), testkit.Blocked(60, at(12, c.inner)...))
			res, _ := find(t, p)
			f := want(t, res, c.cause, c.sub, 12, 0)
			if (f.Fix.Advice[0].ID == "event-loop.fix") != c.loop {
				t.Errorf("fix %q, want the event loop in it: %v", wording.Sentences(f.Fix.Advice), c.loop)
			}
		})
	}
}
