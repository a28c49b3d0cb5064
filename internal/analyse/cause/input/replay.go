package input

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/wording"
)

// question is what a replay is asked for the price of a wait for data: the fix as a change of the recorded fetches. ok is false
// where no replay knows it: a slow hand-over, workers that are started anew.
func (v *inputView) question(c *facts.Facts, sub string) (q replay.Change, ok bool) {
	switch {
	case v.startsAgain() || v.own || v.fetch <= 0:
		return q, false
	case sub == "workers":
		return v.withWorkers(c), true
	case sub == "transform" && v.makesAnew():
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - price.MadeAnew.Mid*v.anewPart}}}, true
	case sub == "transform" && v.shrinks():
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - v.smaller().Mid}}}, true
	case sub == "transform" && (v.library || v.alike):
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - v.prepared().Mid*v.sampled()}}}, true
	case sub == "transform" && v.hotPart > 0:
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - v.quicker()}}}, true
	case sub == "storage" && v.locked(c):
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - v.unlocked()}}}, true
	case sub == "storage":
		return replay.Change{Scale: []replay.Scale{{Name: "input", Factor: 1 - v.stored(c)}}}, true
	}
	return q, false
}

// ByReplay sets a finding's price by the mean step before and after its fix, ns, as a replay gives them. What the fix itself costs comes
// off, and what cores lose that it makes busy; the upper bound does without the second.
func ByReplay(f *finding.Finding, c *facts.Facts, before, after float64) {
	mean := c.B.Mean()
	left := after / before * mean
	most := max(mean-left-f.Cost, 0)
	if f.Busy > 0 {
		left *= slower(c.OwnCores(), f.Busy, mean, left)
	}
	mid := max(mean-left-f.Cost, 0)
	f.Step = finding.Bounds(min(f.Step.Low, price.Replayed.Bounds().Low*mid), mid, max(f.Step.High, mid))
	saved := []wording.Fact{wording.Time("saved", before-after), wording.Time("after", after), wording.Time("before", before)}
	text := wording.Say("input.replayed", saved...)
	if f.Busy > 0 {
		f.Step.High = max(most, mid)
		text = wording.Say("input.replayed-costs", append(saved, wording.Time("back", mean*(1-after/before)-mid))...)
	}
	f.Run = c.OverRun(f.Step).Add(f.Elsewhere)
	f.Evidence = append(f.Evidence, text)
}

// withWorkers is the change to as many workers as are advised. A replay knows nothing of the threads that compute an operator together:
// where workers take some of them, the operators become longer.
func (v *inputView) withWorkers(c *facts.Facts) replay.Change {
	n := v.suggestWorkers(c)
	q := replay.Change{Workers: n}
	r := v.room(c)
	if left, ops := r.left(float64(n)), c.PerStep(c.B.Part(account.PartOps)); left < r.threads && ops > 0 {
		q.Scale = []replay.Scale{{Name: "cpu operators", Factor: 1 + r.shared/ops*(r.threads/left-1)}}
	}
	return q
}
