package main

import (
	"context"
	"fmt"

	"bottleneck/bench/timed"
)

// What a run may take on a quiet machine, in seconds: shorter ones are mostly start-up, longer ones keep the bench from ending overnight.
const shortest, longest = 10.0, 40.0

// each makes every program's copies and, to check, runs its original once; one that fails is reported and the others still run.
func (b *bench) each(ctx context.Context, programs []program, pins []pin) error {
	failed := 0
	for i := range programs {
		p := &programs[i]
		said, err := b.one(ctx, p, pins)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed++
			said = "FAILED: " + err.Error()
		}
		fmt.Printf("%-6s %-26s %-36s %s\n", p.half(), p.ID, p.Repository, said)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d programs failed", failed, len(programs))
	}
	return nil
}

// one makes one program's copies and runs its original where that is asked for.
func (b *bench) one(ctx context.Context, p *program, pins []pin) (string, error) {
	c := b.copiesOf(p)
	if err := c.make(ctx, pins); err != nil {
		return "", err
	}
	if b.mode == "get" {
		return fmt.Sprintf("%d files as pinned, %d changes apply", len(p.pinsOf(pins)), len(p.Changes)), nil
	}
	args := append([]string{b.python, "-u"}, p.Command...) // what it printed last tells how far one came that was ended
	took, err := c.run(ctx, original, args, nil, notTimed, b.limit)
	if err != nil {
		return "", fmt.Errorf("%w after %.1f s of CPU: %s; %s", err, took.CPU, timed.LastLines(took.Stderr, 3),
			timed.LastLines(took.Stdout, 1))
	}
	said := fmt.Sprintf("%.1f s, CPU %.1f s", took.Wall, took.CPU)
	if took.Wall < shortest || took.Wall > longest {
		said += fmt.Sprintf(": not within %.0f to %.0f s", shortest, longest)
	}
	return said, nil
}
