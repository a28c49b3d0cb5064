package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/testkit"
)

// pictures is a program of convolutions with one thread on four cores, whose images' values lie as the strides say.
func pictures(strides string) *testkit.Program {
	p := convolutionProgram("aten::convolution", `["float", "float"]`)
	p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = 4, "1"
	args := &p.S.Traces[0].Events.OpArgs[0]
	args.Shapes, args.Strides = p.S.Strings.Intern("[[16, 32, 24, 24], [32, 32, 3, 3]]"), p.S.Strings.Intern(strides)
	return p
}

const (
	planar = "[[18432, 576, 24, 1], [288, 9, 3, 1]]"
	last   = "[[18432, 1, 768, 32], [288, 1, 96, 32]]"
)

// A program without findings is not said to have nothing to save where cheap changes were not tried; what was measured on too little of the
// operators counts as not tried.
func TestCheapChangesThatWereNotTried(t *testing.T) {
	threads := cause.MeasuredFix{Fix: "threads=4", Ops: 3, SavedMs: 0.5, OfMs: 60}
	layout := cause.MeasuredFix{Fix: "channels-last", Ops: 3, SavedMs: 0.5, OfMs: 55}
	few := cause.MeasuredFix{Fix: "threads=4", Ops: 1, SavedMs: 1, OfMs: 2}
	for _, c := range []struct {
		name, strides string
		fixes         []cause.MeasuredFix
		want          []string
	}{
		{"nothing measured", planar, nil, []string{"measured.untried-threads", "measured.untried-layout"}},
		{"the layout is the other one already", last, nil, []string{"measured.untried-threads"}},
		{"all measured", planar, []cause.MeasuredFix{threads, layout}, nil},
		{"threads measured", planar, []cause.MeasuredFix{threads}, []string{"measured.untried-layout"}},
		{"a small part measured", last, []cause.MeasuredFix{few}, []string{"measured.untried-threads"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pictures(c.strides)
			res, acc := find(t, p)
			var got []string
			for _, text := range res.Untried(facts.NewFacts(p.S, acc), c.fixes).Measurable {
				got = append(got, text.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("not tried: %v, want %v", got, c.want)
			}
		})
	}
}

// What recorded operators gain under a fix of which no rule has spoken is a finding, with the price that was measured.
func TestMeasuredFixesThatNoRuleNames(t *testing.T) {
	layout := cause.MeasuredFix{Fix: "channels-last", Ops: 3, SavedMs: 18, OfMs: 55}
	threads := cause.MeasuredFix{Fix: "threads=4", Ops: 3, SavedMs: 30, OfMs: 60}
	small := cause.MeasuredFix{Fix: "channels-last", Ops: 3, SavedMs: 0.5, OfMs: 55}
	for _, c := range []struct {
		name   string
		fix    cause.MeasuredFix
		others float64
		cause  string
		ms     float64
		change string
	}{
		{"another layout", layout, 0, finding.Layout, 0.9 * 18,
			"model = model.to(memory_format=torch.channels_last); x = x.to(memory_format=torch.channels_last)"},
		{"more threads", threads, 0, finding.Threads, 45, "OMP_NUM_THREADS=4"},
		{"more threads on crowded cores", threads, 1.5, finding.Compute, 0, ""},
		{"next to nothing", small, 0, finding.Compute, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pictures(planar)
			p.S.Environment.OthersBusyCores = &c.others
			acc := account.Of(p.S, p.P)
			ctx := facts.NewFacts(p.S, acc)
			res := cause.Find(ctx, nil)
			res.Measure(ctx, []cause.MeasuredFix{c.fix}, 1)
			f := res.Findings[0]
			if f.Cause != c.cause || f.Step.Mid < 0.95*c.ms*1e6 || f.Step.Mid > 1.05*c.ms*1e6 || f.Fix.Action.Change() != c.change {
				t.Errorf("%s saves %.1f ms by %q, want %s, %.1f ms, %q", f.Cause, f.Step.Mid/1e6, f.Fix.Action.Change(),
					c.cause, c.ms, c.change)
			}
			if f.Step.Low > f.Step.Mid || f.Step.Mid > f.Step.High || f.Step.High > acc.Mean() {
				t.Errorf("bounds %+v", f.Step)
			}
		})
	}
}
