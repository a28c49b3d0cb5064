package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// grace is how long a program may take to end after it was asked to.
const grace = 15 * time.Second

// start runs a command under the case's limits and gives wall-clock and CPU seconds. A command that runs for too long, or whose harness
// is interrupted, is ended with all that it started.
func (r *runner) start(ctx context.Context, variant string, command []string) (wall, cpu float64, err error) {
	e := &r.c.expect
	name := filepath.Base(r.script[variant])
	command, err = limited(e, variant, command)
	if err != nil {
		return 0, 0, err
	}
	if variant == "slow" {
		defer lift(e)
	}
	limit, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	cmd := exec.CommandContext(limit, command[0], command[1:]...)
	cmd.Dir = filepath.Join(r.dir, variant)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OMP_NUM_THREADS=") })
	if e.Threads != "default" {
		cmd.Env = append(cmd.Env, "OMP_NUM_THREADS=1")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	rest := endWhole(cmd)
	cmd.WaitDelay = grace
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began)
	if limit.Err() != nil && err != nil {
		rest()
		if ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		return 0, 0, fmt.Errorf("%s (%s) still ran after %.0f s and was ended; LIMIT sets how long it may take", name, variant, r.limit.Seconds())
	}
	ended := (*exec.ExitError)(nil)
	switch mustEnd := e.Ends && variant == "slow"; {
	case mustEnd && err == nil:
		return 0, 0, fmt.Errorf("%s ended well, want an error", name)
	case mustEnd && errors.As(err, &ended):
	case err != nil:
		return 0, 0, fmt.Errorf("%s (%s): %w: %s", name, variant, err, lastLines(stderr.String(), 3))
	}
	state := cmd.ProcessState
	return took.Seconds(), (state.UserTime() + state.SystemTime()).Seconds(), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
