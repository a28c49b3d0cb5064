package memory

import (
	"regexp"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindSuppression names lines that suppress boxes which overlap a better one (non-maximum suppression) and take a large part of the steps
// on the CPU: its time grows with the square of the boxes, and detectors score most of them close to zero.
func FindSuppression(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if c.OnDevice() {
		return nil
	}
	t, own := 0.0, []facts.Chain(nil)
	computes := func(_ int, a *account.Attributed) bool { return a.Part == account.PartOps }
	for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, computes) {
		if n := len(ch.Frames); n > 0 && suppresses.MatchString(c.Source(c.Text(ch.Frames[n-1].File), int(ch.Frames[n-1].Line))) {
			t += ch.Weight
			own = append(own, ch)
		}
	}
	if c.Share(t) < price.SuppressionShare || len(own) < facts.MinSamples {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.MemoryBound, Sub: "suppression", Where: c.Where(facts.LineTimes(own)[0]),
		Share: c.Share(t), Confidence: c.Basis(len(own))}, finding.Parts{account.PartOps: t})
	f.Step = f.By(price.Suppression).Times(c.PerStep(t))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("memory.title-suppression", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.suppression", wording.Time("time", c.PerStep(t)), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-suppression")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-suppression")}
	return []finding.Draft{f}
}

// suppresses matches calls of torchvision's non-maximum suppression.
var suppresses = regexp.MustCompile(`\b(?:batched_)?nms\(`)
