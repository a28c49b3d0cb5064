package cause_test

import (
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A program that python -m runs out of an installed package has that package's lines as its own; a package that runs the user's script, as
// a debugger or a tracer does, has not.
func TestAPackageThatIsTheProgramHasItsOwnLines(t *testing.T) {
	runpy := testkit.Frame{File: "<frozen runpy>", Function: "_run_code", First: 65, Line: 88}
	packaged := func(fn string, line int) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/site-packages/tuner/scripts/fit.py", Function: fn, First: 1, Line: line}
	}
	for _, c := range []struct {
		name string
		main []testkit.Frame
		line int
	}{
		{"a program", []testkit.Frame{runpy, packaged("<module>", 90), packaged("main", 40)}, 31},
		{"a tracer", []testkit.Frame{runpy, packaged("<module>", 90), module, loop(44)}, 44},
		{"imported", []testkit.Frame{packaged("<module>", 90), packaged("main", 40)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			at := func(more ...testkit.Frame) []testkit.Frame {
				return append(append([]testkit.Frame{}, c.main...), more...)
			}
			p.Steps(20, model.PhaseBaseline, testkit.Native(60, at(torchFrame("nn/modules/linear.py", "forward"))...),
				testkit.Python(40, at(packaged("count", 31))...))
			res, _ := find(t, p)
			if c.line == 0 {
				for _, f := range res.Findings {
					if f.Where.Function == "count" {
						t.Errorf("%q stands in a package that nobody ran", f.Title)
					}
				}
				return
			}
			want(t, res, finding.Python, "", c.line, 0)
		})
	}
}

// A package that one line of the user's has do all training has its lines as the program's own. One that calls layers, data or hooks of the
// user's, or that a loop of the user's calls step by step, has not: then it is the user's line that is named.
func TestAPackageThatTrainsByItselfHasItsOwnLines(t *testing.T) {
	agent := func(fn string, line int) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/site-packages/agents/learn.py", Function: fn, First: 1, Line: line}
	}
	backward := torchFrame("autograd/__init__.py", "backward")
	learn := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 3}
	again := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 4}
	for _, c := range []struct {
		name   string
		counts []testkit.Frame
		learns []testkit.Frame
		source []string
		file   string
		line   int
	}{
		{"one line", []testkit.Frame{learn, agent("learn", 10), agent("count", 31)},
			[]testkit.Frame{learn, agent("learn", 11), backward}, nil, "learn.py", 31},
		{"a hook", []testkit.Frame{learn, agent("learn", 10), agent("call", 20), user("count", 30, 33)},
			[]testkit.Frame{learn, agent("learn", 11), backward}, nil, "lib.py", 33},
		{"the user goes backward", []testkit.Frame{learn, agent("count", 31)}, []testkit.Frame{again, backward}, nil, "train.py", 3},
		{"a hook that is seldom seen", []testkit.Frame{learn, agent("learn", 10), agent("count", 31)},
			[]testkit.Frame{learn, agent("learn", 11), backward}, []string{"seldom"}, "learn.py", 31},
		{"a loop of the user's", []testkit.Frame{learn, agent("learn", 10), agent("count", 31)},
			[]testkit.Frame{learn, agent("learn", 11), backward}, []string{"", "for x in data:", "    agent.learn(x)"}, "train.py", 3},
		{"another package goes backward", []testkit.Frame{learn, agent("learn", 10), agent("count", 31)},
			[]testkit.Frame{again, {File: "/usr/lib/python3.13/site-packages/others/fit.py", Function: "fit", First: 1, Line: 4}, backward}, nil,
			"train.py", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			if c.source != nil {
				p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: c.source}
			}
			p.Steps(20, model.PhaseBaseline, testkit.Native(60, c.learns...), testkit.Python(40, c.counts...))
			if slices.Contains(c.source, "seldom") {
				p.Do(testkit.Python(10, learn, agent("learn", 10), agent("call", 20), user("hook", 30, 33)))
			}
			res, _ := find(t, p)
			f := want(t, res, finding.Python, "", c.line, 0)
			if !strings.HasSuffix(f.Where.File, "/"+c.file) {
				t.Errorf("stands at %+v", f.Where)
			}
		})
	}
}
