package cause_test

import (
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
