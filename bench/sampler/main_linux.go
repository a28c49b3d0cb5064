package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// bench is what all rows share.
type bench struct {
	binary  string
	rounds  int
	pythons map[string]string // minor version to interpreter
	peers   string            // folder of py-spy and austin
	torch   string            // an interpreter with torch; "" none
	table   table
}

// measurement is one group of rows.
type measurement struct {
	name string
	what string
	run  func(*bench) error
}

var measurements = []measurement{
	{"cost", "CPU per sample and its parts, one thread, 23 frames, 1 kHz", (*bench).cost},
	{"slowdown", "the program's run time under a sampler", (*bench).slowdown},
	{"many", "20 processes of 8 threads at 100 Hz", (*bench).many},
	{"torn", "lost and wrong stacks of a program that calls and returns as fast as it can", (*bench).torn},
	{"attach", "from the start of attach to the first sample, torch loaded", (*bench).attach},
	{"hour", "one Python thread at 1 kHz for an hour, extrapolated from 40 s", (*bench).hour},
	{"agreement", "shares of ten programs that time themselves, 100 Hz", (*bench).agreement},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/sampler:", err)
		os.Exit(1)
	}
}

func run() error {
	b := &bench{}
	only := ""
	flag.StringVar(&b.binary, "bottleneck", "./bottleneck", "the `program` to measure")
	flag.IntVar(&b.rounds, "rounds", 3, "alternations of each comparison")
	flag.StringVar(&only, "python", "3.11,3.13", "minor `versions` whose cost is measured")
	flag.StringVar(&b.peers, "peers", "", "`folder` that holds py-spy and austin (default: that of scripts/env.sh peers)")
	flag.StringVar(&b.torch, "torch", "", "`interpreter` with torch (default: that of scripts/env.sh newest)")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: bench/sampler [flags] [ROW…]   rows:")
		for _, m := range measurements {
			fmt.Fprintf(flag.CommandLine.Output(), "  %-10s %s\n", m.name, m.what)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	chosen, err := choose(flag.Args())
	if err != nil {
		return err
	}
	if b.pythons = interpreters(); len(b.pythons) == 0 {
		return errors.New("no CPython 3.8 or later in ~/.pyenv/versions or /usr/bin")
	}
	b.table.costOf = strings.Split(only, ",")
	b.defaults()
	fmt.Printf("%s, %d cores, %d rounds\n", loadText(), runtime.NumCPU(), b.rounds)
	for _, m := range chosen {
		b.table.title(m.name + ": " + m.what)
		if err := m.run(b); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	fmt.Println()
	b.table.print(os.Stdout)
	return nil
}

func choose(names []string) ([]measurement, error) {
	if len(names) == 0 {
		return measurements, nil
	}
	var out []measurement
	for _, n := range names {
		i := slices.IndexFunc(measurements, func(m measurement) bool { return m.name == n })
		if i < 0 {
			return nil, fmt.Errorf("no row %q; -help lists them", n)
		}
		out = append(out, measurements[i])
	}
	return out, nil
}

// defaults finds the interpreters of scripts/env.sh; a missing one leaves its rows out.
func (b *bench) defaults() {
	if b.peers == "" {
		if p, err := environment("peers"); err == nil {
			b.peers = filepath.Dir(p)
		}
	}
	if b.torch == "" {
		b.torch, _ = environment("newest")
	}
}

func environment(name string) (string, error) {
	out, err := exec.Command("scripts/env.sh", name).Output()
	if err != nil {
		return "", fmt.Errorf("scripts/env.sh %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// interpreters are the CPythons of this machine by minor version: pyenv's, Debian sid's in its folder, the system's.
func interpreters() map[string]string {
	home, _ := os.UserHomeDir()
	paths, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	cache := os.Getenv("BOTTLENECK_CACHE") // where scripts/env.sh has put Debian sid, if it has
	if cache == "" {
		cache = filepath.Join(home, ".cache/bottleneck-dev")
	}
	sid, _ := filepath.Glob(filepath.Join(cache, "envs/torch-sid/bin/python3.*"))
	paths = append(paths, sid...)
	found := map[string]string{}
	for _, p := range append(paths, "/usr/bin/python3") {
		out, err := exec.Command(p, "-c", "import sys; print('%d.%d' % sys.version_info[:2], int(sys.version_info >= (3, 8)))").Output()
		f := strings.Fields(string(out))
		if err == nil && len(f) == 2 && f[1] == "1" && found[f[0]] == "" {
			found[f[0]] = p
		}
	}
	return found
}

func loadText() string {
	data, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(data)); err == nil && len(f) > 0 {
		return "load " + f[0]
	}
	return "load unknown"
}
