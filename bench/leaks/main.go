// Command leaks asks whether programs that keep more at each step are told from those that only warm up: some of each, in testdata/leaks.
// Of the first the line that keeps is marked; a finding must name it. Of the others none must be called.
//
//	go run ./bench/leaks [-only "leak_graph warm_cache"] [-keep DIR] BINARY PROGRAMS PYTHON
//
// It ends with status 1 where a goal is missed. It does not judge how much a step keeps.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bottleneck/bench/timed"
	"bottleneck/internal/report"
)

const (
	marked = "# kept" // ends the line that keeps
	limit  = 6 * time.Minute
	named  = 9 // of ten that are to be named
)

func main() {
	only := flag.String("only", "", "names of programs, all without")
	keep := flag.String("keep", "", "a folder for the sessions, which are removed without")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	missed, err := run(ctx, strings.Fields(*only), *keep, flag.Arg(0), flag.Arg(1), flag.Arg(2))
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/leaks:", err)
		os.Exit(1)
	}
	if missed {
		os.Exit(1)
	}
}

// run runs each program once under the tool and prints what was said of its memory.
func run(ctx context.Context, only []string, work, binary, programs, python string) (missed bool, err error) {
	if work == "" {
		if work, err = os.MkdirTemp("", "bench-leaks"); err != nil {
			return false, err
		}
		defer os.RemoveAll(work)
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return false, err
	}
	paths, err := filepath.Glob(filepath.Join(programs, "*.py"))
	if err != nil || len(paths) == 0 {
		return false, fmt.Errorf("no programs in %s: %w", programs, err)
	}
	var leaks, found, warm, called int
	fmt.Printf("%-18s %-6s %7s  %s\n", "program", "", "seconds", "what is said of its memory")
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".py")
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		line, err := markedLine(path)
		if err != nil {
			return false, err
		}
		f, took, err := growth(ctx, binary, python, path, filepath.Join(work, name))
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		says, right := "nothing", line == 0
		if f != nil {
			says = fmt.Sprintf("%s [%s] at line %d", f.Title, f.Sub, f.Where.Line)
			right = line > 0 && f.Where.Line == line
		}
		if line > 0 {
			leaks, found = leaks+1, found+count(right)
		} else {
			warm, called = warm+1, called+count(!right)
		}
		fmt.Printf("%-18s %-6s %7.1f  %s\n", name, map[bool]string{true: "right", false: "WRONG"}[right], took, says)
	}
	fmt.Printf("\nleaks named with their line: %d of %d (goal: %d of 10)\n", found, leaks, named)
	fmt.Printf("called, and only warm up: %d of %d (goal: none)\n", called, warm)
	return found*10 < named*leaks || called > 0, nil
}

// growth runs a program and gives the finding on memory that grows, nil where there is none.
func growth(ctx context.Context, binary, python, path, session string) (*report.Finding, float64, error) {
	took, err := timed.Command{Args: []string{binary, "run", "--python", python, "--out", session, "-o", os.DevNull, path},
		Env: os.Environ(), Limit: limit}.Run(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("%w\n%s", err, took.Stderr)
	}
	said, err := timed.Command{Args: []string{binary, "report", "--json", "-", session}, Env: os.Environ(), Limit: limit}.Run(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("%w\n%s", err, said.Stderr)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(said.Stdout), &r); err != nil {
		return nil, 0, err
	}
	if at := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Cause == "memory-growth" }); at >= 0 {
		return &r.Findings[at], took.Wall, nil
	}
	return nil, took.Wall, nil
}

// markedLine is the line of a program that keeps, 0 for none.
func markedLine(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, marked) {
			return i + 1, nil
		}
	}
	return 0, nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
