package cause

import (
	"math"
	"slices"
)

// settle gives prices what holds for all of them, once each is known: an interval as wide as the steps' spread says, what the rest of the
// step gains by the end of waits, their order, and together no more than there is. What then saves less than the floor is left out; largest is
// the largest share of that.
func (c *Context) settle(found []Finding) (kept []Finding, largest float64) {
	unsettle(found)
	for i := range found {
		f := &found[i]
		f.bare = &struct{ step, run Range }{f.Step, f.Run}
		c.widen(f)
	}
	c.warmer(found)
	Rank(found)
	c.together(found)
	return slices.DeleteFunc(found, func(f Finding) bool {
		small := savedShare(c, &f) < Floor && !f.Healthy && !f.Stops
		if small {
			largest = max(largest, savedShare(c, &f))
		}
		return small
	}), largest
}

// unsettle gives findings their own prices back.
func unsettle(found []Finding) {
	for i := range found {
		if f := &found[i]; f.bare != nil {
			f.Step, f.Run, f.bare = f.bare.step, f.bare.run, nil
		}
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

// together lets findings, in their order, save no more than the ones before them leave of the step: rules that claim no time of their own, such
// as those of threads, see what others claim.
func (c *Context) together(found []Finding) {
	left := c.B.Mean()
	for i := range found {
		f := &found[i]
		if f.OfRun || f.Healthy || f.Step.Mid <= 0 {
			continue
		}
		if f.Step.Mid > left {
			k := max(left, 0) / f.Step.Mid
			f.Step, f.Run = f.Step.scale(k), f.Run.scale(k)
			if !slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.Text == countedElsewhere }) {
				f.Evidence = append(f.Evidence, Evidence{Text: countedElsewhere})
			}
		}
		left -= f.Step.Mid
	}
}

// countedElsewhere says that a saving shrank since others have claimed its time.
const countedElsewhere = "part of this time is counted under another finding"
