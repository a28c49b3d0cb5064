package cause

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
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

// weight is what a finding is ranked by, in ns of the run: a part of the way from its lower bound to its best guess, and a smaller one
// where nothing of this program supports the price, without what other findings save as well. What may save nothing stands behind what
// surely saves half as much; by best guesses alone findings would change places between two runs of one program, and the first one is
// what somebody works on.
func weight(f *finding.Finding) float64 {
	part := price.RankedBy
	if f.Guess {
		part = price.RankedByGuess
	}
	return f.Run.Low + max((1-f.Shared)*f.Run.Mid-f.Run.Low, 0)*part
}
