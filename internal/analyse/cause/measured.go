package cause

import (
	"strconv"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/machine"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// MeasuredFix is what recorded operators took less, in ms per step, when they were run again after the program's end under a fix.
type MeasuredFix struct {
	Fix           string // "threads=1", "cores=4", …
	Ops           int    // different operators
	SavedMs, OfMs float64
}

// fixFor says which measured fix prices a cause that no replay can price.
func fixFor(f *finding.Finding) func(fix string) bool {
	switch {
	case f.Cause == finding.Threads, f.Cause == finding.Machine && f.Sub == "omp-default":
		return func(fix string) bool { return strings.HasPrefix(fix, fixThreads) }
	case f.Cause == finding.Machine && f.Sub == "affinity":
		return func(fix string) bool { return strings.HasPrefix(fix, fixCores) }
	}
	return nil
}

// Measure puts measured prices, most saving first, into the findings that they price: the best of the fixes. Where even that saves less
// than what a report names, the finding was wrong. What saves as much and has no finding becomes one. varied is what the operators took
// when they were run again as they were, over what was recorded.
func (res *Result) Measure(c *facts.Facts, fixes []MeasuredFix, varied float64) {
	if len(fixes) == 0 || !c.B.PerStep || c.B.Mean() <= 0 {
		return
	}
	defer res.settle(c)
	ops := c.PerStep(c.B.Part(account.PartOps)) / 1e6
	for i := range res.Findings {
		f := &res.Findings[i]
		fits := fixFor(f)
		if fits == nil || ops <= 0 {
			continue
		}
		for k := range fixes {
			m := &fixes[k]
			if !fits(m.Fix) || m.OfMs <= 0 {
				continue
			}
			switch gain := min(m.SavedMs/m.OfMs, 1) * ops / (c.B.Mean() / 1e6); {
			case gain >= finding.Floor:
				measured(c, f, m, ops, varied)
			case f.Cause == finding.Threads && facts.LocalRanks(c) > 1: // alone its operators have the cores that the others want
			default:
				res.Largest = max(res.Largest, gain)
				refute(c, f, m, ops)
			}
			break
		}
	}
	res.tryMeasured(c, fixes, ops, varied)
}

// measured sets a finding's saving from a measured fix; ops is the operators' time per step in ms.
func measured(c *facts.Facts, f *finding.Finding, m *MeasuredFix, ops, varied float64) {
	step, outside := measuredStep(c, m, ops, varied)
	run := func(ns float64) float64 {
		return min(ns*float64(c.Steps)+ns/(ops*1e6)*outside, max(c.Wall, ns))
	}
	measure(f, step, finding.Range{Low: run(step.Low), Mid: run(step.Mid), High: run(step.High)})
	f.Evidence = append(f.Evidence, wording.Say("measured.less", wording.Time("saved", m.SavedMs*1e6), wording.Count("ops", m.Ops),
		wording.Named("fix", m.Fix), wording.Share("share", m.SavedMs/m.OfMs)))
	f.Caveat = []wording.Text{wording.Say("measured.caveat")}
	if n, ok := strings.CutPrefix(m.Fix, fixThreads); ok && c.P.WorldSize < 2 {
		if threads, err := strconv.ParseUint(n, 10, 16); err == nil {
			anotherCount(&f.Fix.Action, int(threads))
		}
	}
	f.Confidence = measuredConfidence(c, m, ops)
}

// refute takes its price from a finding whose best fix was measured to bring nothing. Where the smaller part of the operators' time was
// run again as it was, the rest can gain all the same, such as what took longer in the program than alone: that is left, down to nothing.
func refute(c *facts.Facts, f *finding.Finding, m *MeasuredFix, ops float64) {
	share := m.SavedMs / m.OfMs
	take := wording.Say("measured.as-long")
	switch {
	case share < -price.NoGain:
		take = wording.Say("measured.longer", wording.Share("share", -share))
	case share > price.NoGain:
		take = wording.Say("measured.hardly", wording.Share("share", share))
	}
	f.Evidence = append(f.Evidence, wording.Say("measured.no-gain", wording.Time("saved", m.SavedMs*1e6), wording.Count("ops", m.Ops),
		wording.Named("fix", m.Fix), wording.With("take", take)))
	f.Confidence = measuredConfidence(c, m, ops)
	if f.Confidence.Level != finding.High {
		f.Confidence.Level = finding.Low
		rest(f, 1-min(m.OfMs/ops, 1))
		f.Caveat = []wording.Text{wording.Say("measured.caveat-rest")}
		return
	}
	asRefuted(f)
	f.Title = wording.Say("measured.title", wording.With("title", f.Title))
	f.Fix = finding.Fix{Advice: []wording.Text{wording.Say("measured.fix-none")}}
	f.Caveat = []wording.Text{wording.Say("measured.caveat-after")}
}

// measuredConfidence says how far a measured price can be trusted: operators with several threads take another time where other
// programs take cores from them.
func measuredConfidence(c *facts.Facts, m *MeasuredFix, ops float64) finding.Confidence {
	out := finding.Confidence{Level: finding.Low}
	switch {
	case m.OfMs >= price.MeasuredMost*ops:
		out.Level = finding.High
	case m.OfMs >= price.MeasuredSome*ops:
		out.Level = finding.Medium
	}
	out.Why = append(out.Why, wording.Say("measured.basis", wording.Count("ops", m.Ops), wording.Time("of", m.OfMs*1e6),
		wording.Time("all", ops*1e6)))
	if busy := c.S.Environment.OthersBusyCores; busy != nil && *busy >= price.CrowdedCores {
		out.Level = finding.Low
		out.Why = append(out.Why, wording.Say("measured.crowded", wording.Value("cores", *busy)))
	}
	return out
}

// measuredStep is what a fix saves in ns per step, and the operators' time outside of the accounted steps of which it saves the same
// share. Another number of threads or cores changes all operators but the small ones: the middle is of all, the lower bound of
// those alone that were run again. Threads that wait for each other take another time in each run, and so did the operators
// when they were run again: the upper bound is as far away. Operators that were recorded while shapes were traced can have taken longer
// than they do in other steps.
func measuredStep(c *facts.Facts, m *MeasuredFix, ops, varied float64) (step finding.Range, outside float64) {
	if o := c.B.Ops; o != nil && o.Time > 0 && strings.HasPrefix(m.Fix, fixCores) {
		ops *= 1 - min(o.SmallTime/o.Time, 1)
	}
	share := min(m.SavedMs/m.OfMs, 1)
	again := share * min(m.OfMs, ops) // of what was run again
	most := max(c.B.Mean()/1e6, share*ops)
	return finding.Range{Low: 1e6 * again * min(varied, 1), Mid: 1e6 * share * ops,
		High: 1e6 * min(share*ops*max(varied, price.MeasuredSpread), most)}, machine.OperatorsOutside(c)
}

// rest leaves a part of what a finding saves at best and as a guess, of its own price, down to nothing.
func rest(f *finding.Finding, part float64) {
	finding.Unsettle(f)
	f.Price(finding.Range{Mid: part * f.Step.Mid, High: part * f.Step.High}, finding.Range{Mid: part * f.Run.Mid, High: part * f.Run.High})
}

// measure sets a price that was measured: it is no guess any more, and claims as much time as it saves.
func measure(f *finding.Finding, step, run finding.Range) {
	finding.Unsettle(f)
	if guessed := f.Step.Mid; guessed > 0 {
		claim := map[account.PartID]float64{}
		for part, t := range f.Booked {
			claim[part] = t * step.Mid / guessed
		}
		f.Booked = claim
	}
	f.Price(step, run)
	f.Guess, f.Measured = false, true
}

// asRefuted leaves a finding that a measurement has shown to save nothing as an observation: it has no price and no fix, and stands behind
// what is slow.
func asRefuted(f *finding.Finding) {
	measure(f, finding.Range{}, finding.Range{})
	f.Healthy, f.Booked, f.Ask, f.InOrder = true, nil, nil, nil
}
