package cpython_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/cpython"
)

// freeThreaded are the interpreters that can do without a GIL.
func freeThreaded(t *testing.T) map[string]string {
	t.Helper()
	all := interpreters(t)
	maps.DeleteFunc(all, func(version, _ string) bool { return !strings.HasSuffix(version, "t") })
	if len(all) == 0 {
		t.Skip("no free-threaded CPython on this machine: scripts/env.sh python-3.13t builds one")
	}
	return all
}

// seenInParallel is what many snapshots of parallel.py showed.
type seenInParallel struct {
	stacks, torn, held, wrong, strange int
	counts                             map[uint64]map[string]bool // values of the counter, by thread
}

// watchParallel reads stacks and variables while threads replace what is read.
func watchParallel(t *testing.T, r *cpython.Reader) seenInParallel {
	t.Helper()
	seen := seenInParallel{counts: map[uint64]map[string]bool{}}
	var s cpython.Snapshot
	for range 1000 {
		if err := r.Take(&s); err != nil {
			t.Fatal(err)
		}
		for i := range s.Threads {
			seen.look(r, &s.Threads[i])
		}
	}
	return seen
}

func (seen *seenInParallel) look(r *cpython.Reader, th *cpython.ThreadSample) {
	seen.stacks++
	if th.HoldsGIL {
		seen.held++
	}
	if th.Fault != cpython.FaultNone {
		seen.torn++
		return
	}
	for i, f := range th.Frames {
		if filepath.Base(f.Code.File) != "parallel.py" || f.Code.Function != "spin" {
			continue
		}
		if line := f.Line(); line < 15 || line > 20 {
			seen.wrong++
		}
		locals, err := r.Locals(th.Addr, i)
		if err != nil {
			seen.strange++
		}
		for _, l := range locals {
			switch {
			case l.Name == "fixed" && l.Value != `"stays"`:
				seen.strange++
			case l.Name == "count":
				if seen.counts[th.Addr] == nil {
					seen.counts[th.Addr] = map[string]bool{}
				}
				seen.counts[th.Addr][l.Value] = true
			}
		}
	}
	if len(th.Frames) > 0 && th.Frames[0].Code.Function == "replaced" {
		_, _ = r.Locals(th.Addr, 0) // objects that are freed meanwhile: anything but a crash will do
	}
}

// TestWithoutGIL reads threads that run side by side; the same with the lock switched on, as an extension does that needs it.
func TestWithoutGIL(t *testing.T) {
	for version, python := range freeThreaded(t) {
		for _, gil := range []string{"0", "1"} {
			t.Run(version+"/PYTHON_GIL="+gil, func(t *testing.T) {
				t.Setenv("PYTHON_GIL", gil)
				checkParallel(t, readerOf(t, start(t, python, "testdata/parallel.py")), gil == "1")
			})
		}
	}
}

func checkParallel(t *testing.T, r *cpython.Reader, gil bool) {
	t.Helper()
	seen := watchParallel(t, r)
	t.Logf("%d stacks, %d torn, %d hold the lock", seen.stacks, seen.torn, seen.held)
	if seen.torn*200 > seen.stacks || seen.wrong > 0 || seen.strange > 0 {
		t.Errorf("%d of %d stacks torn, %d lines outside of their function, %d variables wrong", seen.torn, seen.stacks,
			seen.wrong, seen.strange)
	}
	if (seen.held > 0) != gil {
		t.Errorf("%d stacks hold the lock", seen.held)
	}
	if len(seen.counts) != 2 {
		t.Fatalf("%d threads count", len(seen.counts))
	}
	for addr, values := range seen.counts {
		if len(values) < 10 {
			t.Errorf("thread %#x stood at %d counts only", addr, len(values))
		}
	}
}
