package cause

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/wording"
	"slices"
)

// Doubt says what would decide whether a finding is worth its fix; ok is false where that is known: it rests on enough samples, and at the
// worst saves what a report names at all.
func Doubt(c *facts.Facts, f *finding.Finding) (what wording.Text, ok bool) {
	few := func(t wording.Text) bool { return t.ID == "basis.few-samples" || t.ID == "basis.few-steps" }
	sure := *f
	sure.Step.Mid, sure.Run.Mid = f.Step.Low, f.Run.Low
	switch {
	case f.Stops || f.Healthy:
		return what, false
	case f.Confidence.Level == finding.Low && slices.ContainsFunc(f.Confidence.Why, few):
		return wording.Say("basis.decide-longer"), true
	case facts.SavedShare(c, &sure) >= finding.Floor:
		return what, false
	case fixFor(f) != nil && !f.Measured:
		return wording.Say("basis.decide-measure"), true
	}
	return wording.Say("basis.decide-try"), true
}
