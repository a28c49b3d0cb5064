package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"bottleneck/bench/timed"
)

// copies are a program's working copies: original, and one for each change, below one folder.
type copies struct {
	*bench
	p   *program
	dir string
	has *clocked // what the clock has of the program
}

// original is the name of the copy that runs unchanged.
const original = "original"

// forever is how long a preparation may take.
const forever = 10 * time.Minute

// make lays out the original, with its data, and every change's copy of it. What an earlier bench left is made anew.
func (c *copies) make(ctx context.Context, pins []pin) error {
	if err := c.library.get(ctx, c.p, pins); err != nil {
		return err
	}
	if c.p.Package != "" {
		if err := packaged(ctx, c.python, c.p, pins); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return err
	}
	if err := c.lay(ctx, pins); err != nil {
		return err
	}
	for i := range c.p.Changes {
		if err := c.change(&c.p.Changes[i]); err != nil {
			return fmt.Errorf("change %s: %w", c.p.Changes[i].Name, err)
		}
	}
	return nil
}

// lay makes the original: the pinned files, then the data, then what the program itself prepares.
func (c *copies) lay(ctx context.Context, pins []pin) error {
	if err := os.MkdirAll(c.folder(original), 0o755); err != nil {
		return err
	}
	for _, f := range c.p.pinsOf(pins) {
		if c.p.Package != "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.library.dir, c.p.tree(), f.path))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(c.dir, original), f.path, text); err != nil {
			return err
		}
	}
	for _, data := range c.p.Data {
		if took, err := c.run(ctx, original, append([]string{c.python, c.maker}, data...), nil, notTimed, forever); err != nil {
			return fmt.Errorf("data %v: %w: %s", data, err, timed.LastLines(took.Stderr, 3))
		}
	}
	for _, before := range c.p.Before {
		if took, err := c.run(ctx, original, append([]string{c.python}, before...), nil, notTimed, forever); err != nil {
			return fmt.Errorf("before, %v: %w: %s", before, err, timed.LastLines(took.Stderr, 3))
		}
	}
	return nil
}

// folder is where a copy's program runs.
func (c *copies) folder(name string) string { return filepath.Join(c.dir, name, c.p.Folder) }

// change makes the copy of one change anew.
func (c *copies) change(ch *change) error {
	tree := filepath.Join(c.dir, ch.Name)
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	if err := os.CopyFS(tree, os.DirFS(filepath.Join(c.dir, original))); err != nil {
		return err
	}
	texts := map[string][]string{}
	for _, e := range slices.Backward(sortedEdits(ch.Edits)) { // from below, so that the numbers of lines above hold
		path, err := inside(tree, e.File)
		if err != nil {
			return err
		}
		if texts[path] == nil {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			texts[path] = strings.Split(string(text), "\n")
		}
		if texts[path], err = e.apply(texts[path]); err != nil {
			return fmt.Errorf("%s:%d: %w", e.File, e.First, err)
		}
	}
	for path, lines := range texts {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func sortedEdits(edits []edit) []edit {
	return slices.SortedStableFunc(slices.Values(edits), func(a, b edit) int { return a.First - b.First })
}

// apply gives the lines with an edit made.
func (e *edit) apply(lines []string) ([]string, error) {
	last := e.Last
	if last == 0 {
		last = e.First
	}
	if e.First < 1 || e.First > len(lines) || last < e.First-1 || last > len(lines) {
		return nil, errors.New("no such lines")
	}
	first := lines[e.First-1]
	if !strings.Contains(first, e.Old) {
		return nil, fmt.Errorf("%q is not in the line", e.Old)
	}
	text := e.Text
	if e.New != "" {
		text = append([]string{strings.Replace(first, e.Old, e.New, 1)}, text...)
	}
	return slices.Concat(lines[:e.First-1], text, lines[last:]), nil
}

// command is the interpreter with what a copy's program is given.
func (c *copies) command(ch *change) []string {
	given := c.p.Command
	if ch != nil && len(ch.Command) > 0 {
		given = ch.Command
	}
	return append([]string{c.python}, given...)
}

// shared are the variables of every program: no network, no display, no device, and the number of threads that PyTorch itself chooses.
var shared = []string{
	"HF_HUB_OFFLINE=1", "HF_DATASETS_OFFLINE=1", "WANDB_MODE=offline", "MPLBACKEND=Agg", "CUDA_VISIBLE_DEVICES=",
	"PYTHONDONTWRITEBYTECODE=", "PYTHONUNBUFFERED=",
}

// hashSeed is the variable from which the order of Python's sets and much of a process's memory follow: two processes of one program that
// differ in it take up to a tenth more or less of the CPU for as long as they live, and two that do not differ less (docs/public.md). All
// sides of a round have the same one, and each round another one.
const hashSeed = "PYTHONHASHSEED="

// notTimed is the round of a run that belongs to none.
const notTimed = -1

// environment is a copy's in a round, with {tree} for the top of its files.
func (c *copies) environment(name string, ch *change, round int) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "OMP_NUM_THREADS=") || strings.HasPrefix(v, "PYTHONPATH=") || strings.HasPrefix(v, hashSeed)
	})
	env = append(env, shared...)
	if round >= 0 {
		env = append(env, hashSeed+strconv.Itoa(round+1))
	}
	env = append(env, "HF_HOME="+filepath.Join(c.dir, "hf"))
	set := []map[string]string{c.p.Environment}
	if ch != nil {
		set = append(set, ch.Environment)
	}
	for _, variables := range set {
		for _, k := range sortedKeys(variables) {
			env = append(env, k+"="+strings.ReplaceAll(variables[k], "{tree}", filepath.Join(c.dir, name)))
		}
	}
	return env
}

// waiters is how long the lock stays free between two runs, so that who waits for it gets it.
const waiters = 300 * time.Millisecond

// run runs a command in a copy in a round, while nothing runs that holds the lock.
func (c *copies) run(ctx context.Context, name string, args []string, ch *change, round int, limit time.Duration) (timed.Took, error) {
	if c.lock != "" {
		time.Sleep(waiters)
		release, err := holdLock(c.lock)
		if err != nil {
			return timed.Took{}, err
		}
		defer release()
	}
	return timed.Command{Args: args, Dir: c.folder(name), Env: c.environment(name, ch, round), Limit: limit}.Run(ctx)
}
