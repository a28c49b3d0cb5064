package cause

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/input"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/replay"
)

// PriceInput sets the price of waits for data by replaying the recorded fetches under the fix: the queue has its depth, workers and
// the step share the cores, and what the wait hid becomes the limit. The findings are ranked anew. Where a session has several
// ranks, or its steps cannot be replayed, the prices stay as they are. What saves less than the floor then is left out.
func (res *Result) PriceInput(c *facts.Facts, r *replay.Session) {
	if r == nil || c == nil || !r.Unprofiled() || c.P.WorldSize > 1 || r.Error() > price.ReplayError {
		return
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Ask == nil || f.Step.Mid <= 0 {
			continue
		}
		finding.Unsettle(f)
		if before, after, err := r.Price(*f.Ask); err == nil && before > 0 && after <= before {
			input.ByReplay(f, c, before, after)
		}
	}
	res.settle(c)
}
