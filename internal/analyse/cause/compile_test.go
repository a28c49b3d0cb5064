package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A model that is compiled once more after the warm-up, for its first validation, is a first step that comes late; one that is
// compiled again and again is not.
func TestCompiledOnceMoreIsWarmup(t *testing.T) {
	for _, c := range []struct {
		name  string
		times int
		want  string
	}{{"once", 1, cause.Warmup}, {"again", 6, cause.Compile}} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Do(testkit.Native(100, module))
			compiling := testkit.Python(400, module, loop(49)).In(model.SpanCompile)
			p.Steps(2, model.PhaseWarmup, forward, compiling)
			p.Steps(10, model.PhaseBaseline, forward)
			p.Steps(c.times, model.PhaseBaseline, forward, compiling)
			p.Steps(10, model.PhaseBaseline, forward)
			for i := range p.P.Spans {
				p.P.Spans[i].Name = p.S.Strings.Intern(string(rune('a' + i))) // each has a name of its own
			}
			res, _ := find(t, p)
			if len(res.Findings) == 0 || res.Findings[0].Cause != c.want {
				t.Fatalf("findings %+v, want %s first", res.Findings, c.want)
			}
			saved := res.Findings[0].Run.Mid / 1e6
			want := 1200.0
			if c.want == cause.Compile {
				want = 0.95 * 2400
			}
			if saved < 0.9*want || saved > 1.1*want {
				t.Errorf("saves %.0f ms of the run, want about %.0f", saved, want)
			}
		})
	}
}
