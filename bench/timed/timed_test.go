//go:build unix

package timed

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A command that runs for too long is ended with what it started: the child that would write a file does not.
func TestLimitEndsTheWholeCommand(t *testing.T) {
	dir := t.TempDir()
	c := Command{Args: []string{"/bin/sh", "-c", "(sleep 4; echo late >late) & sleep 60"}, Dir: dir, Limit: time.Second}
	took, err := c.Run(t.Context())
	if !errors.Is(err, ErrLimit) || took.Wall > 30 {
		t.Errorf("%v after %.1f s, want its limit", err, took.Wall)
	}
	time.Sleep(5 * time.Second)
	if _, err := os.Stat(filepath.Join(dir, "late")); err == nil {
		t.Error("a child lived on")
	}
}

// What a command printed is given whether it failed or not; its environment is whole what it was given.
func TestOutputOfFailure(t *testing.T) {
	c := Command{Args: []string{"/bin/sh", "-c", "echo out $A$HOME; echo err >&2; exit 3"}, Env: []string{"A=a"}, Limit: time.Minute}
	took, err := c.Run(t.Context())
	if err == nil || errors.Is(err, ErrLimit) || took.Stdout != "out a\n" || took.Stderr != "err\n" {
		t.Errorf("%q, %q, %v", took.Stdout, took.Stderr, err)
	}
	if got := LastLines("a\nb\nc\n", 2); got != "b | c" {
		t.Errorf("last lines %q", got)
	}
}
