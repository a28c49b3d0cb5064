package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// Steps that have no entry count, and so does their time.
func TestSkippedStepsCount(t *testing.T) {
	program := testkit.NewProgram()
	s := program.S
	s.Run = &model.Run{Start: 1e9, End: 20e9}
	kind := s.Strings.Intern("inference")
	step := func(number int64, start, end model.Time, skipped int64) model.Step {
		return model.Step{Number: number, Kind: kind, Phase: model.PhaseBaseline, Start: start, End: end, Skipped: skipped, Thread: 1}
	}
	program.P.Steps = []model.Step{step(0, 2e9, 3e9, 0), step(1, 3e9, 4e9, 9), step(11, 13e9, 14e9, 0)}
	b := &Builder{S: s, R: &Report{}}
	b.run()
	b.steps()
	if k := b.R.Steps; len(k) != 1 || k[0].Count != 12 || k[0].TotalS != 12 || k[0].Baseline.Count != 3 {
		t.Errorf("steps: %+v", k)
	}
	if p := b.R.Run.Phases; len(p) != 3 || p[1].Steps != 12 || p[1].FromS != 1 || p[1].ToS != 13 {
		t.Errorf("phases: %+v", p)
	}
}

// The parts of a run sum to it: what comes before the steps, the steps by kind, those without an entry too, and what lies around them.
func TestPartsOfARunSumToIt(t *testing.T) {
	p := testkit.NewProgram()
	line := testkit.Frame{File: "/home/u/train.py", Function: "main", First: 1, Line: 40}
	reads := testkit.Blocked(300, line)
	reads.Flags |= model.SampleDiskWait
	p.Do(testkit.Python(100, line))
	start := p.T
	p.Do(reads, testkit.Python(300, line))
	// The second import is a part of the first.
	p.P.Imports = []model.Span{{Kind: model.SpanImport, Start: start, End: p.T}, {Kind: model.SpanImport, Start: start, End: p.T - 100e6}}
	start = p.T
	p.Steps(1, model.PhaseWarmup, testkit.Native(50, line))
	p.P.Imports = append(p.P.Imports, model.Span{Kind: model.SpanImport, Start: start, End: p.T - 20e6})
	p.Steps(3, model.PhaseBaseline, testkit.Native(100, line))
	p.P.Steps[3].Skipped = 4
	p.Do(testkit.Native(400, line)) // steps without entries
	p.Steps(1, model.PhaseTrace, testkit.Native(100, line))
	p.Do(testkit.Python(60, line)) // between two steps
	p.Steps(1, model.PhaseBaseline, testkit.Native(90, line))
	p.P.Steps[5].Kind = p.S.Strings.Intern("validation")
	p.Do(testkit.Python(40, line))
	p.P.ExitStatus, p.P.Exit, p.P.End = new(int), "exit", p.T-25e6
	p.S.Run.End = p.T

	b := &Builder{S: p.S, R: &Report{}}
	b.run()
	var got []string
	sum := 0.0
	for _, part := range b.R.Run.Parts {
		sum += part.Ms
		got = append(got, fmt.Sprintf("%s %.0f", part.Part, part.Ms))
		for _, of := range part.Of {
			got = append(got, fmt.Sprintf("%s %.0f", of.Part, of.Ms))
		}
	}
	want := "imports 600, waiting for the disk 300, preparation 100, 1 warm-up step 50, imports 30, 8 train steps 800, " +
		"1 validation step 90, between steps 60, after the last step 40, the interpreter ends 25"
	if strings.Join(got, ", ") != want {
		t.Errorf("the run consists of %s\nwant %s", strings.Join(got, ", "), want)
	}
	if math.Abs(sum-b.R.Run.WallS*1e3) > 1e-6 {
		t.Errorf("the parts sum to %v ms of %v s", sum, b.R.Run.WallS)
	}
	if s := b.R.Run.Steady; s == nil || math.Abs(*s-890.0/1740) > 1e-9 {
		t.Errorf("steady share %v", s)
	}
}

// Steps that a gradient scaler skipped are counted; a few, by which it finds its scale, are not worth a word.
func TestStepsThatAScalerSkipped(t *testing.T) {
	for skipped, said := range map[float64]bool{1: false, 2: false, 12: true} {
		p := testkit.NewProgram()
		p.Steps(100, model.PhaseBaseline, testkit.Native(10, testkit.Frame{File: "/home/u/train.py", Function: "main", First: 1, Line: 40}))
		p.P.Counters = map[string]float64{"scaler_skipped_steps": skipped}
		notes := strings.Join(Build(p.S, Options{}).Account.Notes, " ")
		if strings.Contains(notes, fmt.Sprintf("skipped %.0f of 100 steps", skipped)) != said {
			t.Errorf("%.0f skipped: %q", skipped, notes)
		}
	}
}
