package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// Between two loops the program prepares data anew: no step shows it, the run pays for it.
func TestWorkBetweenTheSteps(t *testing.T) {
	csv := testkit.Frame{File: "/usr/lib/python3.11/csv.py", Function: "__next__", First: 180, Line: 185}
	for name, c := range map[string]struct {
		act  testkit.Act
		want bool
	}{
		"reads":          {testkit.Python(900, module, loop(30), user("load", 60, 64), csv), true},
		"evaluates":      {testkit.Native(900, module, loop(30), user("evaluate", 60, 64)), false},
		"sleeps":         {testkit.Blocked(900, module, loop(30), user("rest", 60, 64)), false},
		"compiles":       {testkit.Python(900, module, loop(30), user("build", 60, 64)).In(model.SpanCompile), false},
		"is short":       {testkit.Python(20, module, loop(30), user("load", 60, 64), csv), false},
		"calls much too": {testkit.Python(200, module, loop(30), user("evaluate", 60, 64)), false},
	} {
		p := testkit.NewProgram()
		for range 3 {
			p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
			if name == "calls much too" {
				p.Do(testkit.Native(700, module, loop(30), user("evaluate", 60, 64)))
			}
			p.Do(c.act)
		}
		p.Steps(1, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
		res, _ := find(t, p)
		got := false
		for _, f := range res.Findings {
			got = got || f.Cause == finding.Python && f.OfRun && f.Where.Line == 64
		}
		if got != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}

// An evaluation of one sample at a time calls small operators between the steps, and once more after the last one.
func TestSmallOperatorsBetweenTheSteps(t *testing.T) {
	env := testkit.Frame{File: "/usr/lib/python3.13/site-packages/gymnasium/wrappers/common.py", Function: "TimeLimit.step", First: 1, Line: 9}
	for name, c := range map[string]struct {
		python, native int // ms of a round
		inside         []testkit.Frame
		want           bool
	}{
		"one at a time":       {300, 600, []testkit.Frame{user("recall", 60, 64)}, true},
		"large operators":     {30, 870, []testkit.Frame{user("recall", 60, 64)}, false},
		"an environment":      {300, 600, []testkit.Frame{user("play", 60, 64), env}, false},
		"a tenth of a second": {10, 20, []testkit.Frame{user("recall", 60, 64)}, false},
	} {
		p := testkit.NewProgram()
		for range 3 {
			p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
			stack := append([]testkit.Frame{module, loop(44)}, c.inside...)
			for range 3 {
				p.Do(testkit.Native(c.native/3, stack...), testkit.Python(c.python/3, stack...))
			}
		}
		p.Do(testkit.Python(50, module))
		res, _ := find(t, p)
		var got *finding.Finding
		for i := range res.Findings {
			if res.Findings[i].Sub == "between" {
				got = &res.Findings[i]
			}
		}
		if (got != nil) != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
		// All three rounds count, though the last one has no step behind it.
		if got != nil && (got.Where.Line != 64 || got.Run.High < 0.9*2.7e9 || got.Run.High > 3.1e9 || got.Run.Low != 0) {
			t.Errorf("%s: %+v at %+v", name, got.Run, got.Where)
		}
	}
}

// Native code of another library is no operator: a step that computes in NumPy is not healthy for that.
func TestOtherLibrariesAreNoOperators(t *testing.T) {
	p := testkit.NewProgram()
	eigenvalues := testkit.Frame{File: "/venv/lib/python3.13/site-packages/numpy/linalg/_linalg.py", Function: "eigvals",
		First: 1100, Line: 1181}
	p.Steps(30, model.PhaseBaseline, testkit.Native(60, module, loop(40)),
		testkit.Native(40, module, loop(41), user("distance", 10, 14), eigenvalues))
	res, _ := find(t, p)
	want(t, res, finding.Python, "", 14, 37)
}

// The cells of a notebook and other texts that the program runs are the user's code as soon as their body was seen to run.
func TestTextsThatRun(t *testing.T) {
	cell := testkit.Frame{File: "<cell 3>", Function: "<module>", First: 1, Line: 9}
	body := testkit.Frame{File: "<cell 3>", Function: "accuracy", First: 2, Line: 5}
	generated := testkit.Frame{File: "<string>", Function: "__init__", First: 1, Line: 3}
	p := testkit.NewProgram()
	p.Steps(30, model.PhaseBaseline, testkit.Native(40, module, loop(40), cell),
		testkit.Python(60, module, loop(40), cell, body, generated))
	res, _ := find(t, p)
	if f := want(t, res, finding.Python, "", 5, 55); f.Where.File != "<cell 3>" || f.Where.Function != "accuracy" {
		t.Errorf("stands at %+v", f.Where)
	}
}

// The agent's own modules are texts that run, too, and stay the agent's where a sample sees one being loaded.
func TestAgentsModulesAreNoTextsOfTheProgram(t *testing.T) {
	loaded := testkit.Frame{File: "<bottleneck>/_bneck_agent/data.py", Function: "<module>", First: 1, Line: 9}
	around := testkit.Frame{File: "<bottleneck>/_bneck_agent/data.py", Function: "wrap.<locals>.fetch", First: 100, Line: 110}
	p := testkit.NewProgram()
	p.Do(testkit.Python(20, module, loaded))
	p.Steps(30, model.PhaseBaseline, testkit.Native(40, module, loop(40)),
		testkit.Python(60, module, loop(41), user("read", 10, 14), around))
	res, _ := find(t, p)
	want(t, res, finding.Python, "", 14, 55)
}

// Tiny operators are named where many are called, though large ones elsewhere take more of the operators' time.
func TestTinyOperatorsBesideLargeOnes(t *testing.T) {
	p := testkit.NewProgram()
	slices := []testkit.Frame{module, loop(43), user("average", 20, 23)}
	p.Steps(20, model.PhaseBaseline, testkit.Native(40, module, loop(40), user("convolve", 60, 61)), testkit.Native(25, slices...),
		testkit.Python(35, slices...))
	traced(p, 3, 3000, 8)
	large(p)
	res, _ := find(t, p)
	want(t, res, finding.Launch, "", 23, 0)
}

// large makes every tenth outermost operator of the program's trace, under another name, longer than a small one.
func large(p *testkit.Program) {
	ev := &p.S.Traces[0].Events
	name := p.S.Strings.Intern("aten::convolution")
	for i := 0; i+1 < ev.Len(); i += 20 {
		ev.Dur[i], ev.Name[i] = 30_500, name
	}
}

// Workers that sleep for a lock take turns: more of them are no help, and the price is that of fetching side by side.
func TestWorkersShareLock(t *testing.T) {
	for source, lock := range map[string]bool{"fcntl.flock(f, fcntl.LOCK_EX)": true, "with self.lock:": true,
		"with store.write_lock(timeout=3):": true, "with open(path) as f:": false, "clock(x)": false, "block = f.read()": false} {
		p := testkit.NewProgram()
		lines := make([]string, 20)
		lines[6] = source
		p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
		p.P.Loaders = []model.Loader{{Workers: 4, BatchSize: 32, File: p.S.Strings.Intern("/home/u/train.py"), Line: 25}}
		next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
		p.Steps(40, model.PhaseBaseline, testkit.Native(5, module, loop(40)),
			testkit.Blocked(70, module, loop(38), next).In(model.SpanDataWait))
		for i := range 4 {
			w := p.Add(model.RoleWorker, 101+i)
			for range 10 {
				w.Do(testkit.Blocked(225, user("__getitem__", 5, 7)).In(model.SpanFetch),
					testkit.Blocked(75, user("__getitem__", 5, 8)).In(model.SpanFetch))
			}
		}
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "storage", 7, 0)
		if said := strings.Contains(f.Title.String(), "lock"); said != lock || lock == (f.Fix.Action.Change() != "") {
			t.Errorf("%q: %q, change %q", source, f.Title, f.Fix.Action.Change())
		}
	}
}

// What runs after the last step alone is told by what it does: an evaluation of one sample at a time, or Python without operators.
func TestSmallOperatorsAfterTheLastStep(t *testing.T) {
	for name, c := range map[string]struct {
		python, native int // ms of a round
		want           bool
	}{"one at a time": {300, 600, true}, "large operators": {30, 870, false}, "no operators": {900, 20, false}, "short": {10, 20, false}} {
		p := testkit.NewProgram()
		p.Steps(60, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
		for range 3 {
			p.Do(testkit.Python(c.python, module, user("evaluate", 60, 64)))
			p.Do(testkit.Native(c.native, module, user("evaluate", 60, 64)))
		}
		res, _ := find(t, p)
		got, python := false, false
		for _, f := range res.Findings {
			got = got || f.Sub == "between" && f.Where.Line == 64 && f.Title.ID == "launch.title-after" && f.Run.Low == 0
			python = python || f.Cause == finding.Python && f.Where.Line == 64 && f.Title.ID == "python.title-after"
		}
		if got != c.want || python != (name == "no operators") {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}

// What takes more after the last step and is none of these hides nothing of what is between the steps.
func TestWorkAfterTheLastStepHidesNothing(t *testing.T) {
	csv := testkit.Frame{File: "/usr/lib/python3.11/csv.py", Function: "__next__", First: 180, Line: 185}
	for _, id := range []string{"launch.title-between", "python.title-between"} {
		p := testkit.NewProgram()
		for range 3 {
			p.Steps(25, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
			if id == "python.title-between" {
				p.Do(testkit.Python(120, module, loop(30), user("load", 60, 64), csv))
				continue
			}
			p.Do(testkit.Python(300, module, loop(30), user("recall", 60, 64)))
			p.Do(testkit.Native(600, module, loop(30), user("recall", 60, 64)))
		}
		p.Steps(1, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
		if id == "python.title-between" {
			p.Do(testkit.Python(380, module, user("plot", 70, 74), csv))
		} else {
			p.Do(testkit.Native(5000, module, user("score", 70, 74)))
		}
		res, _ := find(t, p)
		said := false
		for _, f := range res.Findings {
			said = said || f.Title.ID == id && f.Where.Line == 64
		}
		if !said {
			t.Errorf("want %s, found %+v", id, res.Findings)
		}
	}
}

// Where a loop asks a model once for each of many, the loop is the place and not what the model calls; what no turn hands to the next can
// be asked at once for certain.
func TestModelAskedForOneAfterAnother(t *testing.T) {
	for text, sure := range map[string]bool{"s = model(users[u])": true, "s = model(s)": false} {
		p := testkit.NewProgram()
		p.S.Sources["/home/u/rank.py"] = &model.Source{Path: "/home/u/rank.py", Lines: []string{"def evaluate(model, users, s):",
			"    for u in range(100):", "        " + text, "        hits.append(s.argmax())"}}
		at := func(line int) []testkit.Frame {
			return []testkit.Frame{module, loop(44), {File: "/home/u/rank.py", Function: "evaluate", First: 1, Line: line}}
		}
		layers := append(at(3), torchFrame("nn/modules/module.py", "Module._call_impl"), user("forward", 10, 12))
		for range 3 {
			p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
			for range 3 {
				p.Do(testkit.Native(130, layers...), testkit.Python(60, layers...), testkit.Native(50, at(4)...),
					testkit.Python(60, at(4)...))
			}
		}
		p.Do(testkit.Python(50, module))
		res, _ := find(t, p)
		var got *finding.Finding
		for i := range res.Findings {
			if res.Findings[i].Sub == "between" {
				got = &res.Findings[i]
			}
		}
		if got == nil || got.Where.Line != 3 || got.Where.Function != "evaluate" || (got.Run.Low > 0) != sure {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// TestOneFunctionOutsideOfTheSteps: what one function takes before the first step, in the interpreter between the steps, and in small
// operators there is one finding; what two functions take is two, and what drives the steps does one thing after another.
func TestOneFunctionOutsideOfTheSteps(t *testing.T) {
	for name, c := range map[string]struct {
		first, later, calls testkit.Frame
		want                int
	}{
		"one function":    {user("weigh", 60, 62), user("weigh", 60, 63), user("weigh", 60, 64), 1},
		"two functions":   {user("load", 50, 52), user("weigh", 60, 63), user("weigh", 60, 64), 2},
		"three functions": {user("load", 50, 52), user("weigh", 60, 63), user("draw", 70, 74), 3},
	} {
		p := testkit.NewProgram()
		p.Do(testkit.Python(900, module, loop(13), c.first))
		for range 3 {
			p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
			p.Do(testkit.Python(400, module, loop(44), c.later))
			for range 3 {
				p.Do(testkit.Native(200, module, loop(44), c.calls), testkit.Python(40, module, loop(44), c.calls))
			}
		}
		p.Steps(1, model.PhaseBaseline, testkit.Native(50, module, loop(40)))
		res, _ := find(t, p)
		n, all := 0, 0.0
		for _, f := range res.Findings {
			if f.OfRun {
				n++
				all += f.Run.Mid
			}
		}
		if n != c.want || all < 2000e6 || all > 4500e6 {
			t.Errorf("%s: %d findings that save %.0f ms: %+v", name, n, all/1e6, res.Findings)
		}
	}
}
