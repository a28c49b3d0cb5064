package cause

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
)

// What surely saves about as much stands before what may save nothing, and a guess behind what is known; what saves far more leads all the
// same.
func TestWhatSurelySavesLeads(t *testing.T) {
	priced := func(name string, guess bool, low, mid float64) finding.Finding {
		return finding.Finding{Cause: name, Guess: guess, Run: finding.Range{Low: low, Mid: mid, High: 2 * mid}}
	}
	for _, c := range []struct{ first, second finding.Finding }{
		{priced("one line", false, 2.5, 5.0), priced("many lines", true, 0, 5.4)},
		{priced("one line", false, 2.5, 5.0), priced("other", false, 0, 6)},
		{priced("sure", false, 0.78, 1.2), priced("open", false, 0, 2.7)},
		{priced("known", false, 0, 0.93), priced("guessed", true, 0, 1.03)},
		{priced("guessed", true, 0, 16.7), priced("known", false, 0, 7.9)},
	} {
		found := []finding.Finding{c.second, c.first}
		if Rank(found); found[0].Cause != c.first.Cause {
			t.Errorf("%s stands before %s", found[0].Cause, found[1].Cause)
		}
	}
}
