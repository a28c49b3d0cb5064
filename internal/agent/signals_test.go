package agent

import (
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// TestHandlersOfSignals has exceptions raised in the middle of the agent's hooks: by handlers of signals that a timer sends, by another
// thread, and by signals that come while each of the functions runs that start and stop the profiler, collect and fork. The program
// catches every one of them, as it would without the agent, and what a handler's exception came into goes on.
func TestHandlersOfSignals(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for _, c := range []struct{ how, stdout string }{{"timer", "150\n"}, {"hooks", "True True\n"}, {"thread", "150\n"}} {
			t.Run(generation+"/"+c.how, func(t *testing.T) {
				testkit.Wide(t, c.how != "timer")
				t.Parallel()
				agent, dir := withAgent(t, interpreter, Config{}, nil, "handlers.py", c.how)
				same(t, startPlain(t, interpreter, "handlers.py", c.how), agent)
				if agent.stdout != c.stdout {
					t.Errorf("%q", agent.stdout)
				}
				all := read(t, dir)
				noHookFailed(t, all)
				if c.how == "thread" {
					return // a window that such an exception cuts off is lost
				}
				noFailures(t, all)
				whole := 0
				for _, row := range role(all, "main")[0].of("window") {
					if row[9] != nil && row[10] == nil {
						whole++
					}
				}
				if whole < 5 {
					t.Errorf("%d windows", whole)
				}
			})
		}
	}
}

// TestHandlersOfSignalsAreNotHeldUp has signals come while hooks run that the interpreter calls from C, that hang and that take long.
func TestHandlersOfSignalsAreNotHeldUp(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for _, c := range []struct{ how, stdout string }{
			{"blocked", "True\nTrue 10\n"}, {"hangs", "caught\n"}, {"tables", "done\n"}, {"interpreters", "builtin_function_or_method\n"},
		} {
			t.Run(generation+"/"+c.how, func(t *testing.T) {
				testkit.Wide(t, c.how != "interpreters")
				if c.how == "tables" && (generation == "torch-1.13" || generation == "torch-debian") {
					t.Skip("this PyTorch has no tables of memory")
				}
				t.Parallel()
				program := []string{"handlers.py", c.how}
				if c.how == "interpreters" {
					program = []string{"interpreters.py"}
				}
				agent, dir := withAgent(t, interpreter, Config{}, nil, program...)
				same(t, startPlain(t, interpreter, program...), agent)
				if agent.stdout != c.stdout {
					t.Errorf("%q", agent.stdout)
				}
				all := read(t, dir)
				noHookFailed(t, all)
				if exit := role(all, "main")[0].process["exit"]; exit == nil {
					t.Error("its end is not said")
				}
			})
		}
	}
}

// TestNothingIsAskedForAtTheEnd: a window's ticker outlives the program's last line, when Python 3.8 prints an error for each call that it
// is asked for.
func TestNothingIsAskedForAtTheEnd(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		agent, _ := withAgent(t, interpreter, Config{}, nil, "ending.py")
		if agent.status != 0 || agent.stdout != "2.0\n" || strings.Contains(agent.stderr, "SystemError") {
			t.Errorf("%s: %+v", generation, agent)
		}
	}
}
