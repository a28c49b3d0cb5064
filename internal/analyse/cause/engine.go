package cause

import (
	"bottleneck/internal/analyse/cause/finding"
	"fmt"
)

// rule is one cause's rule on facts of a kind: those of a run of ours (*Facts), or of a trace from elsewhere (*Traced). It is pure: it
// reads the facts and what rules before it have booked, and changes neither.
type rule[Facts any] struct {
	id   string
	find func(Facts, finding.Ledger) []finding.Draft
}

// run asks rules in their order, books what each finds and hands it on. A rule that panics on hostile input is skipped and named.
func run[Facts any](rules []rule[Facts], facts Facts, l *book, found func(*finding.Draft)) (skipped []string) {
	for _, r := range rules {
		drafts, err := guarded(r, facts, l)
		if err != nil {
			skipped = append(skipped, err.Error())
			continue
		}
		for i := range drafts {
			l.note(&drafts[i])
			found(&drafts[i])
		}
	}
	return skipped
}

func guarded[Facts any](r rule[Facts], facts Facts, l finding.Ledger) (found []finding.Draft, err error) {
	defer func() {
		if e := recover(); e != nil {
			found, err = nil, fmt.Errorf("rule %s: internal error: %v", r.id, e)
		}
	}()
	return r.find(facts, l), nil
}
