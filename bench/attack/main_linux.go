package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// attack is what all cases share.
type attack struct {
	ctx      context.Context
	binary   string
	root     string // of the checkout
	work     string // folder of all files that are made
	keep     string // folder for the files of bad cases; "" nowhere
	traces   string // folder of real traces, may be absent
	seed     uint64
	only     int // the one case to run; -1 all
	python   string
	torch    string // an interpreter with PyTorch; "" none
	formats  []string
	inputs   []input
	sessions []string
	packed   string // an archive of the first of them; "" none
}

// family is one kind of attack.
type family struct {
	name, what string
	share      int // of the time, in relation to the other families
	cases      int // how many there are; 0: as many as the time allows
	needs      func(*attack) string
	run        func(*try)
}

func families() []family {
	return []family{
		{"regressions", "all that was found before", 0, len(regressions), nil, runRegression},
		{"traces", "files of every format, changed", 6, 0, noInputs, attackTrace},
		{"sessions", "every file of a session changed, or a link, device, pipe or folder", 6, 0, noSessions, attackSession},
		{"bombs", "little that unpacks to much", 3, len(bombs), nil, runBomb},
		{"archives", "names that climb, links, devices and damage in archives", 2, 0, noSessions, attackArchive},
		{"limits", "tight limits of memory, descriptors and file size", 2, 0, noPython, attackLimits},
		{"disks", "disks that are full or get full", 2, 0, noMounts, attackDisk},
		{"kills", "signals at random moments", 3, 0, noSessions, attackKill},
		{"programs", "hard programs, alone and under run", 4, 0, noPython, attackProgram},
		{"secrets", "secrets planted everywhere, looked for in redacted archives", 2, 0, noSessions, attackSecrets},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench/attack:", err)
		stop()
		os.Exit(1)
	}
}

// number reads a setting.
func number(name, otherwise string) (float64, error) {
	text := cmp.Or(os.Getenv(name), otherwise)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= -1) {
		return 0, fmt.Errorf("%s: want a number, have %q", name, text)
	}
	return n, nil
}

func run(ctx context.Context) error {
	minutes, err := number("MINUTES", "2")
	if err != nil {
		return err
	}
	seed, err := number("SEED", "1")
	if err != nil {
		return err
	}
	only, err := number("CASE", "-1")
	if err != nil {
		return err
	}
	chosen, err := choose(strings.Fields(os.Getenv("FAMILIES")))
	if err != nil {
		return err
	}
	a := &attack{ctx: ctx, seed: uint64(max(0, seed)), only: int(only)}
	cleanup, err := a.prepare()
	if err != nil {
		return err
	}
	defer cleanup()
	return a.all(chosen, time.Duration(minutes*float64(time.Minute)))
}

// choose gives the families of these names, all for none.
func choose(names []string) ([]family, error) {
	all := families()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []family
	for _, name := range names {
		i := slices.IndexFunc(all, func(f family) bool { return f.name == name })
		if i < 0 {
			return nil, fmt.Errorf("FAMILIES: there is no %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// all runs the families in turn, each within its share of the time that is left, and prints what was found.
func (a *attack) all(chosen []family, limit time.Duration) error {
	end := time.Now().Add(limit)
	shares := 0
	for _, f := range chosen {
		shares += f.share
	}
	var rows []row
	bad := 0
	for _, f := range chosen {
		r := row{family: f.name, what: f.what}
		if f.needs != nil {
			r.skipped = f.needs(a)
		}
		if r.skipped == "" && a.ctx.Err() == nil {
			until := end
			if f.share > 0 {
				until = time.Now().Add(time.Until(end) * time.Duration(f.share) / time.Duration(max(1, shares)))
			}
			a.family(f, until, &r)
		}
		shares -= f.share
		bad += len(r.flaws)
		rows = append(rows, r)
	}
	printTable(os.Stdout, a, rows)
	switch {
	case a.ctx.Err() != nil:
		return errors.New("interrupted: the table is of what was tried")
	case bad > 0:
		return fmt.Errorf("%d bad", bad)
	}
	return nil
}

// family runs the cases of one family until the time is up, one at least; the fixed ones of regressions in any time.
func (a *attack) family(f family, until time.Time, r *row) {
	for n := 0; f.cases == 0 || n < f.cases; n++ {
		if a.only >= 0 {
			n = a.only
		} else if a.ctx.Err() != nil || f.share > 0 && n > 0 && time.Now().After(until) {
			return
		}
		t := a.try(f.name, n)
		f.run(t)
		t.finish()
		r.add(t)
		if a.only >= 0 {
			return
		}
	}
}

// prepare finds the binary and the interpreters, records the sessions and gathers the files that cases begin with.
func (a *attack) prepare() (cleanup func(), err error) {
	if a.root, err = filepath.Abs("."); err != nil {
		return nil, err
	}
	if a.binary, err = filepath.Abs(cmp.Or(os.Getenv("BOTTLENECK"), "bottleneck")); err != nil {
		return nil, err
	}
	if _, err := os.Stat(a.binary); err != nil {
		return nil, fmt.Errorf("no %s: make build first", a.binary)
	}
	if a.keep = os.Getenv("KEEP"); a.keep != "" {
		if a.keep, err = filepath.Abs(a.keep); err != nil {
			return nil, err
		}
	}
	if a.work, err = os.MkdirTemp("", "attack-"); err != nil {
		return nil, err
	}
	if a.work, err = filepath.EvalSymlinks(a.work); err != nil {
		return nil, err
	}
	a.traces = cmp.Or(os.Getenv("BOTTLENECK_TRACES"), filepath.Join(a.root, "..", "shared", "traces"))
	a.findPython()
	if err := a.gather(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(a.work))
	}
	return func() { _ = os.RemoveAll(a.work) }, nil
}
