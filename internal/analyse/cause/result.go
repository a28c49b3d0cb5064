package cause

import (
	"bottleneck/internal/analyse/cause/finding"
	"slices"
)

// IDs are the causes that a report can name, in the order of their names: those of the rules, and Compute, which needs none.
func IDs() []string {
	out := []string{finding.Compute}
	for _, r := range rules() {
		out = append(out, r.id)
	}
	for _, r := range tracedRules() {
		out = append(out, r.id)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Result is what Find found.
type Result struct {
	Findings []finding.Finding
	// Largest is the largest share of the step among findings that stayed below the floor, 0..1.
	Largest float64
	// Skipped names rules that failed on this session.
	Skipped []string
	// small are findings that save less than the floor beside the others: where these turn out to save less, they may save more.
	small []finding.Finding
}
