package cpython_test

import (
	"testing"
	"time"

	"bottleneck/internal/cpython"
)

// TestLocals reads variables of every kind in every version.
func TestLocals(t *testing.T) {
	want := map[string]string{"argument": `"x"`, "rest": "(1, 2)", "more": "dict of 1", "small": "7",
		"negative": "-123456789012345678901234567890", "zero": "0", "real": "2.5", "flag": "True", "nothing": "None",
		"text": `"grüße"`, "long_text": "str of 5000", "raw": "bytes of 3", "items": `[1, "two", 3, None, …] of 5`,
		"pair": "(1, (…) of 2)", "table": "dict of 2", "some": "set of 3", "thing": "<function>", "captured": "int 42",
		"inner": "<function>"}
	for version, python := range interpreters(t) {
		t.Run(version, func(t *testing.T) {
			cmd := start(t, python, "testdata/locals.py")
			r := readerOf(t, cmd)
			var s cpython.Snapshot
			got := map[string]string{}
			for deadline := time.Now().Add(time.Minute); len(got) == 0 && time.Now().Before(deadline); {
				if err := r.Take(&s); err != nil {
					t.Fatal(err)
				}
				if len(s.Threads) == 0 || !s.Threads[0].Same || len(s.Threads[0].Frames) == 0 {
					continue
				}
				locals, err := r.Locals(s.Threads[0].Addr, 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range locals {
					got[l.Name] = l.Value
				}
			}
			for name, v := range want {
				if got[name] != v {
					t.Errorf("%s = %s, want %s", name, got[name], v)
				}
			}
		})
	}
}

// TestWithin looks whether a thread is still in the function of its stack: it is while the function sleeps, and no more once another one
// does, whose frame lies at the same place on newer versions.
func TestWithin(t *testing.T) {
	for version, python := range interpreters(t) {
		t.Run(version, func(t *testing.T) {
			r := readerOf(t, start(t, python, "testdata/turns.py"))
			var s cpython.Snapshot
			deadline := time.Now().Add(time.Minute)
			asleep := func() bool {
				if err := r.Take(&s); err != nil {
					t.Fatal(err)
				}
				if len(s.Threads) == 0 || s.Threads[0].Fault != cpython.FaultNone || len(s.Threads[0].Frames) == 0 {
					return false
				}
				function := s.Threads[0].Frames[0].Code.Function
				return (function == "first" || function == "second") && r.Within(&s.Threads[0])
			}
			for !asleep() {
				if time.Now().After(deadline) {
					t.Fatal("a thread that sleeps is never within its stack")
				}
			}
			until := time.Now().Add(time.Minute)
			for r.Within(&s.Threads[0]) && time.Now().Before(until) {
				time.Sleep(10 * time.Millisecond)
			}
			if r.Within(&s.Threads[0]) {
				t.Error("a thread is said to be in a function that it has left")
			}
		})
	}
}
