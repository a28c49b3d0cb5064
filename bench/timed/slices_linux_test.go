package timed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// counting is a shell command that keeps a core busy until it is ended, or that counts so far.
func counting(to string) Command {
	return Command{Args: []string{"/bin/sh", "-c", "i=0; while [ $i -lt " + to + " ]; do i=$((i+1)); done"}, Limit: time.Minute}
}

// While one command runs the others, and what they started, do not: none has more of the CPU than of the clock, which two cores would
// give it by its child.
func TestOneRunsAtATime(t *testing.T) {
	child := counting("300000")
	child.Args[2] = "(" + child.Args[2] + ")& " + child.Args[2] + "; wait"
	began := time.Now()
	out := Slices(t.Context(), 50*time.Millisecond, []Command{counting("600000"), child, counting("600000")})
	elapsed, walls := time.Since(began).Seconds(), 0.0
	for i, o := range out {
		cores := 1.0
		if i == 1 {
			cores = 2
		}
		if o.Err != nil || o.Wall <= 0 || o.CPU > cores*o.Wall*1.15+0.05 {
			t.Errorf("command %d: %.2f s of CPU in %.2f s, %v", i, o.CPU, o.Wall, o.Err)
		}
		walls += o.Wall
	}
	if walls > elapsed {
		t.Errorf("they ran %.2f s together in %.2f s", walls, elapsed)
	}
}

// One that fails spares the others; one that runs for too long is ended with its children, also those that are stopped.
func TestSlicesOfFailures(t *testing.T) {
	dir := t.TempDir()
	late := Command{Args: []string{"/bin/sh", "-c", "(sleep 2; echo late >late) & sleep 60"}, Dir: dir, Limit: 500 * time.Millisecond}
	fails := Command{Args: []string{"/bin/sh", "-c", "echo why >&2; exit 3"}, Limit: time.Minute}
	out := Slices(t.Context(), 100*time.Millisecond, []Command{late, fails, counting("100000"), {Args: []string{"/no/such"}}})
	if !errors.Is(out[0].Err, ErrLimit) || out[1].Err == nil || out[1].Stderr != "why\n" || out[2].Err != nil || out[3].Err == nil {
		t.Errorf("%v", out)
	}
	time.Sleep(3 * time.Second)
	if _, err := os.Stat(filepath.Join(dir, "late")); err == nil {
		t.Error("a child lived on")
	}
}

// An interrupted bench leaves nothing behind.
func TestSlicesInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	late := Command{Args: []string{"/bin/sh", "-c", "(sleep 2; echo late >late) & sleep 60"}, Dir: dir, Limit: time.Minute}
	for i, o := range Slices(ctx, 100*time.Millisecond, []Command{late, late}) {
		if !errors.Is(o.Err, context.DeadlineExceeded) {
			t.Errorf("command %d: %v", i, o.Err)
		}
	}
	time.Sleep(3 * time.Second)
	if _, err := os.Stat(filepath.Join(dir, "late")); err == nil {
		t.Error("a child lived on")
	}
}
