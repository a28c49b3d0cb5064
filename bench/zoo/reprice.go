package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// repriceAll gives the rows of kept cases again, with the reports that the binary now makes of their sessions. It runs no program.
func (s settings) repriceAll(ctx context.Context, show func(outcome)) error {
	paths, err := filepath.Glob(filepath.Join(s.reprice, "*", timesName))
	if err != nil {
		return err
	}
	shown := 0
	for _, path := range paths {
		k, err := readTimes(path)
		if err != nil {
			return err
		}
		if !among(s.cases, k.name) {
			continue
		}
		o := s.repriced(ctx, filepath.Dir(path), k)
		if ctx.Err() != nil {
			return nil
		}
		show(o)
		shown++
	}
	if shown == 0 {
		return fmt.Errorf("no kept case in %s is called %v", s.reprice, s.cases)
	}
	return nil
}

// repriced is the outcome of a kept case.
func (s settings) repriced(ctx context.Context, dir string, k kept) outcome {
	c := testCase{name: k.name, dir: dir}
	o := outcome{name: k.name, generation: k.generation, seed: k.seed, expect: &c.expect, wall: k.wall, cpu: k.cpu, failed: k.failed}
	if o.failed != "" {
		return o
	}
	if !k.complete {
		o.skipped = "its run was interrupted"
		return o
	}
	if err := s.readKept(ctx, &c, k, &o); err != nil {
		o.failed = err.Error()
	}
	return o
}

// readKept makes the reports of a kept case's sessions, or of its recorded traces.
func (s settings) readKept(ctx context.Context, c *testCase, k kept, o *outcome) error {
	// What was expected of the programs as they were made, whatever has become of the case since.
	if err := c.expect.read(filepath.Join(c.dir, expectName)); err != nil {
		return err
	}
	if c.recorded() {
		o.file = func(f string) string { return f }
		r := runner{settings: s, c: c}
		return r.readTraces(ctx, o)
	}
	drawn := c.drawn(k.seed)
	o.file = func(f string) string { return drawn.expected(f, &c.expect) }
	for _, name := range k.profiles {
		var doc document
		if err := s.report(ctx, sessionOf(c.dir, name), &doc); err != nil {
			return err
		}
		if strings.HasPrefix(name, "slow") {
			o.slow = append(o.slow, doc)
		} else {
			o.fixed, o.twin = doc, true
		}
	}
	if k.proof > 0 {
		o.proof = readProof(c.dir, k.proof)
	}
	if len(o.slow) == 0 {
		return fmt.Errorf("%s names no profile of the slow program", filepath.Join(c.dir, timesName))
	}
	return nil
}
