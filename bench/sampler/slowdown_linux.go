package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"bottleneck/bench/paired"
)

// many measures the share of a core that sampling twenty processes takes.
func (b *bench) many() error {
	w, err := start(-1, b.newest(), "bench/sampler/many.py", "600")
	if err != nil {
		return err
	}
	defer w.stop()
	r := row{what: "share of one core", goal: "≤ 10 %", limit: 10, format: "%.1f %%"}
	list := b.samplers()
	values := make([][]float64, len(list))
	for range b.rounds {
		for i, s := range list {
			cpu, _, err := growth(s, w.pid(), 100, true)
			if err != nil {
				return err
			}
			values[i] = append(values[i], 100*cpu/(longRun-shortRun))
		}
	}
	for i, s := range list {
		s.set(&r, paired.Median(values[i]))
	}
	b.table.add(r)
	return nil
}

// newest is the newest interpreter that the peers know too.
func (b *bench) newest() string {
	const known = "3.13"
	if p := b.pythons[known]; p != "" {
		return p
	}
	best := 0
	for v := range b.pythons {
		_, minor, _ := strings.Cut(v, ".")
		if n, err := strconv.Atoi(minor); err == nil {
			best = max(best, n)
		}
	}
	return b.pythons[fmt.Sprintf("3.%d", best)]
}

// setting is one way to run the program beside a sampler.
type setting struct {
	what    string
	hz      int
	args    []string // of deep.py, behind the number of loops
	ownCore bool     // the program has core 0 for itself, the sampler core 1
	tree    bool
}

// slowdown compares run times of a fixed amount of work, alone and sampled, alternating.
func (b *bench) slowdown() error {
	cores := runtime.NumCPU()
	settings := []setting{
		{what: "1 kHz, a core free, one thread", hz: 1000, ownCore: true},
		{what: "1 kHz, a core free, and 160 native threads", hz: 1000, ownCore: true, args: []string{"--native", "160"}},
		{what: "100 Hz, every core busy", hz: 100, tree: true, args: []string{"--processes", fmt.Sprint(cores)}},
	}
	if cores < 2 {
		fmt.Println("    one core: no core can be free")
		settings = settings[2:]
	}
	loops, err := b.loops(1.5)
	if err != nil {
		return err
	}
	for _, s := range settings {
		if err := b.slowdownIn(s, loops); err != nil {
			return err
		}
	}
	return nil
}

// loops finds the amount of work that takes so many seconds alone.
func (b *bench) loops(seconds float64) (string, error) {
	w, err := start(-1, b.newest(), deepProgram, "--calibrate", fmt.Sprint(seconds))
	if err != nil {
		return "", err
	}
	defer w.stop()
	return w.rest, nil
}

// slowdownRounds is how often as many rounds as elsewhere show what the program loses: it is as small as the machine's own
// unrest.
const slowdownRounds = 4

func (b *bench) slowdownIn(s setting, loops string) error {
	list := append([]*sampler{nil}, b.samplers()...)
	took := make([][]float64, len(list))
	rounds := slowdownRounds * b.rounds
	for round := range rounds {
		n := len(list)
		if round >= b.rounds {
			n = 2 // what the others do is large, and known by then
		}
		for i := range n {
			if round%2 == 1 {
				i = n - 1 - i
			}
			seconds, err := b.timed(s, list[i], loops)
			if err != nil {
				return err
			}
			took[i] = append(took[i], seconds)
		}
	}
	r := row{what: s.what, goal: "≤ 1 %", limit: 1, format: "%+.1f %%"}
	for i, sampler := range list[1:] {
		times := took[i+1]
		ratio := paired.Ratio(took[0][:len(times)], times)
		if i == 0 {
			r.what += fmt.Sprintf(" (95 %% of %d pairs: %+.1f to %+.1f %%)", rounds, 100*(ratio.Low-1), 100*(ratio.High-1))
		}
		sampler.set(&r, 100*(ratio.Mid-1))
	}
	b.table.add(r)
	return nil
}

// timed runs the program once, sampled by s unless that is nil, and returns the seconds of its work.
func (b *bench) timed(set setting, s *sampler, loops string) (float64, error) {
	own, other := -1, -1
	if set.ownCore {
		own, other = 0, 1
	}
	w, err := start(own, b.newest(), append([]string{deepProgram, loops, "--wait"}, set.args...)...)
	if err != nil {
		return 0, err
	}
	defer w.stop()
	folder, err := os.MkdirTemp("", "bottleneck-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if s != nil {
		cmd, _ := command(other, s.command(w.pid(), set.hz, 0, set.tree, folder)...)
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		defer func() { _ = cmd.Wait() }()
	}
	if err := w.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		return 0, err
	}
	text, err := w.line("wall")
	if err != nil {
		return 0, err
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("the program said %q: %w", text, err)
	}
	_ = w.cmd.Wait()
	return seconds, nil
}
