package cause

import (
	"bottleneck/internal/analyse/cause/finding"
	"cmp"
	"slices"
)

// Rank orders findings: what ends the program now first, then by what they save over the run, what will end it later, what a longer run
// repays, and what is healthy last. It is the one home of that order, for prices that are set anew later.
func Rank(found []finding.Finding) {
	slices.SortStableFunc(found, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(finding.Btoi(b.Stops && !b.Later), finding.Btoi(a.Stops && !a.Later)),
			cmp.Compare(finding.Btoi(a.Healthy), finding.Btoi(b.Healthy)),
			cmp.Compare(finding.Btoi(a.Repaid), finding.Btoi(b.Repaid)), cmp.Compare(weight(&b), weight(&a)))
	})
}

// weight is what a finding is ranked by, in ns of the run: its best guess, or of a price that nothing of this program supports the middle
// between that and its lower bound, so that it stands behind what is known to save about as much.
func weight(f *finding.Finding) float64 {
	if f.Guess {
		return (f.Run.Low + f.Run.Mid) / 2
	}
	return f.Run.Mid
}
