package cause

import (
	"fmt"
	"slices"
	"strings"

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
		wording.Raw(fmt.Sprintf("%.0f operators per %s that nothing encloses, %.0f of them shorter than 30 µs", o.Top, c.Unit(), o.Small), wording.RawFact(o.Top, "")),
		wording.Raw(fmt.Sprintf("%s per %s in short operators here, %s in the interpreter around them", ms(c.perStep(site.ops)), c.Unit(), ms(c.perStep(site.python))), wording.RawFact(per/1e6, "ms")),
	}
	if gc > 0 {
		f.Claim.Parts[analyse.PartGC] = gc
		f.Evidence = append(f.Evidence, c.collectionsText(gc))
	}
	if site.backward {
		f.Evidence = append(f.Evidence, wording.Raw("the backward pass through what is called here is part of it"))
	}
	if text := c.launchLines(site); text != "" {
		f.Evidence = append(f.Evidence, wording.Raw(text))
	}
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

// launchWords says what is called too often and what would end it.
func (c *Facts) launchWords(f *Finding, site *launchSite) {
	each := c.each()
	if !c.B.PerStep {
		each += ", tracing left out,"
	}
	f.Title = wording.Raw(fmt.Sprintf("%s of %s is the price of calling many tiny operators", percent(f.Share), each))
	f.Caveat = []wording.Text{wording.Raw("Priced from traced steps with the tracing cost taken out; how much remains depends on the form the batched code takes.")}
	switch site.kind {
	case launchLoop:
		f.Fix.Advice = []wording.Text{wording.Raw("Replace the loop over small tensors by operators on one large tensor (stack, batch, einsum), or let torch.compile fuse the region.")}
	case launchCells:
		f.Fix.Advice = []wording.Text{wording.Raw("Hand whole sequences to nn.LSTM, nn.GRU or nn.RNN in one call instead of one element after the other to a cell: it takes the cell's weights and goes over the elements itself.")}
		f.Caveat = []wording.Text{wording.Raw("Where the next element depends on the answer to the one before, as in a decoder that reads its own words, the loop must stay while generating; not while learning from known words.")}
	case launchCall:
		f.Fix.Advice = []wording.Text{wording.Raw("Give one call more to do (a larger batch, several requests together), or let torch.compile fuse the model's operators.")}
		f.Caveat = []wording.Text{wording.Raw("Priced from traced steps with the tracing cost taken out; torch.compile costs time at the start.")}
		if site.backward {
			f.Caveat = []wording.Text{wording.Raw("Priced from traced steps with the tracing cost taken out; larger batches change how a model learns, and torch.compile costs time at the start.")}
		}
	case launchSpread:
		f.Title = wording.Raw(f.Title.String() + ", on many lines of which none stands out")
		f.Fix.Advice = []wording.Text{wording.Raw("Let torch.compile fuse the operators between these lines, or work on more at once: larger batches, several sequences or environments side by side.")}
		f.Caveat = []wording.Text{wording.Raw("Priced from traced steps with the tracing cost taken out; what fusing leaves depends on where the compiled code has to stop.")}
	case launchOptimizer:
		f.Title = wording.Raw(fmt.Sprintf("%s of %s is the optimizer calling tiny operators, one parameter after the other", percent(f.Share), each))
		f.Fix.Advice = []wording.Text{wording.Raw("Let the optimizer work on all parameters at once: foreach=True or fused=True where it is built.")}
		switch {
		case site.own:
			f.Fix.Advice = []wording.Text{wording.Raw("Update all parameters at once: an optimizer of torch.optim with foreach=True or fused=True, or torch._foreach_ operators on lists of tensors here.")}
		case site.lists:
			f.Title = wording.Raw(fmt.Sprintf("%s of %s is the optimizer calling tiny operators on lists of parameters", percent(f.Share), each))
			f.Fix.Advice = []wording.Text{wording.Raw("Let the optimizer update all parameters in one call: fused=True where it is built, in place of foreach.")}
		}
		f.Caveat = []wording.Text{wording.Raw("Priced from traced steps with the tracing cost taken out; not every optimizer has both forms for every device.")}
	}
}

// launchLines says in words which lines share the calling, where more than one has much of it.
func (c *Facts) launchLines(site *launchSite) string {
	all := 0.0
	for i := range site.lines {
		all += site.lines[i].line
	}
	var names []string
	for _, line := range site.lines {
		if share := line.line / max(all, 1); 3*line.line >= site.lines[0].line && len(names) < 4 {
			names = append(names, fmt.Sprintf("%s (%s)", place(c.where(line)), percent(share)))
		}
	}
	if len(names) < 2 {
		return ""
	}
	return "lines that share it: " + strings.Join(names, ", ")
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
