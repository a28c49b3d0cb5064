package cause

import (
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/wording"
)

// question is what a replay is asked for the price of a wait for data: the fix as a change of the recorded fetches. ok is false
// where no replay knows it: a slow hand-over, workers that are started anew.
func (v *inputView) question(c *Facts, sub string) (q replay.Change, ok bool) {
	switch {
	case v.startsAgain() || v.own || v.fetch <= 0:
		return q, false
	case sub == "workers":
		return replay.Change{Workers: v.suggestWorkers(c)}, true
	case sub == "transform" && v.hotPart > 0:
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - v.quicker()}}}, true
	case sub == "storage" && v.locked(c):
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - v.unlocked()}}}, true
	case sub == "storage":
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - v.stored(c)}}}, true
	}
	return q, false
}

// PriceInput sets the price of waits for data by replaying the recorded fetches under the fix: the queue has its depth, workers and
// the step share the cores, and what the wait hid becomes the limit. The findings are ranked anew. Where a session has several
// ranks, or its steps cannot be replayed, the prices stay as they are. What saves less than the floor then is left out.
func (res *Result) PriceInput(c *Facts, r *replay.Session) {
	if r == nil || c == nil || !r.Unprofiled() || c.P.WorldSize > 1 || r.Error() > price.ReplayError {
		return
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.ask == nil || f.Step.Mid <= 0 {
			continue
		}
		unsettle(f)
		if before, after, err := r.Price(*f.ask); err == nil && before > 0 && after <= before {
			f.byReplay(c, before, after)
		}
	}
	res.settle(c)
}

// byReplay sets a finding's price by the mean step before and after its fix, ns, as a replay gives them. What the fix itself costs comes off,
// and what cores lose that it makes busy; the upper bound does without the second.
func (f *Finding) byReplay(c *Facts, before, after float64) {
	mean := c.B.Mean()
	left := after / before * mean
	most := max(mean-left-f.cost, 0)
	if f.busy > 0 {
		left *= c.slower(f.busy, mean, left)
	}
	mid := max(mean-left-f.cost, 0)
	f.Step = bounds(min(f.Step.Low, price.Replayed.Bounds().Low*mid), mid, max(f.Step.High, mid))
	saved := []wording.Fact{wording.Time("saved", before-after), wording.Time("after", after), wording.Time("before", before)}
	text := wording.Say("input.replayed", saved...)
	if f.busy > 0 {
		f.Step.High = max(most, mid)
		text = wording.Say("input.replayed-costs", append(saved, wording.Time("back", mean*(1-after/before)-mid))...)
	}
	f.Run = c.overRun(f.Step)
	f.Evidence = append(f.Evidence, text)
}
