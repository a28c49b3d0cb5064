package stats

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// InOrder goes over a map from its smallest key to its largest. A sum of floats depends on the order of its parts, and two reports of one
// session have to be the same to the last digit: who adds up a map's values goes over it in this order.
func InOrder[K cmp.Ordered, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
