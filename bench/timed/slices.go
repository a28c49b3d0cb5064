package timed

import (
	"context"
	"time"
)

// Outcome is what became of one of several commands.
type Outcome struct {
	Took
	Err error
}

// Slices runs commands beside each other, of which one runs at a time: each has a slice of the clock in turn while the others are
// stopped, until all have ended. A machine that is slower for some seconds is so for all of them, where runs one after the other meet
// minutes that differ. Wall is the time that a command ran, without its stops. What a command waits for goes on while it is stopped:
// commands that sleep, or that wait for a server, are not to be timed so. The limit of each is of its own time. With a slice of 0, with
// one command, and where the system cannot stop processes from outside, they run one after the other.
func Slices(ctx context.Context, slice time.Duration, commands []Command) []Outcome {
	if slice > 0 && len(commands) > 1 && canPause {
		return inSlices(ctx, slice, commands)
	}
	out := make([]Outcome, len(commands))
	for i := range commands {
		out[i].Took, out[i].Err = commands[i].Run(ctx)
	}
	return out
}
