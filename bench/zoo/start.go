package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"bottleneck/bench/timed"
)

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
	took, err := timed.Command{Args: command, Dir: filepath.Join(r.dir, variant), Env: e.environment(), Limit: r.limit}.Run(ctx)
	ended := (*exec.ExitError)(nil)
	switch mustEnd := e.Ends && variant == "slow"; {
	case ctx.Err() != nil && err != nil:
		return 0, 0, ctx.Err()
	case errors.Is(err, timed.ErrLimit):
		return 0, 0, fmt.Errorf("%s (%s) %w; LIMIT sets how long it may take", name, variant, err)
	case mustEnd && err == nil:
		return 0, 0, fmt.Errorf("%s ended well, want an error", name)
	case mustEnd && errors.As(err, &ended):
	case err != nil:
		return 0, 0, fmt.Errorf("%s (%s): %w: %s", name, variant, err, timed.LastLines(took.Stderr, 3))
	}
	return took.Wall, took.CPU, nil
}

// environment is what every run of a case has: one thread, but where PyTorch is to choose.
func (e *expect) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OMP_NUM_THREADS=") })
	if e.Threads != "default" {
		env = append(env, "OMP_NUM_THREADS=1")
	}
	return env
}
