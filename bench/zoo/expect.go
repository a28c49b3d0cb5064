package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// none is the expected cause of a healthy program.
const none = "none"

// expect is a case's expect.json.
type expect struct {
	Cause string // none: healthy
	Sub   string // "": any
	Place        // zero: the cause has no line
	Also  []Place
	Rank  *int
	Op    string
	// Because is the expected reason of a late rank, "" where none is asked for.
	Because string

	Device string // cpu or cuda
	Ranks  int
	Main   string // the script, where it is not slow.py
	// Base is a folder beside the cases whose files are laid below this one's: a program that several cases share, each with
	// another fault.
	Base  string
	Needs string // a module without which the programs cannot run
	// MinTorch and the numbers of cores say where the case shows what it should.
	MinTorch string `json:"min_torch"`
	MinCores int    `json:"min_cores"`
	MaxCores int    `json:"max_cores"`
	// Threads "default" leaves the number of OpenMP threads to PyTorch; else every run has one.
	Threads string
	// Affinity and Quota limit the slow program to so many cores, the fixed one is not limited.
	Affinity int
	Quota    float64
	// SHM is the size of /dev/shm in MiB, for both sides; 0: the machine's. Ends says that the slow program ends by an error; then
	// nothing is priced.
	SHM  int
	Ends bool
	// Unpriced is a cause that costs no time of this run: nothing is priced.
	Unpriced bool
	// Before runs the cured program once before it is measured: what it keeps for later runs is there then.
	Before bool
	// Trace is a recorded trace below the folder of real traces, in place of programs.
	Trace string
	// TraceFixed is the trace of the cured program, "" where none was recorded.
	TraceFixed string `json:"trace_fixed"`
	// Left is the share of the step that the cause truly keeps in the cured twin, where its cure cannot end it; 0: none.
	Left float64
	// OtherCure says that the twin is cured otherwise than by the change that the report proposes: what prove proves is not the
	// twin's saving.
	OtherCure bool `json:"other_cure"`
	// Among asks that the cause is found, not that it is first.
	Among bool
	Note  string // how the answer was derived

	Names []string          // identifiers to be renamed
	Sizes map[string][2]int // constants `NAME = number` at the start of a line, with the range to draw from
}

// Place is a line of a file.
type Place struct {
	File string
	Line int
}

// testCase is a folder of the zoo.
type testCase struct {
	name, dir string
	expect    expect
}

// readCases reads the cases below dir, those in wanted only unless it is empty, in order of their names.
func readCases(dir string, wanted []string) ([]testCase, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*", "expect.json"))
	if err != nil {
		return nil, fmt.Errorf("list cases in %s: %w", dir, err)
	}
	var out []testCase
	for _, path := range paths {
		c := testCase{dir: filepath.Dir(path)}
		c.name = filepath.Base(c.dir)
		if !among(wanted, c.name) {
			continue
		}
		if err := c.expect.read(path); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no case in %s is called %v", dir, wanted)
	}
	return out, nil
}

// among says that a name fits one of the patterns, or that there are none.
func among(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := filepath.Match(pattern, name)
		return ok
	})
}

// read reads an expect.json.
func (e *expect) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(e); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// recorded says that a case is a trace and no program.
func (c *testCase) recorded() bool { return c.expect.Trace != "" }

// healthy says that nothing may be claimed, or that what is said is no defect: there is no fixed program.
func (c *testCase) healthy() bool { return c.expect.Cause == none || c.expect.Cause == "no-demand" }

// label is the expected cause with its sub-cause.
func (e *expect) label() string { return label(e.Cause, e.Sub) }

func label(cause, sub string) string {
	if sub != "" {
		return cause + "/" + sub
	}
	return cause
}
