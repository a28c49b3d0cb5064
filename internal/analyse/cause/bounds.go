package cause

import (
	"math"
	"slices"
)

// settle gives prices what holds for all of them, once each is known: what two of them would count twice, an interval as wide as the steps'
// spread says, what the rest of the step gains by the end of waits, their order, and together no more than there is. small are those that then
// save less than the floor.
func (c *Context) settle(found []Finding) (kept, small []Finding) {
	for i := range found {
		f := &found[i]
		unsettle(f)
		f.bare = &ownPrice{step: f.Step, run: f.Run}
	}
	oncePerCore(c, found)
	for i := range found {
		c.widen(&found[i])
	}
	c.warmer(found)
	Rank(found)
	c.together(found)
	for _, f := range found {
		if savedShare(c, &f) < Floor && !f.Healthy && !f.Stops {
			small = append(small, f)
		} else {
			kept = append(kept, f)
		}
	}
	return kept, small
}

// settle settles the findings and those that were too small beside them.
func (res *Result) settle(c *Context) {
	res.Findings, res.small = c.settle(append(res.Findings, res.small...))
	for i := range res.small {
		res.Largest = max(res.Largest, savedShare(c, &res.small[i]))
	}
}

// ownPrice is a finding's price before it is put beside the others, and what was noted of it since then.
type ownPrice struct {
	step, run Range
	notes     []string
}

// unsettle gives a finding its own price back.
func unsettle(f *Finding) {
	if f.bare == nil {
		return
	}
	notes := f.bare.notes
	f.Step, f.Run, f.bare = f.bare.step, f.bare.run, nil
	f.Evidence = slices.DeleteFunc(f.Evidence, func(e Evidence) bool { return e.Unit == "" && slices.Contains(notes, e.Text) })
}

// onlyPart leaves a part of a finding's saving beside the others, and says why.
func (f *Finding) onlyPart(part float64, why string) {
	f.Step, f.Run = f.Step.scale(part), f.Run.scale(part)
	if !slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.Text == why }) {
		f.Evidence = append(f.Evidence, Evidence{Text: why})
		f.bare.notes = append(f.bare.notes, why)
	}
}

// ninety is the half width of an interval that holds a normal value nine times of ten, in standard deviations.
const ninety = 1.64

// widen makes a finding's interval as wide as the mean of the accounted steps is uncertain: by the part of their variance that is the
// finding's, which is taken to be its part of their time.
func (c *Context) widen(f *Finding) {
	mean := c.B.Mean()
	if f.OfRun || f.Healthy || f.Step.Mid <= 0 || !c.B.PerStep || mean <= 0 {
		return
	}
	half := ninety * c.meanError() * math.Sqrt(min(f.Step.Mid/mean, 1))
	wide := func(r Range, half, most float64) Range {
		return Range{max(min(r.Low, r.Mid-half), 0), r.Mid, max(r.High, min(r.Mid+half, most))}
	}
	f.Step = wide(f.Step, half, mean)
	f.Run = wide(f.Run, half*float64(max(c.Steps, 1)), c.Wall)
}

// meanError is the standard error of the mean accounted step in ns; 0 of fewer than two.
func (c *Context) meanError() float64 {
	n := float64(len(c.B.Windows))
	if n < 2 {
		return 0
	}
	sum := 0.0
	for _, w := range c.B.Windows {
		d := float64(w.End-w.Start) - c.B.Mean()
		sum += d * d
	}
	return math.Sqrt(sum / (n - 1) / n)
}

// together lets findings, in their order, save no more than the ones before them leave of the step and of the run: rules that claim no time
// of their own, such as those of threads or of a quota, see what others claim.
func (c *Context) together(found []Finding) {
	step, run := c.B.Mean(), c.Wall
	for i := range found {
		f := &found[i]
		if f.Healthy || f.Run.Mid <= 0 && f.Step.Mid <= 0 {
			continue
		}
		if c.Wall > 0 && f.Run.Mid > c.Wall {
			f.Run = f.Run.scale(c.Wall / f.Run.Mid) // the accounted steps are longer than the others, for which they stand
		}
		part := 1.0
		if !f.OfRun && f.Step.Mid > step {
			part = step / f.Step.Mid
		}
		if c.Wall > 0 && f.Run.Mid > run {
			part = min(part, run/f.Run.Mid)
		}
		if part < 1 {
			f.onlyPart(part, countedElsewhere)
		}
		if run -= f.Run.Mid; !f.OfRun {
			step -= f.Step.Mid
		}
	}
}

// countedElsewhere says that a saving shrank since others have claimed its time.
const countedElsewhere = "part of this time is counted under another finding"
