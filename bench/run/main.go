package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// settings are the environment variables of the bench.
type settings struct {
	alternations int
	seconds      float64 // length of a plain run
	binary       string
	python       string
	examples     []example
	scratch      string // for session directories
}

// example is one program and the argument that makes it longer.
type example struct {
	name     string
	launch   []string // put between the interpreter and the script
	flag     string
	standard float64 // the flag's value in the first, calibrating run
}

var examples = []example{
	{name: "images", flag: "--epochs", standard: 2},
	{name: "language", flag: "--steps", standard: 200},
	{name: "table", flag: "--epochs", standard: 2},
	{name: "ranks", launch: []string{"-m", "torch.distributed.run", "--nproc_per_node", "2"}, flag: "--epochs", standard: 4},
	{name: "lightning_trainer", flag: "--steps", standard: 200},
	{name: "serve", flag: "--requests", standard: 20_000},
}

// args are the arguments behind the interpreter, the flag's value scaled by factor.
func (e example) args(factor float64) []string {
	value := strconv.Itoa(max(1, int(e.standard*factor+0.5)))
	return append(append([]string{}, e.launch...), filepath.Join("examples", e.name+".py"), e.flag, value)
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
	help, err := timeHelp(s.binary)
	if err != nil {
		return err
	}
	rows := []row{helpRow(help)}
	for _, e := range s.examples {
		m, err := measure(s, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		rows = append(rows, m.rows()...)
		printRows(os.Stdout, rows[len(rows)-len(m.rows()):], e.name)
	}
	fmt.Printf("\n%d alternations of %.0f s, %s\n", s.alternations, s.seconds, s.python)
	printRows(os.Stdout, rows, "")
	if broken := countBroken(rows); broken > 0 {
		return fmt.Errorf("%d of %d bounds broken", broken, len(rows))
	}
	return nil
}

func readSettings() (*settings, error) {
	s := &settings{binary: "./bottleneck"}
	var err error
	if s.alternations, err = strconv.Atoi(variable("ALTERNATIONS", "3")); err != nil || s.alternations < 1 {
		return nil, fmt.Errorf("ALTERNATIONS=%s: need a number from 1", os.Getenv("ALTERNATIONS"))
	}
	if s.seconds, err = strconv.ParseFloat(variable("SECONDS", "60"), 64); err != nil || s.seconds <= 0 {
		return nil, fmt.Errorf("SECONDS=%s: need a positive number", os.Getenv("SECONDS"))
	}
	if s.examples, err = pick(variable("EXAMPLES", "")); err != nil {
		return nil, err
	}
	if os.Getenv("ONLY") == "help" {
		s.examples = nil
	} else if s.python, err = interpreter(variable("GENERATION", "newest")); err != nil {
		return nil, err
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

// pick finds examples by name; all of them for "".
func pick(names string) ([]example, error) {
	if names == "" {
		return examples, nil
	}
	var picked []example
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for _, e := range examples {
			if e.name == name {
				picked, found = append(picked, e), true
			}
		}
		if !found {
			return nil, fmt.Errorf("EXAMPLES: no example %q", name)
		}
	}
	return picked, nil
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
