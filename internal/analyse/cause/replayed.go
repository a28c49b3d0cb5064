package cause

import (
	"math"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/stats"
)

// InOrder says of each finding what it saves per step once all findings before it are fixed: removing one cause uncovers
// another that stood behind it, or leaves less for it to save. r replays what the findings are about; nil leaves them as they are.
func InOrder(found []finding.Finding, c *facts.Facts, r *replay.Session) {
	if r == nil {
		return
	}
	var removed replay.Change
	taken := map[account.PartID]float64{} // ns over the accounted windows
	before := -1.0
	for i := range found {
		f := &found[i]
		if !replayable(f, c, r, taken, &removed) {
			if f.Step.Mid > 0 || c == nil && f.Run.Mid > 0 {
				return // what is left once it is fixed is not known, nor what others then save
			}
			continue
		}
		change := removed
		for part, t := range stats.InOrder(taken) {
			change.Scale = append(change.Scale, replay.Scale{Name: partName(part), Factor: max(1-t/c.B.Part(part), 0)})
		}
		unchanged, after, err := r.Price(change)
		if err != nil {
			return
		}
		if before < 0 {
			before = unchanged
		}
		f.InOrder = &finding.Ordered{Step: before - after, After: after}
		before = after
	}
}

// replayable adds what removing a finding's cause means, as far as its fix does: time taken from parts of the account or, for
// traced steps, a removal. False where no replay can know.
func replayable(f *finding.Finding, c *facts.Facts, r *replay.Session, taken map[account.PartID]float64, removed *replay.Change) bool {
	if c == nil {
		removal, ok := r.Removal(f.Cause)
		if ok = ok && !f.Healthy && f.Sub == ""; ok {
			*removed = removed.And(removal)
		}
		return ok
	}
	claimed := 0.0
	for _, t := range stats.InOrder(f.Booked) {
		claimed += max(t, 0)
	}
	saved := (1 - f.Shared) * f.Step.Mid * float64(len(c.B.Windows))
	if f.Healthy || f.OfRun || claimed <= 0 || saved <= 0 || !r.Unprofiled() {
		return false
	}
	for part, t := range f.Booked {
		if all := c.B.Part(part); t > 0 && all > 0 {
			gone := min(saved*t/claimed, t)
			if f.Throughout {
				gone *= max(1-taken[part]/all, 0)
			}
			taken[part] += gone
		}
	}
	return true
}

// partName is what a replay calls a part of the account.
func partName(id account.PartID) string {
	switch id {
	case account.PartDataWait:
		return "input"
	case account.PartOps:
		return "cpu operators"
	case account.PartPython:
		return "python"
	}
	return id.String()
}

// PriceByReplay sets the prices of findings on traces from elsewhere by what a replay without their cause saves: waits that
// overlap with other work save less than they last. What a fix usually leaves stays as the rule says. Findings are ranked anew by
// those prices, and a wait for the device without which nothing would be faster is no finding. A replay that does not give the
// recorded time prices nothing.
func (res *Result) PriceByReplay(t *traced.Traced, r *replay.Session) {
	if r == nil || math.Abs(r.Error()) > faithful {
		return
	}
	kept := res.Findings[:0]
	for i := range res.Findings {
		f := &res.Findings[i]
		if !traced.PriceByReplay(f, t, r) || f.Cause != finding.Sync || f.Run.High >= finding.Floor*t.Span {
			kept = append(kept, *f)
		} else {
			res.Largest = max(res.Largest, f.Run.High/t.Span)
		}
	}
	res.Findings = kept
	if f, ok := traced.TracedCompute(t, res.Findings); ok {
		res.Findings = append(res.Findings, f)
	}
	rankTraced(res.Findings)
}

// faithful is how far an unmodified replay may be from the recording and still price findings.
const faithful = price.ReplayFaithful
