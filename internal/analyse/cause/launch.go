package cause

import (
	"fmt"

	"bottleneck/internal/analyse"
)

// Thresholds of launch: below them operators are few or large enough that calling them does not matter.
const (
	launchOpsPerStep = 20
	launchOpsPerMs   = 15 // outermost operators per ms of operator and interpreter time; PyTorch manages 50 to 200 of the smallest
	launchShare      = 0.10
)

// launchOps is the account of operators as this rule looks at it.
type launchOps struct{ *analyse.OpAccount }

// findLaunch names many small operators: their time is dispatch, and the interpreter's time around them is calling.
func findLaunch(c *Context) []Finding {
	o := c.B.Ops
	if o != nil && !c.B.PerStep && len(c.calling) > 0 {
		return c.launchOfRun()
	}
	if o == nil || o.Top < launchOpsPerStep {
		return nil
	}
	keep := c.pythonSamples(true)
	around := chainsOf(c.C, &c.P.Samples, c.B.Samples, keep)
	ops := c.B.Part(analyse.PartOps)
	small := 0.0
	if o.Time > 0 {
		// A chore's operators are all small; of what else is claimed already as many as of the rest are.
		others := max(c.besideTime()-c.chores, 0)
		small = max(ops*min(o.SmallTime/o.Time, 1)-c.chores, 0) * max(1-others/max(ops-c.chores, 1), 0)
	}
	if len(around) == 0 && len(c.B.Samples) < 40 {
		return c.launchWithoutSamples(small)
	}
	python := sum(around)
	t := small + python
	busy := (c.B.Part(analyse.PartPython) + ops) / 1e6 / float64(max(len(c.B.Windows), 1))
	if c.share(t) < launchShare || busy <= 0 || o.Top/busy < launchOpsPerMs {
		return nil
	}
	return []Finding{c.launchFinding(small, python)}
}

func (c *Context) launchWithoutSamples(small float64) []Finding {
	o := c.B.Ops
	python := c.B.Part(analyse.PartPython)
	busy := (python + c.B.Part(analyse.PartOps)) / 1e6 / float64(max(len(c.B.Windows), 1))
	if busy <= 0 || o.Top/busy < launchOpsPerMs || c.share(small+python) < launchShare {
		return nil
	}
	return []Finding{c.launchFinding(small, python)}
}

func (c *Context) launchFinding(small, python float64) Finding {
	o := c.B.Ops
	t := small + python
	f := Finding{Cause: Launch, Where: nowhere(), Share: c.share(t),
		claim: map[analyse.PartID]float64{analyse.PartOps: small, analyse.PartPython: python}}
	at := c.launchPlace(&f)
	f.Title = fmt.Sprintf("%s of %s is the price of calling many tiny operators", percent(f.Share), c.each())
	per := c.perStep(t)
	gone, cured := launchOps{o}.batched(), per
	if at.optimizer {
		gone = 0.75 // one call per kind of operator is left, and the lists of parameters
		cured *= at.share
	}
	f.Step = Range{0.6 * gone * cured, gone * cured, cured}
	f.Run = c.overRun(f.Step)
	f.Evidence = []Evidence{
		{Text: fmt.Sprintf("%.0f operators per %s that nothing encloses, %.0f of them shorter than 30 µs", o.Top, c.Unit(), o.Small), Value: o.Top},
		{Text: fmt.Sprintf("%s per %s in those short operators, %s in the interpreter around operators", ms(c.perStep(small)), c.Unit(), ms(c.perStep(python))), Value: per / 1e6, Unit: "ms"},
	}
	f.Fix.Text = "Replace the loop over small tensors by operators on one large tensor (stack, batch, einsum), or let torch.compile fuse the region."
	if at.optimizer {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s of that in the optimizer's step, one parameter after the other; the saving is of this", ms(c.perStep(t*at.share))),
			Value: per * at.share / 1e6, Unit: "ms"})
		f.Fix.Text = "Let the optimizer work on all parameters at once: foreach=True or fused=True where it is built."
		if at.own {
			f.Fix.Text = "Update all parameters at once: an optimizer of torch.optim with foreach=True or fused=True, or torch._foreach_ operators on lists of tensors here."
		}
	}
	f.Caveat = "Priced from traced steps with the tracing cost taken out; how much remains depends on the form the batched code takes."
	f.Confidence = c.basis(len(c.B.Samples))
	return f
}

// batched is the share of the calling that goes away when what is done one by one is done at once: each of the different
// operators is still called, and reads and writes what all of them did before.
func (o launchOps) batched() float64 {
	return 1 - min(max(float64(len(o.Names))/max(o.Top, 1), 0.04), 0.15)
}

// launchSite is what calls the tiny operators of launch's place.
type launchSite struct {
	optimizer bool
	own       bool    // the optimizer is the user's own
	share     float64 // of all calling that is the optimizer's, 0..1
}

// launchPlace finds the user's line that calls most, the optimizer's step or another.
func (c *Context) launchPlace(f *Finding) launchSite {
	all, own := 0.0, 0.0
	// Samples in operators and in the interpreter around them say which lines call them; Python that calls none is another
	// finding's. Of the operators' time only what small ones take counts: the place is where many are called, not where large ones are.
	around := c.pythonSamples(true)
	kept := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *analyse.Attributed) bool {
		return a.Part == analyse.PartOps && !c.beside[k] || around(k, a)
	})
	for i := range kept {
		if a := &c.B.Samples[kept[i].index]; a.Part == analyse.PartOps {
			kept[i].weight *= launchOps{c.B.Ops}.smallShare(c.C.Info(c.P.Samples.Stack[a.Index]).Acts&analyse.ActOptimizer != 0)
		}
	}
	if len(kept) < minSamples {
		kept = chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool {
			return a.Part == analyse.PartPython || a.Part == analyse.PartOps
		})
	}
	var first, optimizer []chain
	for _, ch := range kept {
		info := c.C.Info(c.P.Samples.Stack[c.B.Samples[ch.index].Index])
		all += ch.weight
		switch {
		case info.Acts&analyse.ActOptimizer != 0:
			optimizer = append(optimizer, ch)
			if info.UserLeaf {
				own += ch.weight
			}
		case info.Acts&analyse.ActBackward == 0:
			first = append(first, ch)
		}
	}
	sp, ok := hottest(first, c.drivers)
	if spent := sum(optimizer); len(optimizer) >= minSamples && spent > 0 && (!ok || spent > sp.unit) {
		if step, ok := hottest(optimizer, c.drivers); ok {
			f.Where = c.where(step)
		}
		return launchSite{optimizer: true, own: own > 0.5*spent, share: spent / all}
	}
	if !ok || len(first) < minSamples {
		return launchSite{}
	}
	if lines := len(lineTimes(first)); c.B.Ops.Top < loopOpsPerLine*float64(max(lines, 1)) {
		// Few operators per line: no loop inside makes them many, so the call that is made for too little work is the place.
		if call, ok := hottest(upToDriver(first, c.drivers), c.drivers); ok {
			sp = call
		}
	}
	f.Where = c.where(sp)
	return launchSite{}
}

// smallShare is the share of small operators in the operators' time, of the optimizer's or of the others, 0..1.
func (o launchOps) smallShare(optimizer bool) float64 {
	time, small := o.OptimizerTime, o.OptimizerSmall
	switch {
	case o.Time <= 0:
		return 1
	case !optimizer:
		time, small = o.Time-time, o.SmallTime-small
	}
	if time <= 0 {
		time, small = o.Time, o.SmallTime // the trace has no mark of the optimizer's step
	}
	return min(max(small/time, 0), 1)
}

// loopOpsPerLine is the number of operators per step and sampled line from which a loop around that line must be at work.
const loopOpsPerLine = 40

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
