package launch

import (
	"cmp"
	"math"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/wording"
)

// launchOps is the account of operators as this rule looks at it.
type launchOps struct{ *account.OpAccount }

// FindLaunch names many small operators: their time is dispatch, and the interpreter's time around them is calling.
func FindLaunch(c *facts.Facts, l finding.Ledger) []finding.Draft {
	o := c.B.Ops
	if o != nil && !c.B.PerStep && len(c.Calling) > 0 {
		return launchOfRun(c, l)
	}
	if o == nil {
		if acting := findActing(c, l); acting != nil {
			return acting
		}
		return findTurns(c, l)
	}
	if o.Top < facts.LaunchOpsPerStep {
		return nil
	}
	calls := callingsOf(c, l)
	python, small := callingTime(c, l, calls)
	if c.OnDevice() { // on a line that reads tensors back, other libraries may compute what they hold
		python = min(python, price.CallGap*o.Top*float64(c.B.Steps()))
	}
	t := small + python
	busy := (c.B.Part(account.PartPython) + c.B.Part(account.PartOps)) / 1e6 / float64(max(len(c.B.Windows), 1))
	many := o.Top/busy*(launchOps{o}).longer(c) >= facts.LaunchOpsPerMs || c.OnDevice() // what launches is dispatch, however long it takes
	if c.Share(t) < price.LaunchShare || busy <= 0 || !many || c.HostRoom() < finding.Floor*c.B.Mean() {
		return nil
	}
	return launchFindings(c, calls, small, python)
}

// callingTime is the interpreter's time around operators and the time in small ones, ns over the windows, without what is claimed already.
func callingTime(c *facts.Facts, l finding.Ledger, calls callings) (python, small float64) {
	o, ops := c.B.Ops, c.B.Part(account.PartOps)
	if len(c.B.Samples) < 40 || calls.few() { // too few to tell lines apart
		python = facts.Sum(facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, c.PythonSamples(l, true)))
		if python == 0 && len(c.B.Samples) < 40 {
			python = c.B.Part(account.PartPython)
		}
		// A chore's operators are all small; of what else is claimed already as many as of the rest are.
		others := max(l.SampledOps()-l.SmallOps(), 0)
		return python, max(ops*min(o.SmallTime/max(o.Time, 1), 1)-l.SmallOps(), 0) * max(1-others/max(ops-l.SmallOps(), 1), 0)
	}
	all := 0.0
	for k := range c.B.Samples {
		if a := &c.B.Samples[k]; a.Part == account.PartOps {
			all += a.Weight
		}
	}
	for _, ch := range slices.Concat(calls.first, calls.backward, calls.optimizer) {
		if c.B.Samples[ch.Index].Part == account.PartOps {
			small += ch.Weight * ops / max(all, 1)
		} else {
			python += ch.Weight
		}
	}
	return python, small
}

// launchFindings names those who call tiny operators, small and python ns over the windows, each with its own part of that time: what
// ends one leaves the others.
func launchFindings(c *facts.Facts, calls callings, small, python float64) []finding.Draft {
	var out []finding.Draft
	sites := joined(c, launchSites(c, calls, small, python))
	for i, site := range sites {
		share, least, first := launchShareOf(c, site.time()), price.LaunchShare, i == 0
		switch site.kind {
		case launchLoop, launchOptimizer:
			if !site.placed || site.kind == launchOptimizer || !c.Drivers[facts.KeyOf(&site.at.Frame)] {
				least = finding.Floor // their cure is clear, and nothing else stands on their lines
			}
		case launchSpread:
			least = 2 * price.LaunchShare
			first = first && launchOps{c.B.Ops}.fuse(c) // else its cure is not sure to save anything
		}
		if first || share >= least {
			out = append(out, launchFinding(c, &site, sites))
		}
	}
	return out
}

// joined are the sites, most first, among which calls and what is spread are one where a device waits for them: the same larger batch, or
// the same graph of launches, ends both.
func joined(c *facts.Facts, sites []launchSite) []launchSite {
	if !c.OnDevice() {
		return sites
	}
	alike := func(s launchSite) bool { return s.kind == launchCall || s.kind == launchSpread }
	first := slices.IndexFunc(sites, alike)
	if first < 0 {
		return sites
	}
	one := &sites[first]
	for _, s := range sites[first+1:] {
		if alike(s) {
			one.ops, one.python, one.backward = one.ops+s.ops, one.python+s.python, one.backward || s.backward
			one.lines = append(one.lines, s.lines...)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(sites[first+1:]), alike)
	sites = append(sites[:first+1], rest...)
	slices.SortStableFunc(sites, func(a, b launchSite) int { return cmp.Compare(b.time(), a.time()) })
	return sites
}

// launchFinding is the finding about one of the sites of a step.
func launchFinding(c *facts.Facts, site *launchSite, sites []launchSite) finding.Draft {
	o, gc := c.B.Ops, 0.0
	site.fuses = launchOps{o}.fuse(c)
	if site.placed && site.kind == launchLoop {
		at := site.at
		at.Unit = site.time()
		gc = c.Collections(at)
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Where: finding.Nowhere(), Share: launchShareOf(c, site.time()+gc),
		Confidence: c.Basis(len(c.B.Samples))},
		finding.Parts{account.PartOps: site.ops, account.PartPython: site.python})
	if site.placed {
		f.Where = c.Where(site.at)
	}
	if site.isBuilt {
		f.Where = site.built
	}
	per := c.PerStep(site.time() + gc)
	row := launchOps{o}.gone(site)
	of := per
	if row.ID == price.CallsLarger.ID && site.kind != launchRollout { // more environments make no update rarer
		all, known := callingOfAll(sites)
		of, f.Shared = c.PerStep(all), known/max(all, 1)
	}
	if site.onDevice = c.OnDevice() && (site.kind == launchCall || site.kind == launchSpread); site.onDevice {
		row = price.CallsOnDevice
		// What others end of the program's own time leaves less of it to hide behind the device; what it waits for is not its launching.
		own := c.PerStep(c.B.Part(account.PartOps) + c.B.Part(account.PartPython))
		of = per * min(c.HostRoom()/max(own, 1), 1)
	}
	f.Step = f.By(row).Times(of).AtMost(c.HostRoom())
	f.Guess = row.ID == price.CallsLarger.ID || site.onDevice
	f.Run = c.OverRun(f.Step)
	if site.compiled() && c.B.Part(account.PartGPUCompute) == 0 && !c.Compiles() {
		f.Run = price.AfterStart(f.Run, f.By(price.Compiling).Times(1e9))
	}
	ops, python := wording.Time("ops", c.PerStep(site.ops)), wording.Time("python", c.PerStep(site.python))
	f.Evidence = []wording.Text{launchCount(c), wording.Say("launch.time", wording.Time("time", per), ops, python, c.Said())}
	if c.OnDevice() {
		f.Evidence[1] = wording.Say("launch.time-device", wording.Time("time", per), ops, python, c.Said(),
			wording.Time("computes", c.B.Mean()-c.HostRoom()))
	}
	if gc > 0 {
		f.Claim.Parts[account.PartGC] = gc
		f.Evidence = append(f.Evidence, c.CollectionsText(gc))
	}
	if site.backward {
		f.Evidence = append(f.Evidence, wording.Say("launch.backward"))
	}
	if row.ID == price.CallsLarger.ID && of > price.LaunchBeside*per {
		f.Evidence = append(f.Evidence, wording.Say("launch.larger", wording.Time("time", of), c.Said()))
	}
	f.Evidence = append(f.Evidence, launchLines(c, site)...)
	launchWords(c, &f.Finding, site)
	return f
}

// callingOfAll is the time of all sites, ns over the windows, for larger batches make all of a step's calling rarer; known is what of it
// has a cure of its own that the program can take as it is.
func callingOfAll(sites []launchSite) (all, known float64) {
	for i := range sites {
		site := &sites[i]
		if all += site.time(); site.kind == launchLoop || site.kind == launchOptimizer && (site.own || site.fusable) {
			known += site.time()
		}
	}
	return all, known
}

// fuse says that torch.compile can be expected to make operators faster: on a CPU where most of them are element by element, as products
// of small matrices become slower.
func (o launchOps) fuse(c *facts.Facts) bool {
	if c.B.Part(account.PartGPUCompute) > 0 {
		return true
	}
	all, alike := 0.0, 0.0
	for _, k := range o.Kinds {
		switch k.Kind {
		case naming.OpOptimizer:
			continue
		case naming.OpElementwise:
			alike += k.Time
		}
		all += k.Time
	}
	return alike > price.FusesLeast*all
}

// compiled says that torch.compile is what ends a site's calling, or one of the ways.
func (s *launchSite) compiled() bool {
	return s.fuses && (s.kind == launchCall || s.kind == launchSpread)
}

// gone is the share of a site's calling that its cure ends.
func (o launchOps) gone(site *launchSite) price.Row {
	switch {
	case site.kind == launchOptimizer && site.own:
		return price.CallsOptimizer
	case site.kind == launchOptimizer && site.fusable:
		return price.CallsFused
	case site.kind == launchOptimizer:
		return price.CallsByLists
	case site.kind == launchSequence:
		return price.CallsSequence
	case site.kind == launchRollout && !site.backward:
		return price.CallsRollout
	case site.kind == launchSpread || (site.kind == launchCall || site.kind == launchRollout) && site.backward:
		if site.fuses {
			return price.CallsSpread
		}
		return price.CallsLarger
	}
	gone := o.batched()
	row := price.CallsBatched
	row.Low, row.Mid = row.Low*gone, gone
	return row
}

// launchCount says how many operators there are.
func launchCount(c *facts.Facts) wording.Text {
	o := c.B.Ops
	if !c.B.PerStep && len(c.Calling) > 0 {
		return wording.Say("launch.count-run", wording.Count("ops", math.Round(o.Top*float64(o.Steps))),
			wording.Time("traced", times.Covered(o.Slices)), wording.Share("share", o.Small/max(o.Top, 1)))
	}
	if c.OnDevice() {
		return wording.Say("launch.count-device", wording.Count("ops", math.Round(o.Top)), c.Said())
	}
	by := launchOps{o}.longer(c)
	return wording.Say("launch.count", wording.Count("ops", math.Round(by*o.Top)), wording.Count("small", math.Round(by*o.Small)), c.Said())
}

// longer is how many times as many operators the accounted steps have as traced ones, where those are much longer, as in a program whose
// episodes grow: as many in each ns. 1 elsewhere.
func (o launchOps) longer(c *facts.Facts) float64 {
	busy := (c.B.Part(account.PartPython) + c.B.Part(account.PartOps)) / float64(max(len(c.B.Windows), 1))
	if by := o.Rate * busy / max(o.Top, 1); c.B.PerStep && by >= price.TracedShorter {
		return by
	}
	return 1
}

// launchTexts are the texts about one kind of site, by their ids.
type launchTexts struct {
	title, fix string
	caveats    []string
}

// textsOf chooses the texts by what calls and what would end it.
func textsOf(site *launchSite) launchTexts {
	if site.onDevice {
		out := launchTexts{"launch.title-device", "launch.fix-device", []string{"launch.caveat-traced", "launch.caveat-graphs"}}
		if site.backward {
			out.caveats = append(out.caveats, "launch.caveat-larger-batches")
		}
		return out
	}
	switch site.kind {
	case launchSequence:
		return launchTexts{"launch.title", "launch.fix-sequence", []string{"launch.caveat-traced", "launch.caveat-generating"}}
	case launchCall:
		out := launchTexts{"launch.title", "launch.fix-call-more", []string{"launch.caveat-traced"}}
		if site.backward {
			out.caveats = append(out.caveats, "launch.caveat-larger-batches")
		}
		if site.fuses {
			out.fix, out.caveats = "launch.fix-call", append(out.caveats, "launch.caveat-compile")
		}
		return out
	case launchRollout:
		out := launchTexts{"launch.title", "launch.fix-rollout", []string{"launch.caveat-traced", "launch.caveat-environments"}}
		if site.backward {
			out.fix = "launch.fix-rollout-loss"
		}
		return out
	case launchSpread:
		if site.fuses {
			return launchTexts{"launch.title-spread", "launch.fix-spread",
				[]string{"launch.caveat-traced", "launch.caveat-graph-breaks", "launch.caveat-compile"}}
		}
		return launchTexts{"launch.title-spread", "launch.fix-spread-more", []string{"launch.caveat-traced", "launch.caveat-larger-batches"}}
	case launchOptimizer:
		out := launchTexts{"launch.title-optimizer", "launch.fix-optimizer", []string{"launch.caveat-traced", "launch.caveat-optimizers"}}
		switch {
		case site.own:
			out.fix = "launch.fix-own-optimizer"
		case !site.fusable:
			out.fix, out.caveats = "launch.fix-unfused", []string{"launch.caveat-traced", "launch.caveat-foreach"}
		case site.lists:
			out.title, out.fix = "launch.title-lists", "launch.fix-lists"
		}
		return out
	}
	out := launchTexts{"launch.title", "launch.fix-loop-at-once", []string{"launch.caveat-traced", "launch.caveat-form"}}
	if site.fuses {
		out.fix = "launch.fix-loop"
	}
	return out
}

// launchWords says what is called too often and what would end it.
func launchWords(c *facts.Facts, f *finding.Finding, site *launchSite) {
	share := wording.Say("share-of.each", wording.Share("share", f.Share), c.Said())
	if !c.B.PerStep {
		share = wording.Say("launch.share-run", wording.Share("share", f.Share))
	}
	texts := textsOf(site)
	f.Title = wording.Say(texts.title, wording.With("share", share))
	if site.onDevice {
		f.Title = wording.Say(texts.title, wording.With("share", share), wording.Share("computes", c.B.Device.Computes))
	}
	f.Fix.Advice = []wording.Text{wording.Say(texts.fix)}
	if site.kind == launchLoop && pysource.CountsPairs(f.Where.Source) {
		f.Fix.Advice = []wording.Text{wording.Say("launch.fix-counts")}
	}
	if site.kind == launchCall && site.backward && len(c.P.Updates) == 0 && c.B.Ops.OptimizerTime == 0 {
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("launch.fix-each-gradient"))
	}
	if site.kind == launchOptimizer && site.fusable && !site.own {
		f.Fix.Action = finding.SetArguments(site.class, finding.Argument{Name: "fused", Value: "True"})
	}
	f.Caveat = nil
	for _, id := range texts.caveats {
		f.Caveat = append(f.Caveat, wording.Say(id))
	}
}

// launchLines says which lines share the calling, where more than one has much of it.
func launchLines(c *facts.Facts, site *launchSite) []wording.Text {
	all := 0.0
	for i := range site.lines {
		all += site.lines[i].Line
	}
	var list wording.Text
	n := 0
	for _, line := range site.lines {
		if 3*line.Line < site.lines[0].Line || n == 4 {
			continue
		}
		share, at := wording.Share("share", line.Line/max(all, 1)), wording.Named("at", finding.Place(c.Where(line)))
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
