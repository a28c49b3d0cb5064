package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// parts are what the bench can measure, in their order.
var parts = []string{"help", "wall", "tail", "cycles"}

// settings are the environment variables of the bench.
type settings struct {
	parts        []string
	examples     []example
	alternations int
	seconds      float64 // length of a plain run of the part wall
	pairs        int     // of the part tail
	slice        float64 // seconds that a program runs before the next takes its turn
	binary       string
	python       string
	scratch      string   // for session directories
	flags        []string // more flags of run
}

// example is one program and the arguments that make it longer.
type example struct {
	name     string
	launch   []string // put between the interpreter and the script
	ranks    int      // processes that trace
	flag     string
	standard float64  // the flag's value in the first, calibrating run
	endless  []string // arguments with which it runs for as long as the part tail needs, evenly
	step     string   // what counted.py counts
}

var examples = []example{
	{name: "images", ranks: 1, flag: "--epochs", standard: 2, endless: []string{"--images", "1000000", "--epochs", "1"}, step: "optimizer"},
	{name: "language", ranks: 1, flag: "--steps", standard: 200, endless: []string{"--steps", "1000000"}, step: "optimizer"},
	{name: "table", ranks: 1, flag: "--epochs", standard: 2, endless: []string{"--epochs", "1000"}, step: "optimizer"},
	{name: "ranks", launch: []string{"-m", "torch.distributed.run", "--nproc_per_node", "2"}, ranks: 2, flag: "--epochs", standard: 4,
		endless: []string{"--epochs", "100000"}, step: "optimizer"},
	{name: "lightning_trainer", ranks: 1, flag: "--steps", standard: 200, endless: []string{"--steps", "1000000"}, step: "optimizer"},
	{name: "serve", ranks: 1, flag: "--requests", standard: 20_000, endless: []string{"--requests", "100000000"}, step: "queue"},
}

// script is the example's path from the checkout's root.
func (e example) script() string { return filepath.Join("examples", e.name+".py") }

// args are the arguments behind the interpreter, the flag's value scaled by factor.
func (e example) args(factor float64) []string {
	value := strconv.Itoa(max(1, int(e.standard*factor+0.5)))
	return slices.Concat(e.launch, []string{e.script(), e.flag, value})
}

// counted are the arguments behind the interpreter of an endless run that writes its steps to the file marks.
func (e example) counted(marks string) []string {
	return slices.Concat(e.launch, []string{"bench/run/counted.py", marks, e.step, e.script()}, e.endless)
}

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/run:", err)
		os.Exit(1)
	}
}

func bench() error {
	s, err := readSettings()
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.scratch)
	before := machine(s.python)
	var rows []row
	var failed []string
	for _, part := range s.parts {
		for _, m := range s.measures(part) {
			measured, err := m.take()
			if err != nil {
				failed = append(failed, fmt.Sprintf("%s %s: %v", part, m.name, err))
				continue
			}
			rows = append(rows, measured...)
			printRows(os.Stderr, measured, part+" "+m.name)
		}
	}
	fmt.Printf("before: %s\nafter:  load %s\n", before, loadAverage())
	fmt.Printf("wall: median of %d alternations of %.0f s or more; tail: %d alternations of %.1f s\n", s.alternations,
		s.seconds, s.pairs, s.slice)
	printRows(os.Stdout, rows, "")
	if missed := countMissed(rows); missed > 0 {
		failed = append(failed, fmt.Sprintf("%d of %d goals missed", missed, len(rows)))
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s", strings.Join(failed, "\n"))
	}
	return nil
}

// measure is one thing to measure: a part of the bench, of one example where it has to do with examples.
type measure struct {
	name string
	take func() ([]row, error)
}

// measures lists what there is to do for a part.
func (s *settings) measures(part string) []measure {
	switch part {
	case "help":
		return []measure{{"", func() ([]row, error) { return helpRows(s.binary) }}}
	case "cycles":
		return []measure{{"", func() ([]row, error) { return cycleRows(s) }}}
	}
	var list []measure
	for _, e := range s.examples {
		take := func() ([]row, error) { return wallRows(s, e) }
		if part == "tail" {
			take = func() ([]row, error) { return tailRows(s, e) }
		}
		list = append(list, measure{e.name, take})
	}
	return list
}

func readSettings() (*settings, error) {
	s := &settings{flags: strings.Fields(os.Getenv("RUN_FLAGS"))}
	var err error
	if s.binary, err = filepath.Abs("bottleneck"); err != nil {
		return nil, err
	}
	for _, number := range []struct {
		name, value string
		into        *int
	}{{"ALTERNATIONS", "2", &s.alternations}, {"TAIL_PAIRS", "60", &s.pairs}} {
		if *number.into, err = strconv.Atoi(variable(number.name, number.value)); err != nil || *number.into < 1 {
			return nil, fmt.Errorf("%s=%s: need a number from 1", number.name, os.Getenv(number.name))
		}
	}
	for _, number := range []struct {
		name, value string
		into        *float64
	}{{"SECONDS", "60", &s.seconds}, {"SLICE", "0.9", &s.slice}} {
		if *number.into, err = strconv.ParseFloat(variable(number.name, number.value), 64); err != nil || !(*number.into > 0) {
			return nil, fmt.Errorf("%s=%s: need a positive number", number.name, os.Getenv(number.name))
		}
	}
	if s.parts, err = choose("PARTS", parts, func(part string) string { return part }); err != nil {
		return nil, err
	}
	if s.examples, err = choose("EXAMPLES", examples, func(e example) string { return e.name }); err != nil {
		return nil, err
	}
	if !slices.Equal(s.parts, []string{"help"}) {
		if s.python, err = interpreter(variable("GENERATION", "newest")); err != nil {
			return nil, err
		}
	}
	if s.scratch, err = os.MkdirTemp("", "bottleneck-bench-"); err != nil {
		return nil, fmt.Errorf("making a folder for sessions: %w", err)
	}
	return s, nil
}

// variable is an environment variable, or value where it is not set. SECONDS is also a variable of bash's own, which it
// does not export.
func variable(name, value string) string {
	if text := os.Getenv(name); text != "" {
		return text
	}
	return value
}

// choose takes what the environment variable lists, by name and separated by commas; all where it is not set.
func choose[T any](name string, all []T, nameOf func(T) string) ([]T, error) {
	wanted := os.Getenv(name)
	if wanted == "" {
		return all, nil
	}
	var chosen []T
	for part := range strings.SplitSeq(wanted, ",") {
		i := slices.IndexFunc(all, func(one T) bool { return nameOf(one) == part })
		if i < 0 {
			return nil, fmt.Errorf("%s: there is no %q", name, part)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// interpreter asks scripts/env.sh for the Python of a generation.
func interpreter(generation string) (string, error) {
	cmd := exec.Command("scripts/env.sh", generation)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("scripts/env.sh %s: %w", generation, err)
	}
	return strings.TrimSpace(string(out)), nil
}
