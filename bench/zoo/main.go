package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// settings are the environment variables of the harness.
type settings struct {
	seeds       []uint64
	cases       []string // patterns; empty: all
	generations []string
	repeats     int // the most unprofiled runs of each side, fewer where they decide; 0: nothing is priced
	peers       bool
	keep        string // folder for sessions and programs; "" a temporary one that goes
	traces      string // folder of real traces
	binary      string
	root        string
}

func main() {
	if err := zoo(); err != nil {
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
	s := settings{root: root, binary: cmp.Or(os.Getenv("BOTTLENECK"), filepath.Join(root, "bottleneck")), keep: os.Getenv("KEEP"), peers: os.Getenv("PEERS") == "1"}
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
	if _, err := os.Stat(s.binary); err != nil {
		return s, fmt.Errorf("no %s: make build first", s.binary)
	}
	return s, nil
}

// zoo runs the chosen cases on the chosen generations and seeds and prints the scores.
func zoo() error {
	s, err := readSettings()
	if err != nil {
		return err
	}
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
	var all []outcome
	header(os.Stdout)
	for _, generation := range s.generations {
		python, err := interpreter(s.root, generation)
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
				r := runner{settings: s, python: python, seed: seed, c: c, dir: filepath.Join(scratch, fmt.Sprintf("%s-%d-%s", generation, seed, c.name))}
				o := r.run()
				o.generation = generation
				o.write(os.Stdout)
				all = append(all, o)
			}
		}
	}
	totals(os.Stdout, all)
	return nil
}

// interpreter is the path of a generation's Python.
func interpreter(root, generation string) (string, error) {
	cmd := exec.Command(filepath.Join("scripts", "env.sh"), generation)
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
