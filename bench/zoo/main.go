package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings are the environment variables of the harness.
type settings struct {
	seeds       []uint64
	cases       []string // patterns; empty: all
	generations []string
	repeats     int // the most pairs of unprofiled runs, fewer where they decide; 0: nothing is priced
	peers       bool
	prove       bool          // the slow program's finding is proven, too
	limit       time.Duration // how long one run of a program may take
	keep        string        // folder for sessions, times and programs; "" a temporary one that goes
	reprice     string        // such a folder, to be priced again; "": programs are run
	traces      string        // folder of real traces
	binary      string
	root        string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := zoo(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench/zoo:", err)
		os.Exit(1)
	}
}

func readSettings() (settings, error) {
	if len(os.Args) > 1 {
		return settings{}, fmt.Errorf("unexpected argument %q: settings are environment variables: make help lists them", os.Args[1])
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return settings{}, err
	}
	s := settings{root: root, binary: cmp.Or(os.Getenv("BOTTLENECK"), filepath.Join(root, "bottleneck")), peers: os.Getenv("PEERS") == "1"}
	if s.keep, err = absolute(os.Getenv("KEEP")); err != nil {
		return s, err
	}
	if s.reprice, err = absolute(os.Getenv("REPRICE")); err != nil {
		return s, err
	}
	s.cases = strings.Fields(os.Getenv("CASES"))
	s.generations = strings.Fields(cmp.Or(os.Getenv("GENERATIONS"), "newest"))
	s.traces = cmp.Or(os.Getenv("BOTTLENECK_TRACES"), filepath.Join(root, "..", "shared", "traces"))
	for _, field := range strings.Fields(cmp.Or(os.Getenv("SEEDS"), os.Getenv("BNECK_ZOO_SEED"), "1")) {
		seed, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return s, fmt.Errorf("SEEDS: %w", err)
		}
		s.seeds = append(s.seeds, seed)
	}
	if s.repeats, err = strconv.Atoi(cmp.Or(os.Getenv("REPEATS"), "8")); err != nil || s.repeats < 0 {
		return s, fmt.Errorf("REPEATS: want a number, have %q", os.Getenv("REPEATS"))
	}
	s.prove = cmp.Or(os.Getenv("PROVE"), strconv.Itoa(min(s.repeats, 1))) != "0" // unless nothing is priced
	limit, err := strconv.ParseFloat(cmp.Or(os.Getenv("LIMIT"), "300"), 64)
	if err != nil || !(limit > 0) {
		return s, fmt.Errorf("LIMIT: want seconds, have %q", os.Getenv("LIMIT"))
	}
	s.limit = time.Duration(limit * float64(time.Second))
	if _, err := os.Stat(s.binary); err != nil {
		return s, fmt.Errorf("no %s: make build first", s.binary)
	}
	return s, nil
}

// absolute is a path that holds in every working directory; none stays none.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// zoo prints a row for each case as soon as it is had, then the scores, also where it is interrupted.
func zoo(ctx context.Context) error {
	s, err := readSettings()
	if err != nil {
		return err
	}
	outcomes := s.runAll
	if s.reprice != "" {
		outcomes = s.repriceAll
	}
	var all []outcome
	header(os.Stdout)
	err = outcomes(ctx, func(o outcome) {
		o.write(os.Stdout)
		all = append(all, o)
	})
	totals(os.Stdout, all)
	if ctx.Err() != nil {
		return errors.New("interrupted: the scores are of the rows above")
	}
	return err
}

// runAll runs the chosen cases on the chosen generations and seeds.
func (s settings) runAll(ctx context.Context, show func(outcome)) error {
	cases, err := readCases(filepath.Join(s.root, "testdata", "zoo"), s.cases)
	if err != nil {
		return err
	}
	scratch := s.keep
	if scratch == "" {
		if scratch, err = os.MkdirTemp("", "zoo-"); err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
	}
	for _, generation := range s.generations {
		python, err := interpreter(ctx, s.root, generation)
		if err != nil {
			fmt.Printf("%s: left out: %v\n", generation, err)
			continue
		}
		for _, seed := range s.seeds {
			for i := range cases {
				c := &cases[i]
				if c.recorded() && (seed != s.seeds[0] || generation != s.generations[0]) {
					continue
				}
				r := runner{settings: s, python: python, generation: generation, seed: seed, c: c,
					dir: filepath.Join(scratch, fmt.Sprintf("%s-%d-%s", generation, seed, c.name))}
				show(r.run(ctx))
				if ctx.Err() != nil {
					return nil
				}
			}
		}
	}
	return nil
}

// interpreter is the path of a generation's Python.
func interpreter(ctx context.Context, root, generation string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join("scripts", "env.sh"), generation)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/env.sh %s: %s", generation, cmp.Or(strings.TrimSpace(stderr.String()), err.Error()))
	}
	return strings.TrimSpace(string(out)), nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
