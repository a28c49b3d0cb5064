package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// agentSource acts in an environment in one loop and learns in another one; its lines are those of loop and of act below.
const agentSource = `def train(env, policy):
    for episode in range(100):
        state = env.reset()
        for t in range(500):
            action = act(state)
            state = env.step(action)
        for a, b in pairs:
            loss = learn(a, b)
    while not done:
        for t in range(20):
            action = act(state)
            state = env.step(action)
        loss = learn(a, b)

def act(state):
    return policy(state)
`

// TestTurnsThatWaitForAnEnvironment: what an agent computes between two steps of its environment cannot be done at once for all of them,
// whatever its line calls; a loop beside that one can.
func TestTurnsThatWaitForAnEnvironment(t *testing.T) {
	train := func(line int) testkit.Frame {
		return testkit.Frame{File: "/home/u/agent.py", Function: "train", First: 1, Line: line}
	}
	act := testkit.Frame{File: "/home/u/agent.py", Function: "act", First: 15, Line: 16}
	learn := testkit.Frame{File: "/home/u/agent.py", Function: "learn", First: 20, Line: 21}
	env := testkit.Frame{File: "/usr/lib/python3.13/site-packages/gymnasium/wrappers/common.py", Function: "TimeLimit.step", First: 1, Line: 9}
	metric := env
	metric.Function = "TimeLimit.reset"
	for _, c := range []struct {
		name   string
		stack  []testkit.Frame
		beside testkit.Frame
		advice string
	}{
		{"acting", []testkit.Frame{train(5), act}, env, "launch.fix-rollout"},
		{"learning in another loop", []testkit.Frame{train(8), learn}, env, "launch.fix-loop-at-once"},
		{"learning around a loop that acts", []testkit.Frame{train(13), learn}, env, "launch.fix-loop-at-once"},
		{"a library that steps nothing", []testkit.Frame{train(5), act}, metric, "launch.fix-loop-at-once"},
	} {
		p := testkit.NewProgram()
		p.S.Sources["/home/u/agent.py"] = &model.Source{Path: "/home/u/agent.py", Lines: strings.Split(agentSource, "\n")}
		stack := append(c.stack, torchFrame("nn/modules/linear.py", "forward"))
		p.Steps(40, model.PhaseBaseline, testkit.Native(30, stack...), testkit.Python(20, stack...), testkit.Python(12, train(6), c.beside),
			testkit.Python(2, train(11), act, torchFrame("nn/modules/linear.py", "forward")), testkit.Python(2, train(12), c.beside))
		tracedStep(p, testkit.Native(62), called{name: "aten::linear", n: 1500, us: 25})
		res, _ := find(t, p)
		f := res.Findings[0]
		if f.Cause != finding.Launch || f.Fix.Advice[0].ID != c.advice {
			t.Errorf("%s: %s, %s", c.name, f.Cause, f.Fix.Advice[0].ID)
		}
		if c.advice == "launch.fix-rollout" && f.Step.Low > 0 {
			t.Errorf("%s: %v ms are certain", c.name, f.Step.Low/1e6)
		}
	}
}

// actingSource is what a library has that trains agents: one environment of several after the other in a loop within the agent's.
const actingSource = `def train(envs, policy):
    while steps < 500:
        action = policy(state)
        state = step(envs, action)

def step(envs, actions):
    for env in envs:
        env.step(actions[i])
`

// TestActingThatNoTraceHolds: a rollout is named from samples alone where no trace holds one, by what is called between two steps of the
// environments, not by a loop over these.
func TestActingThatNoTraceHolds(t *testing.T) {
	train := func(line int) testkit.Frame {
		return testkit.Frame{File: "/home/u/agent.py", Function: "train", First: 1, Line: line}
	}
	step := testkit.Frame{File: "/home/u/agent.py", Function: "step", First: 6, Line: 8}
	library := func(fn string) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/site-packages/gymnasium/wrappers/common.py", Function: fn, First: 1, Line: 9}
	}
	env, other := library("TimeLimit.step"), library("TimeLimit.reset")
	for _, called := range []testkit.Frame{env, other} {
		p := testkit.NewProgram()
		p.S.Sources["/home/u/agent.py"] = &model.Source{Path: "/home/u/agent.py", Lines: strings.Split(actingSource, "\n")}
		p.Steps(40, model.PhaseBaseline, testkit.Native(30, train(3), torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(20, train(3), torchFrame("nn/modules/module.py", "Module._call_impl")),
			testkit.Python(12, train(4), step, called))
		res, _ := find(t, p)
		f := &res.Findings[0]
		if acting := f.Title.ID == "launch.title-acting"; acting != (called == env) {
			t.Errorf("%s: %s", called.Function, f.Title)
		} else if acting && (f.Where.Line != 3 || f.Step.Low != 0 || f.Step.Mid < 15e6 || f.Step.Mid > 20e6) { // 0.35 of 50 ms
			t.Errorf("at line %d, %+v", f.Where.Line, f.Step)
		}
	}
}

// TestSteppingAnEnvironment: an agent cannot step its environment less often; another form of it may be faster, or there is none.
func TestSteppingAnEnvironment(t *testing.T) {
	library := func(fn string) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/site-packages/gymnasium/wrappers/common.py", Function: fn, First: 1, Line: 9}
	}
	for function, advice := range map[string]string{"TimeLimit.step": "python.fix-environment", "TimeLimit.render": "python.fix-library"} {
		p := testkit.NewProgram()
		p.Steps(40, model.PhaseBaseline, testkit.Native(30, module, loop(40)), testkit.Python(60, module, loop(41), library(function)))
		res, _ := find(t, p)
		f := want(t, res, finding.Python, "", 41, 0)
		if f.Fix.Advice[0].ID != advice || (f.Step.Low > 0) != (function == "TimeLimit.render") {
			t.Errorf("%s: %s, %+v", function, f.Fix.Advice[0].ID, f.Step)
		}
	}
}

// TestLoopOfTwoLines: a loop of several lines within a step is one place, though none of its lines has most of the calling; the loop over
// the steps themselves is none.
func TestLoopOfTwoLines(t *testing.T) {
	lines := make([]string, 60)
	for line, text := range map[int]string{30: "def train():", 38: "    for x in batches:", 40: "        y = net(x)",
		42: "        for i in range(n):", 43: "            a[i] += f(y[i])",
		44: "            b[i] += g(y[i])", 50: "        loss.backward()", 51: "        opt.step()"} {
		lines[line-1] = text
	}
	for _, c := range []struct {
		name   string
		lines  [2]int
		beside int // ms of each of five other lines
		want   string
	}{
		{"within the step", [2]int{43, 44}, 3, "launch.fix-loop-at-once"},
		{"within the step, with less than half of the calling", [2]int{43, 44}, 6, "launch.fix-loop-at-once"},
		{"within the step, beside lines that have as much", [2]int{43, 44}, 20, "launch.fix-spread-more"},
		{"the steps' own", [2]int{40, 46}, 3, "launch.fix-spread-more"},
	} {
		lines[45], lines[46] = "        z = net(y)", "        env.step(z)"
		p := testkit.NewProgram()
		p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
		op := torchFrame("_tensor.py", "index_add")
		var acts []testkit.Act
		for _, line := range c.lines {
			acts = append(acts, testkit.Native(12, module, loop(line), op), testkit.Python(12, module, loop(line)))
		}
		for line := 31; line < 36; line++ {
			acts = append(acts, testkit.Native(c.beside, module, loop(line), op), testkit.Python(c.beside, module, loop(line)))
		}
		env := testkit.Frame{File: "/usr/lib/python3.13/site-packages/gymnasium/core.py", Function: "Env.step", First: 1, Line: 9}
		acts = append(acts, testkit.Native(3, module, loop(50), torchFrame("autograd/graph.py", "_engine_run_backward")),
			testkit.Python(1, module, loop(47), env),
			testkit.Native(2, module, loop(51), torchFrame("optim/sgd.py", "_single_tensor_sgd")))
		p.Steps(40, model.PhaseBaseline, acts...)
		step := 53 + 10*c.beside
		tracedStep(p, testkit.Native(step), called{name: "aten::index_add_", n: 18 * step, us: 25})
		res, _ := find(t, p)
		f, inner := res.Findings[0], c.want == "launch.fix-loop-at-once"
		if f.Cause != finding.Launch || f.Fix.Advice[0].ID != c.want || (f.Where.Line == 43) != inner {
			t.Errorf("%s: %s at line %d, %s", c.name, f.Cause, f.Where.Line, f.Fix.Advice[0].ID)
		}
	}
}
