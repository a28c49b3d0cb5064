package cause_test

import (
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"strings"
	"testing"
)

// trainingTrace adds n traced steps: 40 ms of a layer that a backward pass goes through, the pass itself, and 40 ms of stack,
// in which another operator runs that carries the number of the layer of the next step. differentiated says whether that
// operator's result has a gradient too.
func trainingTrace(p *testkit.Program, n int, stack testkit.Act, differentiated bool) {
	trainingTraceOf(p, n, testkit.Native(40, module, loop(40)), stack, differentiated)
}

// trainingTraceOf is trainingTrace with what goes forward for 40 ms.
func trainingTraceOf(p *testkit.Program, n int, forward, stack testkit.Act, differentiated bool) {
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	add := func(start, end model.Time, name string, sequence int64, thread int32) {
		p.Event(ev, start, model.Dur(end-start), name, model.KindOp, model.NoEvent, int32(len(ev.OpDetails)))
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: sequence, FwdThread: thread})
	}
	const ms = 1_000_000
	for i := range int64(n) {
		at := p.T
		p.Steps(1, model.PhaseTrace, forward,
			testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")), stack)
		add(at, at+40*ms, "aten::linear", 2*i, 0)
		if differentiated {
			add(at+40*ms, at+50*ms, "autograd::engine::evaluate_function: NormBackward0", 2*i+1, 1)
		}
		add(at+50*ms, at+60*ms, "autograd::engine::evaluate_function: AddmmBackward0", 2*i, 1)
		number := 2 * (i + 1)
		if differentiated {
			number = 2*i + 1
		}
		add(at+60*ms, at+100*ms, "aten::histc", number, 0)
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
}

// besideProgram trains and computes something in a function besides; source is the text of its line.
func besideProgram(source string, differentiated bool) *testkit.Program {
	p := testkit.NewProgram()
	stats := testkit.Native(40, module, loop(44), user("statistics", 10, 12))
	lines := make([]string, 20)
	lines[11] = source
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
	p.Steps(20, model.PhaseBaseline, testkit.Native(40, module, loop(40)),
		testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")), stats)
	trainingTrace(p, 3, stats, differentiated)
	return p
}

func TestWorkBesideTheTraining(t *testing.T) {
	res, _ := find(t, besideProgram("kept[name] = torch.histc(p, 32).tolist()", false))
	f := want(t, res, finding.Python, "", 12, 38)
	if f.Title.ID != "python.title-beside" {
		t.Errorf("title %q", f.Title)
	}
}

// What a gradient flows through, what stays a tensor (a frozen part of the model) and what is inference is no such work.
func TestNeededWorkIsLeftAlone(t *testing.T) {
	for name, p := range map[string]*testkit.Program{
		"differentiated": besideProgram("penalty = float(weights.norm())", true),
		"stays a tensor": besideProgram("features = frozen(x)", false),
	} {
		if res, _ := find(t, p); res.Findings[0].Cause != finding.Compute {
			t.Errorf("%s: %+v", name, res.Findings[0])
		}
	}
	p := besideProgram("kept = torch.histc(p, 32).tolist()", false)
	ev := &p.S.Traces[0].Events
	for i := range ev.Name {
		if strings.HasPrefix(p.S.Strings.Text(ev.Name[i]), "autograd") {
			ev.Name[i] = p.S.Strings.Intern("aten::relu")
		}
	}
	if res, _ := find(t, p); res.Findings[0].Cause != finding.Compute {
		t.Errorf("inference: %+v", res.Findings[0])
	}
}

// An average of the weights that is kept as tensors is read by nobody: x.float() makes a tensor, not a number of Python's.
func TestKeptAsTensorsIsNotReadBack(t *testing.T) {
	res, _ := find(t, besideProgram("self.shadow[k] = self.decay * self.shadow[k] + (1 - self.decay) * v.detach().float()", false))
	for _, f := range res.Findings {
		if f.Cause == finding.Python {
			t.Errorf("claims %q at line %d", f.Title, f.Where.Line)
		}
	}
}

// A network that is asked in each step, its answer read back, steers what comes next: the actions of an environment.
func TestInferenceInTheStepIsNeeded(t *testing.T) {
	p := testkit.NewProgram()
	at := user("act", 10, 12)
	act := testkit.Native(40, module, loop(44), at, torchFrame("nn/modules/module.py", "Module._call_impl"),
		torchFrame("nn/modules/linear.py", "Linear.forward"))
	lines := make([]string, 20)
	lines[11] = "return policy(x).sample().numpy()"
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
	p.Steps(20, model.PhaseBaseline, testkit.Native(40, module, loop(40)),
		testkit.Native(20, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")), act)
	trainingTrace(p, 3, act, false)
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if f.Cause == finding.Python {
			t.Errorf("claims %q at line %d", f.Title, f.Where.Line)
		}
	}
}

// A network that is asked in each step and whose answer a loss compares with what is right is tried, not used.
func TestValidationInEachStep(t *testing.T) {
	f := want(t, validated(t, 1, 40), finding.Python, "", 12, 38)
	if f.Title.ID != "python.title-validation" || f.Fix.Advice[0].ID != "python.fix-validation" {
		t.Errorf("%q: %q", f.Title, wording.Sentences(f.Fix.Advice))
	}
}

// A validation in every tenth step is named where it takes a large part of the loop's time, and not where it takes little.
func TestValidationInFewSteps(t *testing.T) {
	f := want(t, validated(t, 10, 600), finding.Python, "", 12, 48) // 60 ms of the mean step, of which some stays
	if !strings.Contains(f.Title.String(), "every 10th step") || f.Fix.Advice[0].ID != "python.fix-validation-rarer" {
		t.Errorf("%q: %q", f.Title, wording.Sentences(f.Fix.Advice))
	}
	for _, f := range validated(t, 10, 60).Findings {
		if f.Cause == finding.Python {
			t.Errorf("a validation of a tenth of the time: %q", f.Title)
		}
	}
}

// validated is what is found of a program whose every nth step also tries the model, for so long.
func validated(t *testing.T, every, ms int) cause.Result {
	t.Helper()
	p := testkit.NewProgram()
	at := user("held_out", 10, 12)
	try := testkit.Native(40, module, loop(44), at, torchFrame("nn/modules/module.py", "Module._call_impl"),
		torchFrame("nn/modules/linear.py", "Linear.forward"))
	lines := make([]string, 20)
	lines[11] = "return mse_loss(model(x), y).item()"
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
	learn := []testkit.Act{testkit.Native(40, module, loop(40)), testkit.Native(20, module, loop(41),
		torchFrame("autograd/graph.py", "_engine_run_backward"))}
	long := try
	long.Ms = ms
	for range 20 {
		p.Steps(every-1, model.PhaseBaseline, learn...)
		p.Steps(1, model.PhaseBaseline, append(learn, long)...)
	}
	trainingTrace(p, 3, try, false)
	ev := &p.S.Traces[0].Events
	for i := range ev.Name {
		if p.S.Strings.Text(ev.Name[i]) == "aten::histc" {
			ev.Name[i] = p.S.Strings.Intern("aten::mse_loss")
		}
	}
	res, _ := find(t, p)
	return res
}

// Only the place's own statement tells whether it reads back, its further lines included; the next statement does not.
func TestReadsBackInItsOwnStatement(t *testing.T) {
	for next, reads := range map[string]bool{"torch.histc(p, 32).tolist())": true, "done = float(p)": false} {
		first := "kept.append("
		if !reads {
			first = "kept.append(torch.histc(p, 32))"
		}
		p := besideProgram(first, false)
		p.S.Sources["/home/u/lib.py"].Lines[12] = next
		res, _ := find(t, p)
		found := false
		for _, f := range res.Findings {
			found = found || f.Title.ID == "python.title-beside"
		}
		if found != reads {
			t.Errorf("%s %s: said to be beside the training: %v", first, next, found)
		}
	}
}
