package report

import (
	"fmt"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// foreignProfile accounts for the samples of another profiler's file. They say where time goes; what a thread waited for
// they do not, so that nothing is priced.
func (b *Builder) foreignProfile(p *model.Process) {
	a := account.Of(b.S, p)
	b.res.account = a
	if len(a.Windows) == 0 {
		b.nothing()
		return
	}
	if pythonProfile(b.S, p) {
		b.parts(a)
		b.R.Account.Process = "the busiest thread"
		if name := b.S.Strings.Text(p.Samples.Threads[int32(p.MainThread)]); name != "" {
			b.R.Account.Process = name
		}
		b.R.Account.Basis = fmt.Sprintf("%d samples of a %s file", len(a.Samples), p.Samples.Foreign)
		b.R.Account.Notes = append(b.R.Account.Notes, "only what its profiler sampled: most leave out threads that wait")
	}
	text, share := b.hottest(a, p)
	if text == "" {
		b.nothing()
		return
	}
	b.R.Verdict = Verdict{Bound: "unknown", Sentence: fmt.Sprintf("%s of the sampled time is in %s; samples alone price no fix.",
		units.Percent(share), text),
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
func (b *Builder) hottest(a *account.Breakdown, p *model.Process) (text string, share float64) {
	cls := code.NewFrameClasses(b.S, p)
	lines, functions := map[lineKey]float64{}, map[FuncKey]float64{}
	var line lineKey
	var function FuncKey
	python := pythonProfile(b.S, p)
	for _, at := range a.Samples {
		inner := true
		cls.Walk(p.Samples.Stack[at.Index], func(id model.FrameID) bool {
			f := cls.Stacks.Frames[id]
			if inner {
				k := FuncKey{f.File, f.Function, 0}
				if functions[k] += at.Weight; functions[k] > functions[function] {
					function = k
				}
				inner = false
			}
			if f.Line <= 0 || cls.File(f.File) != code.FileUser {
				return true
			}
			k := lineKey{f.File, f.Line}
			if lines[k] += at.Weight; lines[k] > lines[line] {
				line = k
			}
			return false
		})
	}
	name := b.S.Strings.Text
	if python && lines[line] > 0 {
		return fmt.Sprintf("line %d of %s", line.Line, Base(name(line.File))), lines[line] / max(a.Total, 1)
	}
	if functions[function] <= 0 {
		return "", 0
	}
	return name(function.Function), functions[function] / max(a.Total, 1)
}

// foreignLines says what a line-by-line profile shows.
func (b *Builder) foreignLines() {
	var most *model.CallLine
	total := model.Dur(0)
	for _, calls := range b.S.Calls {
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
	b.R.Verdict = Verdict{Bound: "python",
		Sentence: fmt.Sprintf("%s of the time of the measured functions is in line %d of %s, in %s (%s); a line's time holds what it "+
			"calls, and prices no fix.",
			units.Percent(float64(most.Time)/float64(total)), most.Line, Base(most.File), most.Function,
			units.Seconds(most.Time.Seconds())),
		Confidence: Confidence{Level: "medium", Why: "times per line of line_profiler, its cost included"}}
}

// nothing says what the inputs are where they hold nothing to judge.
func (b *Builder) nothing() {
	v := Verdict{Bound: "unknown", Sentence: "nothing to judge: the input holds no steps, samples or traced work.",
		Confidence: Confidence{Level: "low", Why: "no data"}}
	for _, in := range b.S.Inputs {
		if in.Note != "" {
			v.Sentence = fmt.Sprintf("nothing to judge: %s is %s.", Base(in.Path), in.Note)
			if n := len(b.S.Inputs) - 1; n > 0 {
				v.Sentence += fmt.Sprintf(" (and %d other files; see Files)", n)
			}
			break
		}
	}
	b.R.Verdict = v
}
