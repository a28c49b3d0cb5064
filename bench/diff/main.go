//go:build linux

// Command diff measures what `bottleneck diff` promises, every number beside its goal: how often equal sides are called different, how
// often a planted 3 % is found, whether planted lines are found with one run a side, and what comparing costs. Run it on an idle machine.
//
//	go run ./bench/diff [-runs 48] [-torch 0] [-pairs 300] [-parts "drawn turns …"] TRACES PYTHON
//
// -runs is how many runs of a small program without PyTorch are recorded for pairs of equal sides, half as many again with a planted
// sleep; -torch how many of a PyTorch program.
//
// It does not judge the planted sleep where runs spread by more than 1.5 %.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

type measurement struct {
	runs, torch, pairs   int
	traces, python, work string
	bin                  string
	parts                string // that are run; "" all
	missed               int
}

func main() {
	m := &measurement{}
	flag.IntVar(&m.runs, "runs", 48, "runs of a program without PyTorch")
	flag.IntVar(&m.torch, "torch", 0, "runs of a program with PyTorch")
	flag.IntVar(&m.pairs, "pairs", 300, "pairs of sides that are compared")
	flag.StringVar(&m.parts, "parts", "", "run these parts only: "+strings.Join(partNames(), " "))
	flag.Parse()
	m.traces, m.python = flag.Arg(0), flag.Arg(1)
	for _, name := range strings.Fields(m.parts) {
		if !slices.Contains(partNames(), name) {
			fmt.Fprintf(os.Stderr, "bench/diff: there is no part %q; there are: %s\n", name, strings.Join(partNames(), ", "))
			os.Exit(2)
		}
	}
	if err := m.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if m.missed > 0 {
		fmt.Printf("%d goals missed\n", m.missed)
	}
}

func (m *measurement) run() error {
	dir, err := os.MkdirTemp("", "bench-diff")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m.work, m.bin = dir, filepath.Join(dir, "bottleneck")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", m.bin,
		"./cmd/bottleneck").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	fmt.Printf("%-120s %9s  %s\n", "what", "measured", "goal")
	for _, p := range parts {
		if m.parts != "" && !slices.Contains(strings.Fields(m.parts), p.name) {
			continue
		}
		if err := p.run(m); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// parts are what is measured, in this order.
var parts = []struct {
	name string
	run  func(*measurement) error
}{{"drawn", (*measurement).drawn}, {"turns", (*measurement).inTurns}, {"recorded", (*measurement).recorded},
	{"planted", (*measurement).planted}, {"moved", (*measurement).moved}, {"cost", (*measurement).cost}, {"memory", (*measurement).memory}}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// say prints one line; ok is whether the goal is met.
func (m *measurement) say(what, measured, goal string, ok bool) {
	mark := ""
	if !ok {
		mark = "MISSED"
		m.missed++
	}
	fmt.Printf("%-120s %9s  %-9s %s\n", what, measured, goal, mark)
}

// note prints a line that has no goal here, and why.
func (m *measurement) note(what, measured, why string) {
	fmt.Printf("%-120s %9s  %s\n", what, measured, why)
}

// cost is what a program took.
type cost struct {
	wall, cpu time.Duration
	rss       int64 // bytes, peak
}

// bottleneck runs the tool and gives its standard output.
func (m *measurement) bottleneck(args ...string) (string, cost, error) {
	cmd := exec.Command(m.bin, args...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	start := time.Now()
	out, err := cmd.Output()
	c := cost{wall: time.Since(start)}
	if s := cmd.ProcessState; s != nil {
		c.cpu = s.UserTime() + s.SystemTime()
		if ru, ok := s.SysUsage().(*syscall.Rusage); ok {
			c.rss = ru.Maxrss << 10
		}
	}
	if err != nil {
		return "", c, fmt.Errorf("bottleneck %v: %w\n%s", args, err, out)
	}
	return string(out), c, nil
}

func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }
