//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bench is a case whose programs are shell scripts, and a binary that is one. Each of their runs is a line of the log.
type bench struct {
	t   *testing.T
	dir string
	c   testCase
	settings
}

func newBench(t *testing.T, slow, fixed string) *bench {
	dir := t.TempDir()
	b := &bench{t: t, dir: dir, c: testCase{name: "case", dir: filepath.Join(dir, "case")}}
	b.c.expect = expect{Cause: "python", Place: Place{"slow.py", 1}, Device: "cpu"}
	b.settings = settings{binary: filepath.Join(dir, "binary"), keep: filepath.Join(dir, "kept"), repeats: 3, limit: time.Minute}
	b.file("case/expect.json", `{"cause": "python", "file": "slow.py", "line": 1, "device": "cpu"}`)
	b.file("case/slow.py", "echo slow >>"+b.log()+"\n"+slow)
	b.file("case/fixed.py", "echo fixed >>"+b.log()+"\n"+fixed)
	b.promises(1)
	return b
}

// promises makes a binary that promises some seconds: of a run in its report file, of a session on standard output.
func (b *bench) promises(seconds int) {
	b.file("binary", fmt.Sprintf(`#!/bin/sh
report() { echo '{"Findings": [{"cause": "python", "where": {"file": "'$1'", "line": 1}, "saving": {"run_s": {"low": 0, "mid": %d, "high": 9}}}]}'; }
case $1 in
--version) echo binary version 0 ;;
report) echo report >>%[2]s; report "$(cat "$4/entry")" ;;
run)
	session=$3 json=$7
	shift 8
	echo profile >>%[2]s
	mkdir "$session" && basename "$2" >"$session/entry" && report "$(basename "$2")" >"$json"
	exec "$@" ;;
esac
`, seconds, b.log()))
}

func (b *bench) file(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) log() string { return filepath.Join(b.dir, "log") }

// logged takes the runs since the last call.
func (b *bench) logged() string {
	text, _ := os.ReadFile(b.log())
	_ = os.Remove(b.log())
	return strings.Join(strings.Fields(string(text)), " ")
}

func (b *bench) run(ctx context.Context) outcome {
	r := runner{settings: b.settings, python: "/bin/sh", generation: "newest", seed: 1, c: &b.c,
		dir: filepath.Join(b.keep, "newest-1-case")}
	return r.run(ctx)
}

// repriced are the outcomes of what was kept.
func (b *bench) repriced() (all []outcome) {
	b.t.Helper()
	s := b.settings
	s.keep, s.reprice = "", b.keep
	if err := s.repriceAll(b.t.Context(), func(o outcome) { all = append(all, o) }); err != nil {
		b.t.Fatal(err)
	}
	return all
}

// Profiles stand before, between and after the pairs, and the sides take turns in going first.
func TestRunsAreSpread(t *testing.T) {
	for repeats, want := range map[int]string{
		0: "profile slow profile fixed",
		1: "profile slow slow fixed profile slow profile fixed",
		2: "profile slow slow fixed profile slow fixed slow profile slow profile fixed",
		4: "profile slow slow fixed fixed slow profile slow slow fixed fixed slow profile slow profile fixed",
	} {
		b := newBench(t, "", "")
		b.repeats = repeats
		o := b.run(t.Context())
		if got := b.logged(); o.failed != "" || got != want {
			t.Errorf("%d repeats: %q %s, want %q", repeats, got, o.failed, want)
		}
	}
}

// What the cured program keeps for later runs is made by a run that counts for nothing.
func TestCuredProgramRunsBefore(t *testing.T) {
	b := newBench(t, "", "")
	b.c.expect.Before, b.repeats = true, 1
	o := b.run(t.Context())
	if got, want := b.logged(), "profile slow fixed slow fixed profile slow profile fixed"; o.failed != "" || got != want {
		t.Errorf("%q %s, want %q", got, o.failed, want)
	}
}

// Kept cases get another binary's prices without a run, against the seconds that were measured, and with what was expected then.
func TestReprice(t *testing.T) {
	b := newBench(t, "", "")
	o := b.run(t.Context())
	b.logged()
	b.promises(2)
	b.file("case/expect.json", `{"cause": "input", "device": "cpu"}`)
	all := b.repriced()
	if got, want := b.logged(), "report report report report"; got != want {
		t.Errorf("%q were run, want %q", got, want)
	}
	if len(all) != 1 {
		t.Fatalf("%d outcomes, want 1", len(all))
	}
	again := all[0]
	if len(again.slow) != 3 || again.predicted().Mid != 2 || o.predicted().Mid != 1 || !again.named() ||
		!again.placed() || !again.twin || again.seed != 1 || again.generation != "newest" {
		t.Errorf("again %+v, want three profiles that promise 2 s, before 1 s", again)
	}
	for i, w := range o.wall {
		for side := range w {
			if d := w[side] - again.wall[i][side]; d > 0.001 || d < -0.001 {
				t.Errorf("pair %d: %v, measured %v", i, again.wall[i], w)
			}
		}
	}
	if o := b.run(t.Context()); !strings.Contains(o.failed, "has this case already") {
		t.Errorf("a kept case was overwritten: %q", o.failed)
	}
}

// A program that hangs is ended with what it started, and said; what was kept says so too.
func TestHangingProgramIsEnded(t *testing.T) {
	b := newBench(t, "", "sleep 600 & echo $! >$(dirname $0)/child; wait")
	b.limit = 3 * time.Second
	o := b.run(t.Context())
	if !strings.Contains(o.failed, "(fixed) still ran after") {
		t.Errorf("failed %q, want that the fixed program still ran", o.failed)
	}
	text, err := os.ReadFile(filepath.Join(b.keep, "newest-1-case", "fixed", "child"))
	if err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Sscan(string(text), &child); err != nil {
		t.Fatal(err)
	}
	if !ended(child) {
		t.Errorf("process %d is still there", child)
	}
	if all := b.repriced(); len(all) != 1 || all[0].failed != o.failed {
		t.Errorf("repriced %+v, want the failure", all)
	}
}

// ended says that a process is gone, or is only not yet asked after by its parent.
func ended(pid int) bool {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// A case that was interrupted is no failure, and is left out when kept cases are priced again.
func TestInterruptedCaseIsLeftOut(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	b := newBench(t, "", "sleep 600")
	go func() {
		for ctx.Err() == nil {
			if text, _ := os.ReadFile(b.log()); strings.Contains(string(text), "fixed") {
				interrupt()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	o := b.run(ctx)
	if o.skipped != "interrupted" || o.failed != "" {
		t.Errorf("left out %q, failed %q; want that it was interrupted", o.skipped, o.failed)
	}
	if all := b.repriced(); len(all) != 1 || all[0].skipped != "its run was interrupted" {
		t.Errorf("repriced %+v, want it left out", all)
	}
}

// A last line that was cut off counts for nothing; a pair without its numbers is an error.
func TestReadTimes(t *testing.T) {
	b := &bench{t: t, dir: t.TempDir()}
	b.file(timesName,
		"# times\ncase a\nseed 7\nprofile slow-1 predicted 1.000\npair 1 slow 3.000 fixed 2.000 slow-cpu 1.000 fixed-cpu 1.000\ncompl")
	k, err := readTimes(filepath.Join(b.dir, timesName))
	if err != nil || k.name != "a" || k.seed != 7 || len(k.profiles) != 1 || len(k.wall) != 1 ||
		k.wall[0] != [2]float64{3, 2} || k.complete {
		t.Errorf("%+v, %v", k, err)
	}
	b.file(timesName, "pair 1 slow 3.000 fixed\n")
	if _, err := readTimes(filepath.Join(b.dir, timesName)); err == nil {
		t.Error("half a pair was read")
	}
}

// What prove says is kept with the case, and read again: promised ÷ proven takes the twin's place where the proof is of the first finding.
func TestProofIsKept(t *testing.T) {
	b := newBench(t, "", "")
	b.prove = true
	text, err := os.ReadFile(filepath.Join(b.dir, "binary"))
	if err != nil {
		t.Fatal(err)
	}
	prove := `prove) shift; while [ "$1" != --json ]; do shift; done
	echo '{"verdict": "saves", "outputs": "same", "finding": {"number": 1, "cause": "python"}, "promised": {"run_s": {"mid": 1}},` +
		` "proven": {"run_s": {"low": -9, "mid": 4, "high": 9}}}' >"$2" ;;
`
	b.file("binary", strings.Replace(string(text), "report) echo report", prove+"report) echo report", 1))
	o := b.run(t.Context())
	again := b.repriced()
	if len(again) != 1 {
		t.Fatalf("%d outcomes, want 1", len(again))
	}
	for name, o := range map[string]*outcome{"run": &o, "priced again": &again[0]} {
		if ratio, ok := o.calibration(); o.proof == nil || !ok || ratio != 0.25 {
			t.Errorf("%s: %+v, failed %q, promised / proven %v, want 0.25", name, o.proof, o.failed, ratio)
			continue
		}
		var s proofs
		if s.add(o); s.decided != [2]int{1, 1} || s.held != [2]int{1, 1} || len(s.ratios) != 1 {
			t.Errorf("%s: %+v", name, s)
		}
		o.expect.OtherCure = true
		s = proofs{}
		if s.add(o); s.held != [2]int{} || len(s.ratios) != 1 {
			t.Errorf("%s, the twin is cured otherwise: %+v", name, s)
		}
		o.proof.Bound, o.wall = true, nil // no twin decides either
		if _, ok := o.calibration(); ok {
			t.Errorf("%s: a bound counts as a saving", name)
		}
	}
	b.file("binary", strings.Replace(string(text), "report) echo report", "prove) echo advice only >&2; exit 3 ;;\nreport) echo report", 1))
	b.keep = filepath.Join(b.dir, "other")
	o = b.run(t.Context())
	again = b.repriced()
	var out strings.Builder
	proofTotals(&out, []outcome{o})
	proofTotals(&out, again)
	if n := strings.Count(out.String(), "no proof: advice only"); n != 2 || o.failed != "" {
		t.Errorf("failed %q, %d times that there is no proof:\n%s", o.failed, n, out.String())
	}
}
