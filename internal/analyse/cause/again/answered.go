package again

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindAnswered names what is asked for the same in an inference, where something else is asked for new answers meanwhile: a program that
// asks for nothing new is a benchmark, which does so on purpose. And it names parts of a model, in a training too, that the model gives the
// same from call to call, while it is given something new itself.
func FindAnswered(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if len(c.P.Asked) == 0 {
		return nil
	}
	u := account.UntrackedWork(c.S, c.B)
	w := writesOf(c, u)
	random := drops(c)
	models := askedLines(c.P.Asked, random, w)
	var known []times.Interval
	for _, q := range models {
		known = append(known, q.spans...)
	}
	known = facts.Merged(known)
	inNew := slices.DeleteFunc(slices.Clone(c.P.Parts), func(r model.Asked) bool { return facts.Inside(known, r.Time) })
	var out []finding.Draft
	if u == nil && slices.ContainsFunc(models, func(q *askedLine) bool { return q.calls >= price.AskedLooks && 2*q.fresh > q.calls }) {
		out = addAnswered(out, c, l, stays(models, u), ofCalls, "again.fix-same")
	}
	return addAnswered(out, c, l, stays(askedLines(inNew, random, w), u), ofModels, "again.fix-part")
}

// shareOf is how much of the samples at lines is for what is known.
type shareOf func(c *facts.Facts, l finding.Ledger, chains []facts.Chain, lines []*askedLine) float64

// ofCalls is that of models: the known calls' part of the time of all that were looked at.
func ofCalls(_ *facts.Facts, _ finding.Ledger, _ []facts.Chain, lines []*askedLine) float64 {
	known, all := model.Dur(0), model.Dur(0)
	for _, q := range lines {
		known, all = known+q.took, all+q.all
	}
	return float64(known) / float64(max(all, 1))
}

// ofModels is that of parts, whose line may call others as well: the calls that were looked at tell which part of their models' time is
// theirs.
func ofModels(c *facts.Facts, l finding.Ledger, chains []facts.Chain, lines []*askedLine) float64 {
	var spans []times.Interval
	took, all := model.Dur(0), model.Dur(0)
	for _, q := range lines {
		spans, took = append(spans, q.spans...), took+q.took
	}
	var callers []*askedLine
	for i := range c.P.Asked {
		r := &c.P.Asked[i]
		if slices.ContainsFunc(spans, func(s times.Interval) bool { return r.Time <= s.Start && s.Start < r.End }) {
			all += model.Dur(r.End - r.Time)
			if callsFrom(callers, r) < 0 {
				callers = append(callers, &askedLine{file: r.File, line: r.Line})
			}
		}
	}
	whole := 0.0
	for _, ch := range c.Working(l) {
		ch.Index = c.B.Samples[ch.Index].Index
		if at := callerOf(c, ch); slices.ContainsFunc(callers, func(q *askedLine) bool { return q.is(at) }) {
			whole += ch.Weight
		}
	}
	return min(float64(took)/float64(max(all, 1))*whole/max(facts.Sum(chains), 1), 1)
}

// stays are the lines whose answers are known, of networks that do not change; in a training gradients may change what they go to.
func stays(lines []*askedLine, u *account.Untracked) []*askedLine {
	return slices.DeleteFunc(lines, func(q *askedLine) bool {
		return q.calls < price.AskedLooks || q.part(q.always) < price.AskedAgain || q.moves || q.moved+q.random > 0 ||
			u != nil && q.graph > 0
	})
}

// addAnswered adds the finding about lines whose answers are known, if they take enough to be worth one.
func addAnswered(out []finding.Draft, c *facts.Facts, l finding.Ledger, lines []*askedLine, part shareOf, fix string) []finding.Draft {
	if len(lines) == 0 {
		return out
	}
	most := slices.MaxFunc(lines, func(x, y *askedLine) int { return cmp.Compare(x.took, y.took) }).took
	lines = slices.DeleteFunc(lines, func(q *askedLine) bool { return float64(q.took) < price.AskedLittle*float64(most) })
	calls := 0
	for _, q := range lines {
		calls += q.calls
	}
	chains := askedFrom(c, l, lines)
	var f *finding.Draft
	if c.OnDevice() {
		f = answeredOnDevice(c, chains, lines)
	} else {
		f = askedFinding(c, "same", chains, part(c, l, chains, lines), price.AskedOnce)
	}
	if f != nil {
		f.Fix.Advice = []wording.Text{wording.Say(fix)}
	}
	return addAsked(out, f, calls)
}

// askedFrom are the samples of the accounted steps in modules that lines call, with the user's frames down to these lines.
func askedFrom(c *facts.Facts, l finding.Ledger, lines []*askedLine) (out []facts.Chain) {
	for _, ch := range c.Working(l) {
		q := askerOf(c, c.P.Samples.Stack[c.B.Samples[ch.Index].Index], lines)
		if q == nil {
			continue
		}
		if at := slices.IndexFunc(ch.Frames, func(f model.Frame) bool { return f.File == q.file && f.Line == q.line }); at >= 0 {
			ch.Frames = ch.Frames[:at+1]
		}
		out = append(out, ch)
	}
	return out
}

// askerOf is the outermost of the lines that has called a module in which a stack is; nil for none.
func askerOf(c *facts.Facts, stack model.StackID, lines []*askedLine) (found *askedLine) {
	called := false
	c.C.Walk(stack, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		if strings.HasSuffix(c.Text(f.File), model.ModuleFile) {
			called = true
		} else if c.C.File(f.File) == code.FileAgent {
			return true // it watches a call
		} else if i := slices.IndexFunc(lines, func(q *askedLine) bool { return called && q.file == f.File && q.line == f.Line }); i >= 0 {
			found, called = lines[i], false
		} else {
			called = false
		}
		return true
	})
	return found
}

// answeredOnDevice is the finding where a device computes the answers: what the calls that were looked at launched in traced steps goes.
func answeredOnDevice(c *facts.Facts, chains []facts.Chain, lines []*askedLine) *finding.Draft {
	var spans []times.Interval
	for _, q := range lines {
		spans = append(spans, q.spans...)
	}
	onHost, onDevice := launchedIn(c, facts.Merged(spans))
	if onHost == 0 || onDevice == 0 {
		return nil
	}
	saved, parts := c.Fewer(onHost, onDevice)
	if c.Share(saved) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "same", Where: finding.Nowhere(), Share: c.Share(saved),
		Confidence: c.Basis(len(c.B.Samples))}, parts)
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		f.Where = c.Where(sp)
	} else {
		q := slices.MaxFunc(lines, func(x, y *askedLine) int { return cmp.Compare(x.took, y.took) })
		f.Where.File, f.Where.Line = c.Text(q.file), int(q.line)
	}
	f.Step = f.By(price.AskedOnce).Times(c.PerStep(saved)).AtMost(c.B.Mean())
	f.Run = c.OverRun(f.Step)
	sayAsked(c, &f, "same", c.PerStep(saved))
	return &f
}

// launchedIn are the shares, 0..1, of the operators' time and of what the device computes for them that lie in spans of calls that were
// looked at, of the traced steps up to the last of these; zeros where none lies there.
func launchedIn(c *facts.Facts, spans []times.Interval) (onHost, onDevice float64) {
	if len(spans) == 0 {
		return 0, 0
	}
	last, looked := spans[len(spans)-1].End, model.Time(0) // of the traced steps, those in which calls were looked at
	called, calls, computed, computes := 0.0, 0.0, 0.0, 0.0
	classes := naming.NewKernelClasses(c.S.Strings)
	for _, st := range account.TracedSteps(c.S, c.B) {
		if st.Start > last {
			continue
		}
		looked = max(looked, st.End)
		st.EachKernel(classes, func(ev *model.Events, id, call model.EventID) {
			computes += float64(ev.Dur[id])
			computed += float64(finding.Btoi(facts.Inside(spans, ev.Start[call]))) * float64(ev.Dur[id])
		})
	}
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if at := ev.Start[id]; outer && at < looked {
			calls += float64(ev.Dur[id])
			called += float64(finding.Btoi(facts.Inside(spans, at))) * float64(ev.Dur[id])
		}
	})
	return called / max(calls, 1), computed / max(computes, 1)
}
