package cause

import (
	"math"
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// Thresholds of launch: below them operators are few or large enough that calling them does not matter.
const (
	launchOpsPerStep = 20
	launchOpsPerMs   = 15 // outermost operators per ms of operator and interpreter time; PyTorch manages 50 to 200 of the smallest
)

// launchOps is the account of operators as this rule looks at it.
type launchOps struct{ *analyse.OpAccount }

// findLaunch names many small operators: their time is dispatch, and the interpreter's time around them is calling.
func findLaunch(c *Facts, l Ledger) []Draft {
	o := c.B.Ops
	if o != nil && !c.B.PerStep && len(c.calling) > 0 {
		return c.launchOfRun(l)
	}
	if o == nil || o.Top < launchOpsPerStep {
		return nil
	}
	calls := c.callings(l)
	python, small := c.callingTime(l, calls)
	t := small + python
	busy := (c.B.Part(analyse.PartPython) + c.B.Part(analyse.PartOps)) / 1e6 / float64(max(len(c.B.Windows), 1))
	if c.share(t) < price.LaunchShare || busy <= 0 || o.Top/busy < launchOpsPerMs {
		return nil
	}
	return c.launchFindings(calls, small, python)
}

// callingTime is the interpreter's time around operators and the time in small ones, ns over the windows, without what is claimed already.
func (c *Facts) callingTime(l Ledger, calls callings) (python, small float64) {
	o, ops := c.B.Ops, c.B.Part(analyse.PartOps)
	if len(c.B.Samples) < 40 || calls.few() { // too few to tell lines apart
		python = sum(chainsOf(c.C, &c.P.Samples, c.B.Samples, c.pythonSamples(l, true)))
		if python == 0 && len(c.B.Samples) < 40 {
			python = c.B.Part(analyse.PartPython)
		}
		// A chore's operators are all small; of what else is claimed already as many as of the rest are.
		others := max(l.SampledOps()-l.SmallOps(), 0)
		return python, max(ops*min(o.SmallTime/max(o.Time, 1), 1)-l.SmallOps(), 0) * max(1-others/max(ops-l.SmallOps(), 1), 0)
	}
	all := 0.0
	for k := range c.B.Samples {
		if a := &c.B.Samples[k]; a.Part == analyse.PartOps {
			all += a.Weight
		}
	}
	for _, ch := range slices.Concat(calls.first, calls.backward, calls.optimizer) {
		if c.B.Samples[ch.index].Part == analyse.PartOps {
			small += ch.weight * ops / max(all, 1)
		} else {
			python += ch.weight
		}
	}
	return python, small
}

// launchFindings names those who call tiny operators, small and python ns over the windows, each with its own part of that time: what
// ends one leaves the others.
func (c *Facts) launchFindings(calls callings, small, python float64) []Draft {
	var out []Draft
	for i, site := range c.launchSites(calls, small, python) {
		share, least := c.launchShareOf(site.time()), price.LaunchShare
		switch site.kind {
		case launchLoop, launchCells, launchOptimizer:
			if !site.placed || site.kind == launchOptimizer || !c.drivers[keyOf(&site.at.frame)] {
				least = Floor // their cure is clear, and nothing else stands on their lines
			}
		case launchSpread:
			least = 2 * price.LaunchShare
		}
		if i == 0 || share >= least {
			out = append(out, c.launchFinding(&site))
		}
	}
	return out
}

func (c *Facts) launchFinding(site *launchSite) Draft {
	o, gc := c.B.Ops, 0.0
	if site.placed && (site.kind == launchLoop || site.kind == launchCells) {
		at := site.at
		at.unit = site.time()
		gc = c.collections(at)
	}
	f := draft(Finding{Cause: Launch, Where: nowhere(), Share: c.launchShareOf(site.time() + gc), Confidence: c.basis(len(c.B.Samples))},
		Parts{analyse.PartOps: site.ops, analyse.PartPython: site.python})
	if site.placed {
		f.Where = c.where(site.at)
	}
	per := c.perStep(site.time() + gc)
	f.Step = f.by(launchOps{o}.gone(site)).Times(per)
	f.Run = c.overRun(f.Step)
	f.Evidence = []wording.Text{
		c.launchCount(),
		wording.Say("launch.time", wording.Time("time", per), wording.Time("ops", c.perStep(site.ops)),
			wording.Time("python", c.perStep(site.python)), c.unit()),
	}
	if gc > 0 {
		f.Claim.Parts[analyse.PartGC] = gc
		f.Evidence = append(f.Evidence, c.collectionsText(gc))
	}
	if site.backward {
		f.Evidence = append(f.Evidence, wording.Say("launch.backward"))
	}
	f.Evidence = append(f.Evidence, c.launchLines(site)...)
	c.launchWords(&f.Finding, site)
	return f
}

// gone is the share of a site's calling that its cure ends.
func (o launchOps) gone(site *launchSite) price.Row {
	switch {
	case site.kind == launchOptimizer:
		return price.CallsOptimizer
	case site.kind == launchSpread || site.kind == launchCall && site.backward:
		return price.CallsSpread
	}
	gone := o.batched()
	row := price.CallsBatched
	row.Low, row.Mid = row.Low*gone, gone
	return row
}

// launchCount says how many operators there are.
func (c *Facts) launchCount() wording.Text {
	o := c.B.Ops
	if !c.B.PerStep && len(c.calling) > 0 {
		return wording.Say("launch.count-run", wording.Count("ops", math.Round(o.Top*float64(o.Steps))),
			wording.Time("traced", analyse.UnionTime(o.Slices)), wording.Share("share", o.Small/max(o.Top, 1)))
	}
	return wording.Say("launch.count", wording.Count("ops", math.Round(o.Top)), wording.Count("small", math.Round(o.Small)), c.unit())
}

// launchTexts are the texts about one kind of site, by their ids.
type launchTexts struct {
	title, fix string
	caveats    []string
}

// textsOf chooses the texts by what calls and what would end it.
func textsOf(site *launchSite) launchTexts {
	switch site.kind {
	case launchCells:
		return launchTexts{"launch.title", "launch.fix-cells", []string{"launch.caveat-generating"}}
	case launchCall:
		out := launchTexts{"launch.title", "launch.fix-call", []string{"launch.caveat-traced"}}
		if site.backward {
			out.caveats = append(out.caveats, "launch.caveat-larger-batches")
		}
		out.caveats = append(out.caveats, "launch.caveat-compile")
		return out
	case launchSpread:
		return launchTexts{"launch.title-spread", "launch.fix-spread", []string{"launch.caveat-traced", "launch.caveat-graph-breaks"}}
	case launchOptimizer:
		out := launchTexts{"launch.title-optimizer", "launch.fix-optimizer", []string{"launch.caveat-traced", "launch.caveat-optimizers"}}
		switch {
		case site.own:
			out.fix = "launch.fix-own-optimizer"
		case site.lists:
			out.title, out.fix = "launch.title-lists", "launch.fix-lists"
		}
		return out
	}
	return launchTexts{"launch.title", "launch.fix-loop", []string{"launch.caveat-traced", "launch.caveat-form"}}
}

// launchWords says what is called too often and what would end it.
func (c *Facts) launchWords(f *Finding, site *launchSite) {
	share := wording.Say("common.share", wording.Share("share", f.Share), c.unit())
	if !c.B.PerStep {
		share = wording.Say("launch.share-run", wording.Share("share", f.Share))
	}
	texts := textsOf(site)
	f.Title = wording.Say(texts.title, wording.With("share", share))
	f.Fix.Advice = []wording.Text{wording.Say(texts.fix)}
	f.Caveat = nil
	for _, id := range texts.caveats {
		f.Caveat = append(f.Caveat, wording.Say(id))
	}
}

// launchLines says which lines share the calling, where more than one has much of it.
func (c *Facts) launchLines(site *launchSite) []wording.Text {
	all := 0.0
	for i := range site.lines {
		all += site.lines[i].line
	}
	var list wording.Text
	n := 0
	for _, line := range site.lines {
		if 3*line.line < site.lines[0].line || n == 4 {
			continue
		}
		share, at := wording.Share("share", line.line/max(all, 1)), wording.Named("at", place(c.where(line)))
		if n++; n == 1 {
			list = wording.Say("launch.line", share, at)
		} else {
			list = wording.Say("launch.line-next", wording.With("lines", list), share, at)
		}
	}
	if n < 2 {
		return nil
	}
	return []wording.Text{wording.Say("launch.lines", wording.With("lines", list))}
}

// batched is the share of the calling that goes away when what is done one by one is done at once: each of the different
// operators is still called, and reads and writes what all of them did before.
func (o launchOps) batched() float64 {
	return 1 - min(max(float64(len(o.Names))/max(o.Top, 1), price.CallsStayLeast), price.CallsStayMost)
}

// upToDriver cuts chains below the innermost function that drives the loop.
func upToDriver(chains []chain, drivers map[funcKey]bool) []chain {
	out := make([]chain, 0, len(chains))
	for _, ch := range chains {
		last := -1
		for i := range ch.frames {
			if drivers[keyOf(&ch.frames[i])] {
				last = i
			}
		}
		if last >= 0 {
			ch.frames = ch.frames[:last+1]
		}
		out = append(out, ch)
	}
	return out
}
