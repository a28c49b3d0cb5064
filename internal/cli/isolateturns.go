package cli

import (
	"context"
	"errors"
	"fmt"

	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"bottleneck/internal/rerun"
	"bottleneck/internal/turns"
	"bottleneck/internal/view"
)

// inTurns runs a script under two interpreters in turns, and says of each operator which is faster.
func (o *isolateOptions) inTurns(ctx context.Context, a *app, ops []rerun.Op, script string) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	var sides [2]series
	measure := func(ctx context.Context, side, _ int) ([]rerun.IsolatedRow, error) {
		rows, err := rerun.Isolated(ctx, o.compare[side], script, append(o.arguments(), "--alone"))
		if err == nil && len(rows) != len(ops) {
			err = fmt.Errorf("%s answered for %d of %d operators", o.compare[side], len(rows), len(ops))
		}
		return rows, err
	}
	judged := make([]*report.Diff, len(ops))
	outcome, err := turns.Run(ctx, turns.Options{Pairs: mostPairs, Budget: o.budget, Settle: settleBefore}, measure,
		func(pairs [][2][]rerun.IsolatedRow) (bool, error) {
			last := pairs[len(pairs)-1]
			decided := true
			for side := range sides {
				sides[side].add(last[side])
			}
			for i := range ops {
				judged[i] = compare.Values(sides[0].ms[i], sides[1].ms[i])
				decided = decided && judged[i].Verdict != report.Undecided
			}
			a.warn("pair %d: %s", len(pairs), pairText(judged[0], last))
			return decided, nil
		})
	if err != nil {
		return err
	}
	if len(outcome.Pairs) == 0 {
		for _, f := range outcome.Failures {
			return unusable(fmt.Errorf("isolate: %w", f.Err))
		}
		return &exitError{exitInterrupted, errors.New("interrupted before the first pair was complete: nothing is compared")}
	}
	safe := view.Safe(a.stdout, false)
	for side, row := range outcome.Pairs[0] {
		fmt.Fprintf(safe, "%c  %s, PyTorch %s\n", 'A'+side, o.compare[side], row[0].Torch)
	}
	for i := range ops {
		fmt.Fprintf(safe, "%s %s\n%s", ops[i].Name, ops[i].Shapes, comparisonText(judged[i], len(outcome.Pairs)))
	}
	return safe.Close()
}

// series are one side's times of each operator, in milliseconds.
type series struct{ ms [][]float64 }

// add takes the times with warm caches: the condition that differs least from run to run.
func (s *series) add(rows []rerun.IsolatedRow) {
	if s.ms == nil {
		s.ms = make([][]float64, len(rows))
	}
	for i := range rows {
		s.ms[i] = append(s.ms[i], rows[i].Conditions["warm"].Us/1e3)
	}
}

func pairText(d *report.Diff, last [2][]rerun.IsolatedRow) string {
	return fmt.Sprintf("%s %.1f µs and %.1f µs (%s)", last[0][0].Name, last[0][0].Conditions["warm"].Us, last[1][0].Conditions["warm"].Us,
		d.Verdict)
}

// comparisonText is what the pairs say of one operator.
func comparisonText(d *report.Diff, pairs int) string {
	text := fmt.Sprintf("  A %.1f µs, B %.1f µs (medians of %d runs each, warm caches)\n", 1e3*d.Step.BeforeMs, 1e3*d.Step.AfterMs, pairs)
	if d.Step.LowMs == nil {
		return text + fmt.Sprintf("  not decided: fewer than %d pairs\n", compare.FewestRuns)
	}
	between := func(low, high float64) string {
		return fmt.Sprintf("%.1f to %.1f %%", 100*low/d.Step.BeforeMs, 100*high/d.Step.BeforeMs)
	}
	switch low, high := *d.Step.LowMs, *d.Step.HighMs; d.Verdict {
	case report.Slower:
		return text + fmt.Sprintf("  significant: B takes longer by %s (99 %%)\n", between(low, high))
	case report.Faster:
		return text + fmt.Sprintf("  significant: B is faster by %s (99 %%)\n", between(-high, -low))
	case report.Equal:
		return text + fmt.Sprintf("  equal: the difference is within 2 %% (%s, 99 %%)\n", between(low, high))
	default:
		return text + fmt.Sprintf("  not significant: the difference is %s (99 %%); more runs: --budget\n", between(low, high))
	}
}
