// Package timed runs a command of a bench and says what it took. It chooses neither what is run nor how often.
package timed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// grace is how long a program may take to end after it was asked to.
const grace = 15 * time.Second

// ErrLimit is the error of a command that ran for too long and was ended.
var ErrLimit = errors.New("still ran after")

// Command is what is run: arguments with the program first, the folder it runs in, its whole environment, and how long it may take.
type Command struct {
	Args  []string
	Dir   string
	Env   []string
	Limit time.Duration
}

// Took is what a command took, in seconds, and what it printed. CPU is of the command and of all its children that it waited for.
type Took struct {
	Wall, CPU      float64
	Stdout, Stderr string
}

// Run runs a command to its end. One that runs for too long, or whose harness is interrupted, is ended with all that it started. What a
// failed command printed is given, too.
func (c Command) Run(ctx context.Context) (Took, error) {
	limit, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	cmd := exec.CommandContext(limit, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	rest := endWhole(cmd)
	cmd.WaitDelay = grace
	began := time.Now()
	err := cmd.Run()
	took := Took{Wall: time.Since(began).Seconds(), Stdout: stdout.String(), Stderr: stderr.String()}
	if state := cmd.ProcessState; state != nil {
		took.CPU = (state.UserTime() + state.SystemTime()).Seconds()
	}
	if limit.Err() != nil && err != nil {
		rest()
		if ctx.Err() != nil {
			return took, ctx.Err()
		}
		return took, fmt.Errorf("%w %.0f s and was ended", ErrLimit, c.Limit.Seconds())
	}
	return took, err
}

// LastLines are the last lines of a text on one line, for a message.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
