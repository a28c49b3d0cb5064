package timed

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/stats"
)

// Beyond widens a finding's upper bound, within the step and the run: a fix can save more than the time that was seen at its place. What
// the machine withholds is bounded by what it has.
func Beyond(c *facts.Facts, f *finding.Finding) {
	if f.Cause == finding.Machine {
		return
	}
	wide := func(r *finding.Range, most float64) {
		r.High = max(min((1+price.MoreThanSeen.Mid)*r.High, most), r.High)
	}
	if !f.OfRun {
		wide(&f.Step, c.B.Mean())
	}
	wide(&f.Run, c.Wall)
}

// Asleep is the share of a finding's claim in which the driving thread sleeps, as samples saw it in the parts that it claims. What a thread
// waits for in collectives is sent by threads of its own process, which keep the caches from staying warm: they do not count.
func Asleep(c *facts.Facts, f *finding.Finding) float64 {
	if f.OfRun || f.Cause == finding.Comm || f.Cause == finding.Straggler {
		return 0
	}
	claimed, off := 0.0, 0.0
	for part, t := range stats.InOrder(f.Booked) {
		if part == account.PartComm || t <= 0 {
			continue
		}
		claimed += t
		off += t * sleepingShare(c, part)
	}
	if claimed <= 0 {
		return 0
	}
	return off / claimed
}

// sleepingShare is the share of a part of the account in which the driving thread sleeps; 0 where no samples tell.
func sleepingShare(c *facts.Facts, part account.PartID) float64 {
	all, off := 0.0, 0.0
	for i := range c.B.Samples {
		a := &c.B.Samples[i]
		if a.Part != part {
			continue
		}
		all += a.Weight
		if facts.Sleeping(&c.P.Samples, a.Index) {
			off += a.Weight
		}
	}
	if all <= 0 {
		return 0
	}
	return off / all
}

// Warmer adds to the prices of waits what the rest of the step gains by their end, for a thread that sleeps finds its caches cold and its
// core slowed down or given away: a share of that rest, in the square of the part of the step that the wait is. Short waits gain next to
// nothing. The rest is what no finding saves, so that all savings together stay within the step. Behind a late rank nothing is gained.
func Warmer(c *facts.Facts, found []finding.Finding) {
	rest := c.B.Mean()
	for i := range found {
		if f := &found[i]; !f.OfRun && !f.Healthy {
			rest -= f.Step.Mid
		}
	}
	if rest <= 0 || !c.B.PerStep || slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Cause == finding.Straggler }) {
		return
	}
	most := min(price.WarmerMost.Mid, price.Warmer.Mid*rest)
	for i := range found {
		f := &found[i]
		gone := min(f.Asleep*f.Step.Mid/c.B.Mean(), 1)
		if ns := most * gone * gone; ns > 0 && !f.OfRun && !f.Healthy {
			f.Step = warmed(f.Step, ns)
			f.Run = warmed(f.Run, ns*float64(max(c.Steps, 1)))
		}
	}
}

// warmed adds to the best guess; the upper bound allows for it already, the lower one does without.
func warmed(r finding.Range, ns float64) finding.Range {
	return finding.Bounds(r.Low, r.Mid+ns, max(r.High, r.Mid+ns))
}
