package traced

import (
	"math"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindSync names waits for the device inside the step.
func FindSync(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	t := c.B.Part(account.PartSync)
	if c.Share(t) < finding.Floor {
		return nil
	}
	waits := func(_ int, a *account.Attributed) bool { return a.Part == account.PartSync }
	if !slices.ContainsFunc(c.B.Samples, func(a account.Attributed) bool { return waits(0, &a) }) {
		waits = func(_ int, a *account.Attributed) bool { // who asks the device again and again does not sleep
			return a.Part == account.PartOps && account.AtSync(c.C, c.C.Info(c.P.Samples.Stack[a.Index]))
		}
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, waits)
	f := finding.NewDraft(finding.Finding{Cause: finding.Sync, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(chains))},
		finding.Parts{account.PartSync: t})
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		f.Where = c.Where(sp)
	}
	per := c.PerStep(t)
	f.Step = f.By(price.Sync).Times(per)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("sync.waits", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("sync.calls", wording.Time("time", per), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("sync.fix-keep")}
	f.Caveat = []wording.Text{wording.Say("sync.caveat-gap")}
	return []finding.Draft{f}
}

// FindCopies names copies that a step waits for while nothing computes, and what is given back on their line meanwhile: a name that gets
// the copy loses the batch that it held.
func FindCopies(c *facts.Facts, l finding.Ledger) []finding.Draft {
	t, d := c.B.Part(account.PartGPUCopy), &c.B.Device
	if c.Share(t) < finding.Floor || d.Down > 0.5 && d.Asks >= price.AsksLeast { // many small ones to the host are questions
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Copy, Where: finding.Nowhere(), Share: c.Share(t)},
		finding.Parts{account.PartGPUCopy: t})
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part == account.PartOps && account.AtSync(c.C, c.C.Info(c.P.Samples.Stack[a.Index]))
	})
	per, pageable := c.PerStep(t), d.Pageable > 0.5
	f.Confidence = c.Basis(len(chains))
	f.Step = f.By(price.TracedCopy).Times(per)
	f.Evidence = []wording.Text{wording.Say("copy.waited", wording.Time("time", per), c.Said())}
	if pageable {
		f.Evidence = append(f.Evidence, wording.Say("copy.pageable-share", wording.Share("share", d.Pageable)))
	}
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		f.Where = c.Where(sp)
		for i := range chains {
			if !l.Taken(chains[i].Index) {
				f.Claim.Samples = append(f.Claim.Samples, chains[i].Index)
			}
		}
		if freed := c.FreedAt(&sp, l); c.Share(facts.Sum(freed)) >= finding.Floor {
			c.ClaimAll(&f, freed, 1)
			back := facts.Sum(freed)
			f.Share += c.Share(back)
			f.Step = f.Step.Add(f.By(price.GivenBack).Times(c.PerStep(back)))
			f.Evidence = append(f.Evidence, wording.Say("copy.given-back", wording.Time("time", c.PerStep(back)), c.Said()))
		}
	}
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("copy.waits", wording.Share("share", f.Share), c.Said())
	f.Caveat = []wording.Text{wording.Say("copy.caveat-pinned")}
	f.Fix.Advice = []wording.Text{wording.Say("copy.fix-ahead"), wording.Say("copy.fix-once")}
	if d.Down > 0.5 {
		f.Fix.Advice, f.Caveat = []wording.Text{wording.Say("copy.fix-down")}, []wording.Text{wording.Say("copy.caveat-down")}
		return []finding.Draft{f}
	}
	if pageable && slices.ContainsFunc(c.P.Spans, func(sp model.Span) bool { return sp.Kind == model.SpanDataWait }) {
		f.Fix.Action = finding.SetArguments("DataLoader", finding.Argument{Name: "pin_memory", Value: "True"})
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("copy.fix-both"))
	}
	return []finding.Draft{f}
}

// FindAsks names operators in which a step asks the device for an answer again and again: each time the device has nothing left to do, and
// nothing new until the program has launched it. Where the device sets the pace, that costs nothing.
func FindAsks(c *facts.Facts, l finding.Ledger) []finding.Draft {
	d := &c.B.Device
	if !c.OnDevice() || d.Computes >= account.DeviceBound || d.Asks < price.AsksLeast {
		return nil
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(i int, a *account.Attributed) bool {
		return a.Part == account.PartOps && !l.Taken(i) && account.Asks(c.C, c.C.Info(c.P.Samples.Stack[a.Index]))
	})
	sp, ok := facts.Hottest(chains, c.Drivers)
	if !ok || len(chains) < facts.MinSamples {
		return nil
	}
	ops := c.B.Part(account.PartOps)
	t := d.Asking * ops
	info := c.C.Info(c.P.Samples.Stack[c.B.Samples[sp.Members[0]].Index])
	if account.AtSync(c.C, info) { // what else its line does is done with the answer
		t = max(t, min(sp.Unit, ops+c.B.Part(account.PartGPUCopy)+c.B.Part(account.PartSync)))
	}
	if c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Sync, Sub: "asks", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))},
		c.InProportion(t, []account.PartID{account.PartOps, account.PartGPUCopy, account.PartSync}))
	for i := range chains {
		f.Claim.Samples = append(f.Claim.Samples, chains[i].Index)
	}
	per := c.PerStep(t)
	f.Step = f.By(price.Asks).Times(min(per, c.HostRoom()))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("sync.asks", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("sync.asks-count", wording.Count("asks", math.Round(d.Asks)), c.Said()),
		wording.Say("sync.asks-time", wording.Time("time", per), c.Said(), wording.Share("computes", d.Computes))}
	f.Fix.Advice = []wording.Text{wording.Say("sync.fix-asks")}
	if account.Reads(c.C, info) {
		f.Fix.Advice = []wording.Text{wording.Say("copy.fix-down")}
	}
	if d.Asks >= price.AsksInTurn {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("sync.fix-asks-in-turn"))
	}
	f.Caveat = []wording.Text{wording.Say("sync.caveat-asks")}
	return []finding.Draft{f}
}

// FindCompute says what a program is bound by where operators that no other finding claims (ops, ns) take most of its time.
// It is no defect and saves nothing.
func FindCompute(c *facts.Facts, ops float64) (finding.Finding, bool) {
	if c.B.Total <= 0 || c.Share(ops) < 0.5 {
		return finding.Finding{}, false
	}
	f := finding.Finding{Cause: finding.Compute, Where: finding.Nowhere(), Share: c.Share(ops), Healthy: true,
		Confidence: c.Basis(len(c.B.Samples))}
	f.Title = wording.Say("compute.computing", wording.Share("share", f.Share), c.Said())
	for i := range c.B.Parts {
		p := &c.B.Parts[i]
		if p.ID != account.PartOps {
			continue
		}
		for k, kind := range p.Kinds {
			if k < 3 && c.Share(kind.Time) >= finding.Floor {
				f.Evidence = append(f.Evidence, wording.Say("compute.operators", wording.Share("share", c.Share(kind.Time)), c.Said(),
					wording.Named("kind", string(kind.Kind))))
			}
		}
	}
	f.Fix.Advice = []wording.Text{wording.Say("compute.fix-less")}
	return f, true
}
