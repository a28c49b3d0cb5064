package cause

import (
	"math"
	"slices"

	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// settle gives prices what holds for all of them, once each is known: what two of them would count twice, an interval as wide as the steps'
// spread says, what the rest of the step gains by the end of waits, their order, and together no more than there is. small are those that then
// save less than the floor.
func (c *Facts) settle(found []Finding) (kept, small []Finding) {
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
func (res *Result) settle(c *Facts) {
	res.Findings, res.small = c.settle(append(res.Findings, res.small...))
	for i := range res.small {
		res.Largest = max(res.Largest, savedShare(c, &res.small[i]))
	}
}

// ownPrice is a finding's price before it is put beside the others, and what was noted of it since then.
type ownPrice struct {
	step, run Range
	notes     []string // ids of texts
}

// unsettle gives a finding its own price back.
func unsettle(f *Finding) {
	if f.bare == nil {
		return
	}
	notes := f.bare.notes
	f.Step, f.Run, f.bare = f.bare.step, f.bare.run, nil
	f.Evidence = slices.DeleteFunc(f.Evidence, func(e wording.Text) bool { return slices.Contains(notes, e.ID) })
}

// onlyPart leaves a part of a finding's saving beside the others, and says why.
func (f *Finding) onlyPart(part float64, why wording.Text) {
	f.Step, f.Run = f.Step.Scale(part), f.Run.Scale(part)
	if !slices.ContainsFunc(f.Evidence, func(e wording.Text) bool { return e.ID == why.ID }) {
		f.Evidence = append(f.Evidence, why)
		f.bare.notes = append(f.bare.notes, why.ID)
	}
}

// Half widths of an interval that holds a mean nine times of ten, in its standard errors: one that many values tell, and one that so many
// groups of them tell (Student's).
const (
	groups = 10
)

// widen makes a finding's interval as wide as its rule and the steps say together: the mean of the accounted steps is uncertain as well, by the
// part of their variance that is the finding's, which is taken to be its part of their time. Both are independent, so that their squares add.
func (c *Facts) widen(f *Finding) {
	mean := c.B.Mean()
	if f.OfRun || f.Healthy || f.Step.Mid <= 0 || !c.B.PerStep || mean <= 0 {
		return
	}
	half := c.meanHalf() * math.Sqrt(min(f.Step.Mid/mean, 1))
	wide := func(r Range, half, most float64) Range {
		return bounds(max(r.Mid-math.Hypot(r.Mid-r.Low, half), 0), r.Mid, max(r.High, min(r.Mid+math.Hypot(r.High-r.Mid, half), most)))
	}
	f.Step = wide(f.Step, half, mean)
	f.Run = wide(f.Run, half*float64(max(c.Steps, 1)), c.Wall)
}

// meanHalf is how far in ns the mean accounted step may be from what it would be the next time; 0 of fewer than two. A machine is slow or fast for
// longer than a step: in 24 sessions of the zoo groups of successive steps told an error that was 0.9 to 4.5 times, in most 2 to 4 times, that
// of steps which know nothing of one another. The larger one counts.
func (c *Facts) meanHalf() float64 {
	return max(price.Ninety*c.meanError(1), price.NinetyOfGroup*c.meanError(len(c.B.Windows)/groups))
}

// meanError is the standard error of the mean accounted step in ns, as groups of so many successive steps tell it; 0 of fewer than two groups.
func (c *Facts) meanError(size int) float64 {
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
func (c *Facts) together(found []Finding) {
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
			f.onlyPart(part, countedElsewhere)
		}
		if run -= f.Run.Mid; !f.OfRun {
			step -= f.Step.Mid
		}
	}
}

// countedElsewhere says that a saving shrank since others have claimed its time.
var countedElsewhere = wording.Say("counted-elsewhere")
