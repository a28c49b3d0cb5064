package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Files of a kept case beside its programs, sessions and reports.
const (
	timesName  = "times.txt"
	expectName = "expect.json"
)

// complete is the last line of a case's times where nothing of it is missing.
const complete = "complete"

// times writes a case's times.txt as they are measured, so that an interrupted case keeps what it has; without a file it writes nothing.
type times struct {
	file *os.File
	err  error
}

// note writes a line.
func (t *times) note(format string, args ...any) {
	if t.file != nil && t.err == nil {
		_, t.err = fmt.Fprintf(t.file, format+"\n", args...)
	}
}

func (t *times) pair(n int, wall, cpu [2]float64) {
	t.note("pair %d slow %.3f fixed %.3f slow-cpu %.3f fixed-cpu %.3f", n, wall[0], wall[1], cpu[0], cpu[1])
}

// profile notes what a profile promises, how long the program ran under it, and how long the whole command.
func (t *times) profile(name string, promised span, run, command float64) {
	t.note("profile %s predicted %.3f low %.3f high %.3f run %.3f command %.3f", name, promised.Mid, promised.Low,
		promised.High, run, command)
}

// proof notes how long prove took; what it says is in its own file.
func (t *times) proof(took time.Duration) { t.note("proof took %.1f", took.Seconds()) }

func (t *times) close() error {
	if t.file == nil {
		return nil
	}
	return errors.Join(t.err, t.file.Close())
}

// begin makes the case's folder and, where it is kept, its times.txt and a copy of what is expected of it.
func (r *runner) begin(ctx context.Context) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil || r.keep == "" {
		return err
	}
	file, err := os.OpenFile(filepath.Join(r.dir, timesName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s has this case already: keep it in another folder", r.keep)
	}
	if err != nil {
		return err
	}
	r.times.file = file
	expected, err := os.ReadFile(filepath.Join(r.c.dir, expectName))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, expectName), expected, 0o644); err != nil {
		return err
	}
	r.times.note(
		"# Seconds of one case of the zoo, to price its sessions again: docs/add-a-cause.md. Odd pairs began with the slow program.")
	r.times.note("case %s\ngeneration %s\nseed %d\nmachine %s/%s, %d cores", r.c.name, r.generation, r.seed, runtime.GOOS,
		runtime.GOARCH, runtime.NumCPU())
	r.times.note("version %s", answer(ctx, r.binary, "--version"))
	if !r.c.recorded() {
		r.times.note("python %s", answer(ctx, r.python, "-c",
			"import platform, torch; print(platform.python_version(), 'torch', torch.__version__)"))
	}
	return nil
}

// answer is what a command prints, or why it does not.
func answer(ctx context.Context, command string, args ...string) string {
	out, err := exec.CommandContext(ctx, command, args...).Output()
	if err != nil {
		return "unknown: " + err.Error()
	}
	return strings.TrimSpace(string(out))
}

// kept is what times.txt says of a case.
type kept struct {
	name, generation string
	seed             uint64
	wall, cpu        [][2]float64
	profiles         []string      // names in the order of the runs
	proof            time.Duration // 0: nothing was proven
	complete         bool
	failed           string
}

// readTimes reads a case's times.txt; a last line that was not written to its end is left out.
func readTimes(path string) (kept, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return kept{}, err
	}
	k := kept{}
	for line := range strings.Lines(string(text)) {
		line, whole := strings.CutSuffix(line, "\n")
		if !whole {
			break
		}
		if err := k.take(line); err != nil {
			return k, fmt.Errorf("%s: %q: %w", path, line, err)
		}
	}
	return k, nil
}

// take reads one line.
func (k *kept) take(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	var err error
	switch word {
	case "case":
		k.name = rest
	case "generation":
		k.generation = rest
	case "seed":
		k.seed, err = strconv.ParseUint(rest, 10, 64)
	case "profile":
		name, _, _ := strings.Cut(rest, " ")
		k.profiles = append(k.profiles, name)
	case "pair":
		var n int
		var wall, cpu [2]float64
		_, err = fmt.Sscanf(rest, "%d slow %g fixed %g slow-cpu %g fixed-cpu %g", &n, &wall[0], &wall[1], &cpu[0], &cpu[1])
		k.wall, k.cpu = append(k.wall, wall), append(k.cpu, cpu)
	case "proof":
		var seconds float64
		_, err = fmt.Sscanf(rest, "took %g", &seconds)
		k.proof = time.Duration(seconds * float64(time.Second))
	case "failed":
		k.failed = rest
	case complete:
		k.complete = true
	}
	return err
}
