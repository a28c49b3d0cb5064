package pysource_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/pysource"
)

func TestCountsPairs(t *testing.T) {
	for line, want := range map[string]bool{
		"    matrix[t.long(), p.long()] += 1":    true,
		"cm[int(t), int(p)] += 1  # rows: truth": true,
		"self.cm[labels[i], guesses[i]] += 1.0":  true,
		"cm[t][p] += 1":                          true,
		"    seen[key(a, b)] += 1":               false,
		"    total[label] += 1":                  false,
		"    cm[t, p] += weight":                 false,
		"    cm[t, p] += 10":                     false,
		"    correct += 1":                       false,
		"    cm[t, p] = 1":                       false,
	} {
		if got := pysource.CountsPairs(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
