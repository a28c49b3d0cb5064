package cpython_test

import (
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/cpython"
)

// TestThreadNames reads the names that a program gave its threads, in every form in which attributes are kept.
func TestThreadNames(t *testing.T) {
	for version, python := range interpreters(t) {
		t.Run(version, func(t *testing.T) {
			cmd := start(t, python, "testdata/names.py")
			r := readerOf(t, cmd)
			var s cpython.Snapshot
			if err := r.Take(&s); err != nil {
				t.Fatal(err)
			}
			names, err := r.ThreadNames()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, th := range s.Threads {
				got = append(got, names[th.ID])
			}
			for _, want := range []string{"chief", "loader é✓", "subclass", "changed"} {
				if !slices.Contains(got, want) {
					t.Errorf("no thread is named %q: %q", want, got)
				}
			}
			if len(got) != 5 || !slices.ContainsFunc(got, func(n string) bool { return strings.HasPrefix(n, "Thread-") }) {
				t.Errorf("threads are named %q", got)
			}
		})
	}
}
