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
	if c.Share(c.B.Part(account.PartOps)) < finding.Floor || c.UsesDevice() || !facts.AtLeast(c.S.Environment.Torch, 2, 0) {
		return nil
	}
	h := headsOf(c, attentions(c, false))
	if !h.enough(c) {
		return nil
	}
	functions := headFunctions(c)
	chains := c.Working(l)
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
			spans = append(spans, times.Interval{Start: o.ev.Start[loop.first], End: o.ev.End(loop.last)})
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

// headLoop is the first and the last operator of so many heads in turn.
type headLoop struct {
	first, last model.EventID
	heads       int
}

// headLoops are attentions that follow one another with nothing but their layers between.
func headLoops(o *oneTrace) (out []headLoop) {
	found := o.finder.Found()
	for from := 0; from < len(found); {
		to := from + 1
		for to < len(found) && found[to].Follows && found[to].Elements == found[from].Elements {
			to++
		}
		if to-from >= price.HeadsLeast {
			out = append(out, headLoop{found[from].Begin, found[to-1].Last, to - from})
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
			attention.AddPasses(o.ev, loop.first, loop.last, passes)
			h.most = max(h.most, loop.heads)
		}
		for _, id := range o.outermost {
			d := float64(o.ev.Dur[id])
			h.all += d
			for len(loops) > 0 && loops[0].last < id {
				loops = loops[1:]
			}
			switch number, ok := attention.Pass(o.ev, c.S.Strings, id); {
			case ok && passes[number]:
				h.time, h.backward = h.time+d, h.backward+d
			case !ok && len(loops) > 0 && id >= loops[0].first:
				h.time += d
			}
		}
	}
	return h
}
