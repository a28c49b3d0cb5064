package again

import (
	"cmp"
	"math"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
	"bottleneck/internal/wording"
)

// FindPrefix names steps that compute a whole sequence again for each token that is added to it: a language model that writes without
// keeping the keys and values of the tokens before. Traced steps, or what the first calls of a model are given, show that each has as many
// rows more than the one before as there are sequences, and unprofiled ones how much longer that makes them. Of long texts they cannot show
// it: the price is then a share.
func FindPrefix(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if c.B.Phase != model.PhaseBaseline {
		return nil
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return (a.Part == account.PartOps || a.Part == account.PartGPUCompute) && !l.Taken(k)
	})
	rows := account.MatrixRows(c.S, c.B)
	if g, cost, ok := longest(c, grows(rows)); ok {
		return prefix(c, chains, g, cost, g.share(rows))
	}
	calls := growingCalls(c.P.Asked)
	if calls == nil || c.Text(c.B.Kind) == "train" || !calls.through(c, rows) {
		return nil // of texts beside a training the source tells
	}
	chains = calls.beneath(c, chains)
	if g, cost, ok := longest(c, calls.growths(c.P.Steps)); ok {
		return prefix(c, chains, g, cost, calls.share())
	}
	if !calls.long() {
		return nil // steps would take longer as it grows
	}
	t := calls.longestTurn()
	return prefix(c, chains, growth{rows: t.to, by: t.by, steps: int64(t.calls)}, lengths{}, calls.share())
}

// prefix is the finding of a growth with which a part of the steps go on. Where nothing is known of how much longer these become, cost is
// empty.
func prefix(c *facts.Facts, chains []facts.Chain, g growth, cost lengths, growing float64) []finding.Draft {
	sp, ok := facts.Hottest(callersOf(c, chains), c.Drivers)
	if !ok || len(chains) < facts.MinSamples {
		return nil
	}
	t := facts.Sum(chains)
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "prefix", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, 1)
	ofDevice(c, &f)
	mean, most := c.B.Mean(), c.PerStep(t)
	left := f.By(price.OneToken).Scale(mean)
	alone := f.By(price.OneTokenLine).Scale(cost.alone)
	// A device computes next to nothing for one token, and as many operators are called for it as for the shortest sequence.
	called := calling(c)
	switch {
	case cost.first > 0:
		called = min(called, cost.first)
	case called == 0 && c.B.Ops != nil:
		called = c.B.Ops.SmallTime // no device is called: what is small for all tokens is as long for one
	}
	calls := f.By(price.OneTokenCalls).Scale(called)
	saved := func(left ...float64) float64 { return min(max(mean-slices.Max(left), 0), most) }
	f.Step = finding.Bounds(growing*saved(left.High, alone.High, calls.High), growing*saved(left.Mid, alone.Mid, calls.Mid),
		saved(left.Low, alone.Low, calls.Low))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("again.title-prefix", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("again.rows", wording.Count("rows", int(g.rows)), wording.Count("more", int(g.by)), wording.Count("steps", int(g.steps))),
		wording.Say("again.longer", wording.Time("first", cost.first), wording.Time("last", cost.last), wording.Count("tokens", int(cost.tokens))),
	}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-prefix")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-prefix")}
	if cost.first <= 0 {
		f.Guess = true
		f.Evidence = []wording.Text{wording.Say("again.rows-asked", wording.Count("calls", int(g.steps)), wording.Count("more", int(g.by)),
			wording.Count("rows", int(g.rows)))}
		f.Caveat = append(f.Caveat, wording.Say("again.caveat-long"))
	}
	if called > 0 {
		f.Evidence = append(f.Evidence, wording.Say("again.one-token-calls", wording.Time("calls", called)))
	}
	return []finding.Draft{f}
}

// growth is a row of traced steps each of which has the same number of rows more than the one before.
type growth struct {
	number   int64 // of its last step
	rows, by int64 // of the last step, and what each has more
	steps    int64
}

// grows are the rows of steps that grow.
func grows(steps []account.StepRows) (out []growth) {
	for i := 1; i < len(steps); i++ {
		a, b := steps[i-1], steps[i]
		by := b.Rows - a.Rows
		if b.Number != a.Number+1 || by <= 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].number == a.Number && out[n-1].by == by {
			out[n-1].number, out[n-1].rows, out[n-1].steps = b.Number, b.Rows, out[n-1].steps+1
			continue
		}
		out = append(out, growth{number: b.Number, rows: b.Rows, by: by, steps: 2})
	}
	return slices.DeleteFunc(out, func(g growth) bool { return g.steps < price.PrefixSteps || g.rows < price.PrefixTokens*g.by })
}

// share is the part of the traced steps that grow, among these and those that go through as long a sequence as the one before: what was
// kept of a sequence that is cut at its front serves no further step.
func (g growth) share(steps []account.StepRows) float64 {
	growing, cut := 0.0, 0.0
	for i := 1; i < len(steps); i++ {
		switch a, b := steps[i-1], steps[i]; {
		case b.Number != a.Number+1:
		case b.Rows == a.Rows+g.by:
			growing++
		case b.Rows == a.Rows && b.Rows >= price.PrefixTokens*g.by:
			cut++
		}
	}
	return growing / max(growing+cut, 1)
}

// lengths is what unprofiled steps take as their sequence grows, in ns.
type lengths struct {
	first, last float64 // medians of the first and of the last steps
	tokens      float64 // how many were added between these
	alone       float64 // a step of one token, on the line through all
}

// longest is the growth that most unprofiled steps go on with, and what these take; ok is false where none grows with the sequence.
func longest(c *facts.Facts, all []growth) (g growth, cost lengths, ok bool) {
	var steps []*model.Step
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.Kind == c.B.Kind && st.Phase == model.PhaseBaseline && st.End > st.Start {
			steps = append(steps, st)
		}
	}
	slices.SortFunc(steps, func(a, b *model.Step) int { return cmp.Compare(a.Number, b.Number) })
	most := 0
	for _, one := range all {
		at, _ := slices.BinarySearchFunc(steps, one.number, func(st *model.Step, n int64) int { return cmp.Compare(st.Number, n) })
		points := append(onwards(steps[at:], one, 1), onwards(steps[:at], one, -1)...)
		if len(points) < price.PrefixPoints || len(points) <= most {
			continue
		}
		if l := line(points); l.last >= price.PrefixLonger*l.first {
			g, cost, ok, most = one, l, true, len(points)
		}
	}
	return g, cost, ok
}

// point is the median length of some successive steps, in ns, and their tokens in a sequence.
type point struct{ tokens, ns float64 }

// onwards are the steps that go on with a growth, forwards or backwards in time, in groups: up to where they suddenly take less, or more,
// as a new sequence begins or another one ended there.
func onwards(steps []*model.Step, g growth, way int64) (out []point) {
	if way < 0 {
		steps = slices.Clone(steps)
		slices.Reverse(steps)
	}
	at := g.rows / g.by
	extreme := 0.0
	for group := range slices.Chunk(steps, price.PrefixGroup) {
		if len(group) < price.PrefixGroup || at+group[len(group)-1].Number-g.number < 1 {
			break
		}
		ns := make([]float64, len(group))
		for i, st := range group {
			ns[i] = float64(st.End - st.Start)
		}
		slices.Sort(ns)
		p := point{float64(at + group[len(group)/2].Number - g.number), stats.Quantile(ns, 0.5)}
		switch {
		case extreme == 0:
			extreme = p.ns
		case way > 0 && p.ns < price.PrefixDrop*extreme || way < 0 && p.ns > extreme/price.PrefixDrop:
			return out
		case way > 0:
			extreme = max(extreme, p.ns)
		default:
			extreme = min(extreme, p.ns)
		}
		out = append(out, p)
	}
	return out
}

// line lays a line through points: the median of the slopes between all pairs, which single slow steps do not move (Theil and Sen).
func line(points []point) lengths {
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.tokens, b.tokens) })
	var slopes, rest []float64
	for i := range points {
		for j := range i {
			if d := points[i].tokens - points[j].tokens; d > 0 {
				slopes = append(slopes, (points[i].ns-points[j].ns)/d)
			}
		}
	}
	if len(slopes) == 0 {
		return lengths{}
	}
	slices.Sort(slopes)
	slope := stats.Quantile(slopes, 0.5)
	for _, p := range points {
		rest = append(rest, p.ns-slope*p.tokens)
	}
	slices.Sort(rest)
	first, last := points[0], points[len(points)-1]
	return lengths{first: stats.Quantile(rest, 0.5) + slope*first.tokens, last: stats.Quantile(rest, 0.5) + slope*last.tokens,
		tokens: last.tokens - first.tokens, alone: math.Max(stats.Quantile(rest, 0.5)+slope, 0)}
}
