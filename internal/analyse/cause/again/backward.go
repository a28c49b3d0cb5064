package again

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindBackward names steps that go backward through one graph from one output several times, as a physics-informed network does that asks
// for the derivative by each of its inputs apart.
func FindBackward(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.B.PerStep {
		return nil
	}
	b := account.BackwardAgain(c.S, c.B)
	if b == nil || b.All <= 0 {
		return nil
	}
	took := b.Time
	if b.AllKernels > 0 {
		took = b.Kernels
	}
	t, parts := c.Fewer(b.Time/b.All, b.Kernels/max(b.AllKernels, 1))
	if c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "backward", Where: passesWhere(c, b.Spans, "autograd.grad("),
		Share: c.Share(t), Confidence: c.Basis(len(c.B.Samples))}, parts)
	f.Step = f.By(price.BackwardAgain).Times(c.PerStep(t)).AtMost(c.B.Mean())
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("again.title-backward", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("again.backward", wording.Value("passes", b.Passes), c.Said(), wording.Value("again", b.Again)),
		wording.Say("again.backward-time", wording.Time("time", took), c.Said()),
	}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-backward")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-backward")}
	return []finding.Draft{f}
}

// passesWhere is the line that most samples of these passes stand in, in traced steps, or without samples the only one with such a call.
// Where that is a helper's, and the function around it calls the helper several times, the line with most of its calls is the place: there
// the calls can become one.
func passesWhere(c *facts.Facts, spans []times.Interval, asks string) finding.Where {
	var chains []facts.Chain
	c.TracedChains(facts.Merged(spans), func(ch facts.Chain, _ model.Time) {
		if len(ch.Frames) > 0 {
			chains = append(chains, ch)
		}
	})
	lines := facts.LineTimes(chains)
	if len(lines) == 0 {
		if at, ok := c.OnlyLine(func(text string) bool { return strings.Contains(text, asks) }); ok {
			return at.Where()
		}
		return finding.Nowhere()
	}
	helper := facts.KeyOf(&lines[0].Frame)
	var callers []facts.Chain
	for _, ch := range chains {
		if n := len(ch.Frames); n > 1 && facts.KeyOf(&ch.Frames[n-1]) == helper {
			ch.Frames = ch.Frames[:n-1]
			callers = append(callers, ch)
		}
	}
	// A function that is on the stack nearly all the time is the step itself, no helper.
	calls := facts.LineTimes(callers)
	if len(calls) > 0 && !c.Drivers[helper] && callsSeveral(c, calls, c.Text(helper.Name)) {
		return c.Where(calls[0])
	}
	return c.Where(lines[0])
}

// callsSeveral says that a function calls another one in several of its lines, or several times in one.
func callsSeveral(c *facts.Facts, calls []facts.Spot, name string) bool {
	first := &calls[0].Frame
	for i := range calls[1:] {
		if other := &calls[i+1].Frame; facts.KeyOf(other) == facts.KeyOf(first) {
			return true
		}
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.Count(c.Source(c.Text(first.File), int(first.Line)), name+"(") > 1
}
