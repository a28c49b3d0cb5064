package view

import (
	"fmt"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// foreignProfile accounts for the samples of another profiler's file. They say where time goes; what a thread waited for
// they do not, so that nothing is priced.
func (b *builder) foreignProfile(p *model.Process) {
	a := analyse.StepBreakdown(b.s, p)
	b.res.account = a
	if len(a.Windows) == 0 {
		b.nothing()
		return
	}
	if pythonProfile(b.s, p) {
		b.parts(a)
		b.r.Account.Process = "the busiest thread"
		if name := b.s.Strings.Text(p.Samples.Threads[int32(p.MainThread)]); name != "" {
			b.r.Account.Process = name
		}
		b.r.Account.Basis = fmt.Sprintf("%d samples of a %s file", len(a.Samples), p.Samples.Foreign)
		b.r.Account.Notes = append(b.r.Account.Notes, "only what its profiler sampled: most leave out threads that wait")
	}
	text, share := b.hottest(a, p)
	if text == "" {
		b.nothing()
		return
	}
	b.r.Verdict = Verdict{Bound: "unknown", Sentence: fmt.Sprintf("%s of the sampled time is in %s; samples alone price no fix.", units.Percent(share), text),
		Confidence: Confidence{Level: "medium", Why: fmt.Sprintf("%d samples of another profiler", len(a.Samples))}}
}

// pythonProfile says whether the sampled frames are Python's: of other languages only functions can be told.
func pythonProfile(s *model.Session, p *model.Process) bool {
	python := 0
	for i := range p.Samples.Stacks.Frames {
		if strings.HasSuffix(s.Strings.Text(p.Samples.Stacks.Frames[i].File), ".py") {
			python++
		}
	}
	return 2*python >= len(p.Samples.Stacks.Frames)
}

// hottest is the user's line with most time of its own (library code that it called included), else the function.
func (b *builder) hottest(a *analyse.Breakdown, p *model.Process) (text string, share float64) {
	cls := analyse.NewFrameClasses(b.s, p)
	lines, functions := map[lineKey]float64{}, map[funcKey]float64{}
	var line lineKey
	var function funcKey
	python := pythonProfile(b.s, p)
	for _, at := range a.Samples {
		inner := true
		cls.Walk(p.Samples.Stack[at.Index], func(id model.FrameID) bool {
			f := cls.Stacks.Frames[id]
			if inner {
				k := funcKey{f.File, f.Function, 0}
				if functions[k] += at.Weight; functions[k] > functions[function] {
					function = k
				}
				inner = false
			}
			if f.Line <= 0 || cls.File(f.File) != analyse.FileUser {
				return true
			}
			k := lineKey{f.File, f.Line}
			if lines[k] += at.Weight; lines[k] > lines[line] {
				line = k
			}
			return false
		})
	}
	name := b.s.Strings.Text
	if python && lines[line] > 0 {
		return fmt.Sprintf("line %d of %s", line.line, base(name(line.file))), lines[line] / max(a.Total, 1)
	}
	if functions[function] <= 0 {
		return "", 0
	}
	return name(function.function), functions[function] / max(a.Total, 1)
}

// foreignLines says what a line-by-line profile shows.
func (b *builder) foreignLines() {
	var most *model.CallLine
	total := model.Dur(0)
	for _, calls := range b.s.Calls {
		for i := range calls.Lines {
			l := &calls.Lines[i]
			total += l.Time
			if most == nil || l.Time > most.Time {
				most = l
			}
		}
	}
	if most == nil || total <= 0 {
		return
	}
	b.r.Verdict = Verdict{Bound: "python", Sentence: fmt.Sprintf("%s of the time of the measured functions is in line %d of %s, in %s (%s); a line's time holds what it calls, and prices no fix.",
		units.Percent(float64(most.Time)/float64(total)), most.Line, base(most.File), most.Function, units.Seconds(most.Time.Seconds())),
		Confidence: Confidence{Level: "medium", Why: "times per line of line_profiler, its cost included"}}
}

// nothing says what the inputs are where they hold nothing to judge.
func (b *builder) nothing() {
	v := Verdict{Bound: "unknown", Sentence: "nothing to judge: the input holds no steps, samples or traced work.", Confidence: Confidence{Level: "low", Why: "no data"}}
	for _, in := range b.s.Inputs {
		if in.Note != "" {
			v.Sentence = fmt.Sprintf("nothing to judge: %s is %s.", base(in.Path), in.Note)
			if n := len(b.s.Inputs) - 1; n > 0 {
				v.Sentence += fmt.Sprintf(" (and %d other files; see Files)", n)
			}
			break
		}
	}
	b.r.Verdict = v
}
