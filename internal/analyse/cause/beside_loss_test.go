package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// lossProgram trains in train.py, whose function train begins in line 30, computes its loss in line 40, calls the backward pass in line 41,
// and spends 40 ms of each step in operators without a gradient where the frames lie.
func lossProgram(train, lib map[int]string, frames ...testkit.Frame) *testkit.Program {
	p := testkit.NewProgram()
	stack := testkit.Native(40, append([]testkit.Frame{module}, frames...)...)
	p.S.Sources = map[string]*model.Source{}
	for file, texts := range map[string]map[int]string{"/home/u/train.py": train, "/home/u/lib.py": lib} {
		lines := make([]string, 90)
		for n, text := range texts {
			lines[n-1] = text
		}
		p.S.Sources[file] = &model.Source{Lines: lines}
	}
	p.Steps(20, model.PhaseBaseline, testkit.Native(40, module, loop(40)),
		testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")), stack)
	trainingTrace(p, 3, stack, false)
	return p
}

// besideLine is the line at which a program is said to compute beside the training, 0 where it is not.
func besideLine(t *testing.T, p *testkit.Program) int {
	t.Helper()
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if f.Cause == finding.Python && f.Title.ID == "python.title-beside" {
			return f.Where.Line
		}
	}
	return 0
}

// What the loss is computed from is part of the training, also where the operators that make it have no gradient themselves.
func TestWhatTheLossDependsOnIsNotBeside(t *testing.T) {
	for _, tt := range []struct {
		name       string
		train, lib map[int]string
		frames     []testkit.Frame
	}{
		{"collected in a list", map[int]string{
			30: "def train(env, policy):",
			40: "        loss = -torch.stack(logps).sum()",
			41: "        loss.backward()",
			44: "        logps.append(dist.log_prob(a) * float(r))",
		}, nil, []testkit.Frame{loop(44)}},
		{"an argument of what is collected", map[int]string{
			30: "def train(env, policy):",
			40: "        loss = -torch.stack(logps).sum()",
			41: "        loss.backward()",
			44: "        a = int(probabilities.multinomial(1).item())",
			46: "        logps += [logits[",
			47: "            a]]",
		}, nil, []testkit.Frame{loop(44)}},
		{"what a function answers", map[int]string{
			30: "def train(env, policy):",
			40: "        loss = (policy(x) * advantages).mean()",
			41: "        loss.backward()",
			44: "        advantages, _ = gae(rewards)",
		}, map[int]string{10: "def gae(rewards):", 12: "    kept = rewards.cumsum(0).tolist()", 13: "    return torch.tensor(kept), 1"},
			[]testkit.Frame{loop(44), user("gae", 10, 12)}},
		{"kept in an object", map[int]string{
			30: "def train(env, policy):",
			40: "        loss = -torch.stack(agent.logps).sum()",
			41: "        loss.backward()",
			44: "        agent.act(s)",
		}, map[int]string{10: "    def act(self, s):", 12: "        self.logps.append(float(w) * dist.log_prob(a))"},
			[]testkit.Frame{loop(44), user("Agent.act", 10, 12)}},
	} {
		if line := besideLine(t, lossProgram(tt.train, tt.lib, tt.frames...)); line != 0 {
			t.Errorf("%s: line %d is said to be beside the training", tt.name, line)
		}
	}
}

// A function from which a backward pass is called is no work beside the training, however much of its time lies in what has no gradient.
func TestTheFunctionThatGoesBackwardIsNotBeside(t *testing.T) {
	p := testkit.NewProgram()
	step := func(line int) testkit.Frame {
		return testkit.Frame{File: "/home/u/lib.py", Function: "Trainer.step", First: 10, Line: line}
	}
	lines := make([]string, 40)
	for n, text := range map[int]string{
		10: "    def step(self):",
		12: "        ids = self.sampler.sample(self.batch)",
		14: "        loss = self.model(ids).mean()",
		15: "        loss.backward()",
		30: "    def sample(self, n):",
		32: "        return torch.from_numpy(self.lookup(self.draw(n).cpu().numpy()))",
	} {
		lines[n-1] = text
	}
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
	forward := testkit.Native(4, module, loop(40), step(14))
	back := testkit.Native(2, module, loop(40), step(15), torchFrame("autograd/graph.py", "_engine_run_backward"))
	sample := testkit.Native(94, module, loop(40), step(12), user("sample", 30, 32))
	p.Steps(20, model.PhaseBaseline, sample, forward, back, testkit.Native(5, module, loop(44)))
	const ms = 1_000_000
	tr := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	for i := range int64(3) {
		for k, op := range []string{"aten::to", "aten::linear", "autograd::engine::evaluate_function: AddmmBackward0"} {
			p.Event(&tr.Events, p.T+[]model.Time{0, 94 * ms, 98 * ms}[k], []model.Dur{94 * ms, 4 * ms, 2 * ms}[k], op, model.KindOp,
				model.NoEvent, int32(len(tr.Events.OpDetails)))
			tr.Events.OpDetails = append(tr.Events.OpDetails, model.OpDetail{Sequence: 2*i + int64(min(k, 1)), FwdThread: int32(k / 2)})
		}
		p.Steps(1, model.PhaseTrace, sample, forward, back)
	}
	tr.To = p.T
	tr.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), EndEvent: model.EventID(tr.Events.Len())}}
	p.S.Traces = append(p.S.Traces, tr)
	if line := besideLine(t, p); line != 0 {
		t.Errorf("line %d is said to be beside the training", line)
	}
}

// What only a log holds is beside the training, wherever it is computed.
func TestWhatOnlyALogHoldsIsBeside(t *testing.T) {
	for _, tt := range []struct {
		name       string
		train, lib map[int]string
		frames     []testkit.Frame
		line       int
	}{
		{"in the training function", map[int]string{
			30: "def train(model):",
			33: "    for x in (bar := progress(loader)):",
			40: "        loss = model(x).mean()",
			41: "        loss.backward()",
			44: "        error = (model.last - x).pow(2).mean()",
			45: "        worst = error.max()",
			46: `        history.append(("loss = loss + worst", worst.item()))  # loss = worst`,
			47: "        bar.set_postfix(loss=loss.item(), error=error.item())",
		}, nil, []testkit.Frame{loop(44)}, 44},
		{"norms that are printed", map[int]string{
			30: "def train(model):",
			40: "        loss = model(x).mean()",
			41: "        loss.backward()",
			44: "        print(sum(p.grad.norm() for p in model.parameters()))",
		}, nil, []testkit.Frame{loop(44)}, 44},
		{"in the function that computes the loss", map[int]string{
			30: "def train(model):",
			40: "        loss = training_step(model, x)",
			41: "        loss.backward()",
		}, map[int]string{
			10: "def training_step(model, x):",
			11: "    loss = model(x).mean()",
			12: "    log('entropy', model.last.softmax(-1).log().mean().item())",
			13: "    return loss",
		}, []testkit.Frame{loop(40), user("training_step", 10, 12)}, 12},
		{"read by the caller", map[int]string{
			30: "def train(model):",
			40: "        loss = model(x).mean()",
			41: "        loss.backward()",
			44: "        values = spread(x)",
			45: "        log.append((loss.item(), values[0].item()))",
		}, map[int]string{10: "def spread(x):", 12: "    return torch.linalg.svdvals(x)"},
			[]testkit.Frame{loop(44), user("spread", 10, 12)}, 12},
	} {
		if line := besideLine(t, lossProgram(tt.train, tt.lib, tt.frames...)); line != tt.line {
			t.Errorf("%s: line %d, want %d", tt.name, line, tt.line)
		}
	}
}

// A value that is made here and kept as a tensor by the statements that use it is read by nobody.
func TestKeptByItsUsersIsNotReadBack(t *testing.T) {
	for _, frames := range [][]testkit.Frame{{loop(44)}, {loop(44), user("average", 10, 12)}} {
		p := lossProgram(map[int]string{
			30: "def train(model):",
			40: "        loss = model(x).mean()",
			41: "        loss.backward()",
			44: "        new = average(shadow, 0.99)",
			45: "        shadow = new",
			46: "        losses.append(loss.item())",
		}, map[int]string{10: "def average(x, decay):", 12: "    return torch._foreach_mul(x, decay)"}, frames...)
		if line := besideLine(t, p); line != 0 {
			t.Errorf("line %d is said to be beside the training", line)
		}
	}
}

// A chain of element-wise operators is placed where the training calls it, not at the statistics that are a finding of their own.
func TestChainIsNotPlacedBesideTheTraining(t *testing.T) {
	p := testkit.NewProgram()
	stats := testkit.Native(60, module, loop(44))
	lines := make([]string, 60)
	lines[43] = "print(torch.histc(x, 32).tolist())"
	p.S.Sources = map[string]*model.Source{"/home/u/train.py": {Lines: lines}}
	p.Steps(20, model.PhaseBaseline, testkit.Native(40, module, loop(40)),
		testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")), stats)
	trainingTrace(p, 3, testkit.Native(40, module, loop(44)), false)
	ev := &p.S.Traces[0].Events
	for i := range ev.Name {
		if p.S.Strings.Text(ev.Name[i]) == "aten::linear" {
			ev.Name[i] = p.S.Strings.Intern("aten::mul")
		}
	}
	res, _ := find(t, p)
	found := 0
	for _, f := range res.Findings {
		switch {
		case f.Cause == finding.Python && f.Where.Line == 44:
			found++
		case f.Cause == finding.MemoryBound:
			found++
			if f.Where.Line != 40 {
				t.Errorf("the chain is placed at line %d", f.Where.Line)
			}
		}
	}
	if found != 2 {
		t.Errorf("findings %+v", res.Findings)
	}
}
