package memory

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/attention"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// headWork is what traced steps say of heads that are computed one after the other.
type headWork struct {
	time, all float64 // ns of outermost operators: of the heads, and of all
	backward  float64 // of time, in backward passes
	most      int     // heads in turn
}

// FindHeads names attention whose heads a loop goes through, each with layers of its own: all of them are one layer, and one call.
func FindHeads(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if c.Share(c.B.Part(account.PartOps)) < finding.Floor || usesDevice(c) || !facts.AtLeast(c.S.Environment.Torch, 2, 0) {
		return nil
	}
	h := headsOf(c, attentions(c, false))
	if !h.enough(c) {
		return nil
	}
	functions := headFunctions(c)
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return (a.Part == account.PartOps || a.Part == account.PartPython) && !l.Taken(k)
	})
	chains = slices.DeleteFunc(chains, func(ch facts.Chain) bool { return !functions[lastOf(&ch)] })
	sp, ok := facts.Hottest(chains, c.Drivers)
	if !ok || len(chains) < facts.MinSamples {
		return nil
	}
	back := h.backward / h.all * c.B.Part(account.PartOps)
	t := facts.Sum(chains) + back
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: "heads", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{account.PartOps: back})
	c.ClaimAll(&f, chains, 1)
	f.Step = f.By(price.Heads).Times(c.PerStep(t))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-heads", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("launch.heads", wording.Time("time", c.PerStep(t)), c.Said(),
		wording.Count("heads", h.most))}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-heads")}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-heads")}
	return []finding.Draft{f}
}

// headFunctions are the user's functions in which traced steps, with shapes or without, compute heads in turn.
func headFunctions(c *facts.Facts) map[facts.FuncKey]bool {
	var spans []times.Interval
	for _, o := range attentions(c, true) {
		for _, loop := range headLoops(&o) {
			spans = append(spans, times.Interval{Start: o.ev.Start[loop[0]], End: o.ev.End(loop[1])})
		}
	}
	out := map[facts.FuncKey]bool{}
	c.TracedChains(facts.Merged(spans), func(ch facts.Chain, _ model.Time) {
		if key := lastOf(&ch); !c.Drivers[key] {
			out[key] = true
		}
	})
	return out
}

// lastOf is the innermost function of a chain.
func lastOf(ch *facts.Chain) (key facts.FuncKey) {
	if n := len(ch.Frames); n > 0 {
		key = facts.KeyOf(&ch.Frames[n-1])
	}
	return key
}

// headLoops are the first and the last operators of heads in turn: attentions that follow one another with nothing but their layers
// between.
func headLoops(o *oneTrace) (out [][2]model.EventID) {
	found := o.finder.Found()
	for from := 0; from < len(found); {
		to := from + 1
		for to < len(found) && found[to].Follows && found[to].Elements == found[from].Elements {
			to++
		}
		if to-from >= price.HeadsLeast {
			out = append(out, [2]model.EventID{found[from].Begin, found[to-1].Last})
		}
		from = to
	}
	return out
}

// enough says that heads take so much of a step that they are worth a word.
func (h *headWork) enough(c *facts.Facts) bool {
	return h.time > 0 && c.Share(h.time/h.all*c.B.Part(account.PartOps)) >= price.LaunchShare
}

// headsOf looks at traces that recorded shapes for attentions of one head each that follow one another.
func headsOf(c *facts.Facts, traces []oneTrace) (h headWork) {
	for i := range traces {
		o := &traces[i]
		if !o.knows() || slices.ContainsFunc(o.finder.Found(), func(w attention.Written) bool { return !w.OneHead }) {
			continue
		}
		loops, passes := headLoops(o), map[int64]bool{}
		for _, loop := range loops {
			attention.AddPasses(o.ev, loop[0], loop[1], passes)
			h.most = max(h.most, heads(o, loop))
		}
		for _, id := range o.outermost {
			d := float64(o.ev.Dur[id])
			h.all += d
			for len(loops) > 0 && loops[0][1] < id {
				loops = loops[1:]
			}
			switch number, ok := attention.Pass(o.ev, c.S.Strings, id); {
			case ok && passes[number]:
				h.time, h.backward = h.time+d, h.backward+d
			case !ok && len(loops) > 0 && id >= loops[0][0]:
				h.time += d
			}
		}
	}
	return h
}

// heads is the number of attentions in a loop.
func heads(o *oneTrace, loop [2]model.EventID) (n int) {
	for _, w := range o.finder.Found() {
		n += finding.Btoi(w.Begin >= loop[0] && w.Last <= loop[1])
	}
	return n
}
