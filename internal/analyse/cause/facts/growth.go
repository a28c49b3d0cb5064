package facts

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Limits of growth: how often a place's time must at least double, from the first third of the steps to the last, and by how many
// standard deviations of the counts of samples.
const (
	growthFactor = 2
	growthSteps  = 30
)

// Grows adds to a finding that its time becomes more from step to step, where its samples (indices of attributed ones) say so: what
// it works on, all that was seen so far, grows with the run.
func (c *Facts) Grows(f *finding.Finding, members []int) {
	first, last, ok := c.growth(members)
	if !ok {
		return
	}
	f.Evidence = append(f.Evidence, wording.Say("growth.thirds", wording.Value("factor", last/max(first, 1)),
		wording.Time("first", first), wording.Time("last", last)))
	f.Fix.Advice = append([]wording.Text{wording.Say("growth.fix")}, f.Fix.Advice...)
}

// growth compares a place's time per step, in ns, in the first and in the last third of the accounted steps. ok is true where it
// becomes longer throughout, more in each third than in the one before, and does so beside the rest of the step: in steps that become
// longer themselves, such as the episodes of an agent that learns not to fail, everything grows.
func (c *Facts) growth(members []int) (first, last float64, ok bool) {
	w := c.B.Windows
	if !c.B.PerStep || len(w) < growthSteps || c.Every(members) > 1 {
		return 0, 0, false
	}
	var time, count [3]float64
	for _, m := range members {
		a := &c.B.Samples[m]
		if at := windowOf(w, c.P.Samples.Time[a.Index]); at >= 0 {
			time[3*at/len(w)] += a.Weight
			count[3*at/len(w)]++
		}
	}
	each := float64(len(w)) / 3
	sure := price.GrowthSure * math.Sqrt(count[0]+count[2])
	rising := time[1] >= price.GrowthRises*time[0] && time[2] >= price.GrowthRises*time[1]
	grown := rising && time[2] >= growthFactor*max(c.othersGrow(members), 1)*time[0]
	return time[0] / each, time[2] / each, grown && count[2]-count[0] >= sure
}

// othersGrow is how many times as long as in the first third of the steps all but a place takes in the last: the median over lines, each
// with its weight in the first third, so that a second place that grows from little does not count.
func (c *Facts) othersGrow(members []int) float64 {
	type thirds struct{ first, last float64 }
	lines, all := map[model.FrameID]*thirds{}, 0.0
	w, mine := c.B.Windows, slices.Sorted(slices.Values(members))
	for i := range c.B.Samples {
		a := &c.B.Samples[i]
		if _, is := slices.BinarySearch(mine, i); is {
			continue
		}
		at := windowOf(w, c.P.Samples.Time[a.Index])
		if at < 0 {
			continue
		}
		fr := c.C.Info(c.P.Samples.Stack[a.Index]).User
		if lines[fr] == nil {
			lines[fr] = &thirds{}
		}
		switch 3 * at / len(w) {
		case 0:
			lines[fr].first += a.Weight
			all += a.Weight
		case 2:
			lines[fr].last += a.Weight
		}
	}
	maps.DeleteFunc(lines, func(_ model.FrameID, l *thirds) bool { return l.first <= 0 })
	below := 0.0
	for _, l := range slices.SortedFunc(maps.Values(lines), func(a, b *thirds) int { return cmp.Compare(a.last/a.first, b.last/b.first) }) {
		if below += l.first; 2*below >= all {
			return l.last / l.first
		}
	}
	return 1
}

// windowOf is the index of the window that holds an instant, -1 where none does.
func windowOf(w []times.Interval, t model.Time) int {
	i, _ := slices.BinarySearchFunc(w, t, func(iv times.Interval, t model.Time) int {
		if iv.End <= t {
			return -1
		}
		return 1
	})
	if i < len(w) && w[i].Start <= t {
		return i
	}
	return -1
}
