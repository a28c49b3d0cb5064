package naming

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestWordSet holds the automaton against a search for each word, on names made of parts of words.
func TestWordSet(t *testing.T) {
	lists := [][]string{{"he", "hers", "his"}, {"she"}, {"rs_", "_h"}, {"sheshe1"}}
	set := newWordSet(lists)
	parts := []string{"h", "e", "rs", "s", "i", "_", "she", "HE", "1", "ä", "x"}
	random := rand.New(rand.NewPCG(1, 2))
	seen := uint32(0)
	for range 5000 {
		text := ""
		for range random.IntN(8) {
			text += parts[random.IntN(len(parts))]
		}
		want := uint32(0)
		for i, words := range lists {
			for _, w := range words {
				if strings.Contains(strings.ToLower(text), w) {
					want |= 1 << i
				}
			}
		}
		if got := set.in(text); got != want {
			t.Fatalf("%q: lists %b, want %b", text, got, want)
		}
		seen |= want
	}
	if seen != 1<<len(lists)-1 {
		t.Errorf("the texts hold words of the lists %b only", seen)
	}
}
