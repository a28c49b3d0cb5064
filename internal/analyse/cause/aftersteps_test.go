package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"math"
	"testing"
)

// A checkpoint of 5 s after the last of 40 steps, or before the first, takes nothing in any step: it is neither a share of each nor saved
// once a step. One within the steps that comes three times counts three times.
func TestWorkOutsideOfTheStepsIsNotOfEach(t *testing.T) {
	save := func(ms int) testkit.Act { return testkit.Blocked(ms, module, loop(47)).In(model.SpanIO) }
	for _, c := range []struct {
		name                 string
		before, after, every int
		run                  float64 // ms
	}{{"after", 0, 5000, 0, 0}, {"before", 5000, 0, 0, 0}, {"within", 0, 0, 16, 3 * 0.96 * 400},
		{"within and after", 0, 5000, 16, 3 * 0.96 * 400}} {
		p := testkit.NewProgram()
		if c.before > 0 {
			p.Do(save(c.before))
		}
		for i := range 48 {
			acts := []testkit.Act{forward}
			if c.every > 0 && i%c.every == 8 {
				acts = append(acts, save(400))
			}
			p.Steps(1, model.PhaseBaseline, acts...)
		}
		if c.after > 0 {
			p.Do(save(c.after))
		}
		res, b := find(t, p)
		got := finding.Finding{}
		for _, f := range res.Findings {
			if f.Cause == finding.IO {
				got = f
			}
		}
		if math.Abs(got.Run.Mid/1e6-c.run) > 0.02*c.run+1 || got.Share*b.Mean()*48 > 1.05*3*400e6 {
			t.Errorf("%s the steps: %s, %.1f ms a step, %.0f ms of the run, want %.0f", c.name, got.Title, got.Step.Mid/1e6,
				got.Run.Mid/1e6, c.run)
		}
	}
}

// The collections with which a program ends are no collections of its steps.
func TestCollectionsAfterTheSteps(t *testing.T) {
	for after, want := range map[int]float64{0: 40 * 10, 5000: 40 * 10} {
		p := testkit.NewProgram()
		p.Steps(40, model.PhaseBaseline, forward, testkit.Python(10, module, loop(48)).In(model.SpanGC))
		if after > 0 {
			p.Do(testkit.Python(after, module, loop(99)).In(model.SpanGC))
		}
		res, _ := find(t, p)
		if f := res.Findings[0]; f.Cause != finding.GC || math.Abs(f.Run.Mid/1e6-want) > 1 {
			t.Errorf("with %d ms of collecting at the end: %s saves %.0f ms of the run, want %.0f", after, f.Cause, f.Run.Mid/1e6, want)
		}
	}
}
