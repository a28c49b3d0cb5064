package cause

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/machine"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/timed"
	"math"
	"slices"
)

// settle gives prices what holds for all of them, once each is known: what two of them would count twice, an interval as wide as the steps'
// spread says, what the rest of the step gains by the end of waits, their order, and together no more than there is. small are those that
// then save less than the floor.
func settle(c *facts.Facts, found []finding.Finding) (kept, small []finding.Finding) {
	for i := range found {
		f := &found[i]
		finding.Unsettle(f)
		f.Bare = &finding.OwnPrice{Step: f.Step, Run: f.Run}
	}
	machine.OncePerCore(c, found)
	for i := range found {
		widen(c, &found[i])
	}
	timed.Warmer(c, found)
	Rank(found)
	together(c, found)
	for _, f := range found {
		if facts.SavedShare(c, &f) < finding.Floor && !f.Healthy && !f.Stops {
			small = append(small, f)
		} else {
			kept = append(kept, f)
		}
	}
	return kept, small
}

// settle settles the findings and those that were too small beside them.
func (res *Result) settle(c *facts.Facts) {
	res.Findings, res.small = settle(c, append(res.Findings, res.small...))
	for i := range res.small {
		res.Largest = max(res.Largest, facts.SavedShare(c, &res.small[i]))
	}
}

// Half widths of an interval that holds a mean nine times of ten, in its standard errors: one that many values tell, and one that so many
// groups of them tell (Student's).
const (
	groups = 10
)

// widen makes a finding's interval as wide as its rule and the steps say together: the mean of the accounted steps is uncertain as well, by
// the part of their variance that is the finding's, which is taken to be its part of their time. Both are independent, so that their
// squares add.
func widen(c *facts.Facts, f *finding.Finding) {
	mean := c.B.Mean()
	if f.OfRun || f.Healthy || f.Step.Mid <= 0 || !c.B.PerStep || mean <= 0 {
		return
	}
	half := meanHalf(c) * math.Sqrt(min(f.Step.Mid/mean, 1))
	wide := func(r finding.Range, half, most float64) finding.Range {
		return finding.Bounds(max(r.Mid-math.Hypot(r.Mid-r.Low, half), 0), r.Mid,
			max(r.High, min(r.Mid+math.Hypot(r.High-r.Mid, half), most)))
	}
	f.Step = wide(f.Step, half, mean)
	f.Run = wide(f.Run, half*float64(max(c.Steps, 1)), c.Wall)
}

// meanHalf is how far in ns the mean accounted step may be from what it would be the next time; 0 of fewer than two. A machine is slow or
// fast for longer than a step: in 24 sessions of the zoo groups of successive steps told an error that was 0.9 to 4.5 times, in most 2 to 4
// times, that of steps which know nothing of one another. The larger one counts. Steps that differ by what they do, such as episodes that
// grow longer, do the same the next time: what is beyond a machine's own drift counts only as far as the accounted steps are a draw from
// all of the run's.
func meanHalf(c *facts.Facts) float64 {
	half := max(price.Ninety*meanError(c, 1), price.NinetyOfGroup*meanError(c, len(c.B.Windows)/groups))
	unseen := 1 - min(float64(len(c.B.Windows))/float64(max(c.Steps, 1)), 1)
	return max(half*math.Sqrt(unseen), min(half, price.MachineDrift*c.B.Mean()))
}

// meanError is the standard error of the mean accounted step in ns, as groups of so many successive steps tell it; 0 of fewer than two
// groups.
func meanError(c *facts.Facts, size int) float64 {
	if size < 1 {
		return 0
	}
	n, sum := 0.0, 0.0
	for group := range slices.Chunk(c.B.Windows, size) {
		if len(group) < size {
			break
		}
		t := 0.0
		for _, w := range group {
			t += float64(w.End - w.Start)
		}
		d := t/float64(size) - c.B.Mean()
		sum += d * d
		n++
	}
	if n < 2 {
		return 0
	}
	return math.Sqrt(sum / (n - 1) / n)
}

// together lets findings, in their order, save no more than the ones before them leave of the step and of the run: rules that claim no time
// of their own, such as those of threads or of a quota, see what others claim.
func together(c *facts.Facts, found []finding.Finding) {
	step, run := c.B.Mean(), c.Wall
	for i := range found {
		f := &found[i]
		if f.Healthy || f.Run.Mid <= 0 && f.Step.Mid <= 0 {
			continue
		}
		if c.Wall > 0 && f.Run.Mid > c.Wall {
			f.Run = f.Run.Scale(c.Wall / f.Run.Mid) // the accounted steps are longer than the others, for which they stand
		}
		part := 1.0
		if !f.OfRun && f.Step.Mid > step {
			part = step / f.Step.Mid
		}
		if c.Wall > 0 && f.Run.Mid > run {
			part = min(part, run/f.Run.Mid)
		}
		if part < 1 {
			f.OnlyPart(part, finding.CountedElsewhere)
		}
		if run -= f.Run.Mid; !f.OfRun {
			step -= f.Step.Mid
		}
	}
}
