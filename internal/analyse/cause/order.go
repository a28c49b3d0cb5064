package cause

import (
	"cmp"
	"slices"
)

// Rank orders findings: what ends the program first, then by what they save over the run, and what is healthy last. It is the one home of
// that order, for prices that are set anew later.
func Rank(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(btoi(b.Stops), btoi(a.Stops)), cmp.Compare(btoi(a.Healthy), btoi(b.Healthy)), cmp.Compare(b.weight(), a.weight()))
	})
}

// weight is what a finding is ranked by, in ns of the run: its best guess, or of a price that nothing of this program supports the middle
// between that and its lower bound, so that it stands behind what is known to save about as much.
func (f *Finding) weight() float64 {
	if f.guess {
		return (f.Run.Low + f.Run.Mid) / 2
	}
	return f.Run.Mid
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
