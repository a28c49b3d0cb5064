package memory

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/usage"
	"bottleneck/internal/wording"
)

// FindCopies names a dataset's container of Python's objects that forked workers copy page by page, by looking at it. It saves no time,
// unless the memory ends.
func FindCopies(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	copied, ok := usage.CopiesOf(c.S, c.P)
	if !ok {
		return nil
	}
	items := pysource.ItemsIn(ownSources(c))
	if len(items) == 0 {
		return nil
	}
	k := &items[0]
	f := finding.NewDraft(finding.Finding{Cause: finding.MemoryGrowth, Sub: "workers", Where: finding.Nowhere(),
		Stops: true, OfRun: true}, nil)
	f.Later = true
	f.Where.File, f.Where.Line, f.Where.Source = k.File, int(k.Line), c.Source(k.File, int(k.Line))
	bytes := wording.Size("bytes", float64(copied.Bytes))
	f.Title = wording.Say("growth.workers", wording.Count("workers", copied.Workers), bytes)
	f.Evidence = []wording.Text{wording.Say("growth.workers-seen", bytes, wording.Time("time", float64(copied.Span)))}
	if limit, n := c.S.Environment.MemoryBytes, len(c.P.Usage); limit != nil && *limit > 0 && n > 0 {
		f.Evidence = append(f.Evidence, wording.Say("growth.workers-bound",
			wording.Size("held", float64(c.P.Usage[n-1].Private())), wording.Size("limit", float64(*limit))))
	}
	for _, other := range items[1:min(len(items), 1+maxOthersKept)] {
		f.Evidence = append(f.Evidence, wording.Say("growth.workers-other", wording.Named("target", other.Target),
			wording.Named("at", finding.Place(finding.Where{File: other.File, Line: int(other.Line)}))))
	}
	f.Fix.Advice = []wording.Text{wording.Say("growth.fix-workers", wording.Named("target", k.Target))}
	f.Confidence = finding.Confidence{Level: finding.Medium, Why: []wording.Text{wording.Say("growth.workers-basis")}}
	if len(items) > 1 {
		f.Confidence.Level = finding.Low
	}
	return []finding.Draft{f}
}
