package turns

import (
	"context"
	"time"
)

// Sides of a comparison.
const (
	Before = 0
	After  = 1
)

// Why no further pair was run.
const (
	Decided     = "decided"
	Runs        = "runs"
	Budget      = "budget"
	Interrupted = "interrupted"
	Failed      = "failed"
)

// Options bound the runs.
type Options struct {
	Pairs  int           // at most
	Budget time.Duration // of all runs together; 0: none
	// Settle is how long a run may wait for other programs to leave the machine; 0: it does not.
	Settle time.Duration
}

// Failure is a run that failed.
type Failure struct {
	Side, Number int // as Measure was called
	Err          error
}

// Outcome is what came of the turns.
type Outcome[T any] struct {
	Pairs    [][2]T // runs of both sides
	Failures []Failure
	Stopped  string
}

// mostFailures is how many failed runs end the turns once there was a good pair; before, the first does.
const mostFailures = 2

// Measure runs a side; number counts its runs from 1. An error is a failed run.
type Measure[T any] func(ctx context.Context, side, number int) (T, error)

// Run runs both sides in turns. The first of a pair is before, after, after, before and so on, so that what drifts steadily with the
// machine
// meets both alike. decided is asked after every pair; its error ends the turns, with what there is.
func Run[T any](ctx context.Context, o Options, measure Measure[T], decided func(pairs [][2]T) (bool, error)) (Outcome[T], error) {
	out := Outcome[T]{Stopped: Runs}
	begin := time.Now()
	longest := time.Duration(0)
	for n := 1; n <= o.Pairs; n++ {
		if o.Budget > 0 && n > 1 && time.Since(begin)+longest > o.Budget {
			out.Stopped = Budget
			return out, nil
		}
		started := time.Now()
		pair, failure := runPair(ctx, o, measure, n)
		switch {
		case ctx.Err() != nil:
			out.Stopped = Interrupted
			return out, nil
		case failure != nil:
			out.Failures = append(out.Failures, *failure)
			if len(out.Pairs) == 0 || len(out.Failures) >= mostFailures {
				out.Stopped = Failed
				return out, nil
			}
			continue
		}
		longest = max(longest, time.Since(started))
		out.Pairs = append(out.Pairs, pair)
		if done, err := decided(out.Pairs); done || err != nil {
			out.Stopped = Decided
			return out, err
		}
	}
	return out, nil
}

// runPair runs both sides once. A side that fails spares the other.
func runPair[T any](ctx context.Context, o Options, measure Measure[T], n int) (pair [2]T, failure *Failure) {
	for k := range 2 {
		side := (k + (n / 2)) % 2
		settle(ctx, o.Settle)
		if ctx.Err() != nil {
			return pair, nil
		}
		var err error
		if pair[side], err = measure(ctx, side, n); err != nil {
			return pair, &Failure{side, n, err}
		}
	}
	return pair, nil
}
