package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// finding and document are what the scores read of the report document.
type finding struct {
	Cause, Sub, Title string
	Share             float64
	Where             struct {
		File, Function, Op string
		Line               int
		Rank               *int
	}
	Saving *struct {
		RunS *struct{ Low, Mid, High float64 } `json:"run_s"`
	}
	Because *finding
}

type document struct {
	Run struct {
		WallS float64 `json:"wall_s"`
	}
	Breakdown []struct {
		Part  string
		Share float64
	}
	Verdict  struct{ Sentence string }
	Findings []finding
}

// unknown is the share of the account that nothing explains, 0..1.
func (d *document) unknown() float64 {
	for _, p := range d.Breakdown {
		if p.Part == "unknown" {
			return p.Share
		}
	}
	return 0
}

// runner runs one case with one seed on one generation.
type runner struct {
	settings
	python string
	seed   uint64
	c      *testCase
	dir    string
	draw   draw
	script map[string]string // by variant
}

// run measures a case; what cannot run here is an outcome with a reason.
func (r *runner) run() outcome {
	o := outcome{name: r.c.name, seed: r.seed, expect: &r.c.expect, file: func(f string) string { return f }}
	if why := r.unable(); why != "" {
		o.skipped = why
		return o
	}
	if err := r.measure(&o); err != nil {
		o.failed = err.Error()
	}
	return o
}

// unable says why a case cannot be run here, "" where it can.
func (r *runner) unable() string {
	e := &r.c.expect
	switch cores := runtime.NumCPU(); {
	case e.Device != "cpu" && !r.c.recorded():
		return "needs a GPU"
	case e.MinCores > cores:
		return fmt.Sprintf("needs %d cores, has %d", e.MinCores, cores)
	case e.MaxCores > 0 && e.MaxCores < cores:
		return fmt.Sprintf("shows with at most %d cores, has %d", e.MaxCores, cores)
	case r.c.recorded():
		if _, err := os.Stat(filepath.Join(r.traces, filepath.FromSlash(e.Trace))); err != nil {
			return "the trace is not here: " + e.Trace
		}
		return ""
	}
	if e.Quota > 0 {
		if why := quotaUnable(); why != "" {
			return why
		}
	}
	if e.SHM > 0 {
		if why := shmUnable(); why != "" {
			return why
		}
	}
	if e.Needs != "" && exec.Command(r.python, "-c", "import "+e.Needs).Run() != nil {
		return "no module " + e.Needs
	}
	if e.Ranks > 1 && exec.Command(r.python, "-c", "import torch.distributed.run").Run() != nil {
		return "this PyTorch has no working torchrun"
	}
	if e.MinTorch != "" && !r.torchIsAtLeast(e.MinTorch) {
		return "needs PyTorch " + e.MinTorch
	}
	return ""
}

func (r *runner) torchIsAtLeast(version string) bool {
	code := fmt.Sprintf("import torch; v = lambda s: [int(x) for x in s.split('+')[0].split('.')[:2]]; raise SystemExit(v(torch.__version__) < v(%q))", version)
	return exec.Command(r.python, "-c", code).Run() == nil
}

// measure profiles the slow program, times both sides in turn without a profiler, and profiles the fixed one.
func (r *runner) measure(o *outcome) error {
	if r.c.recorded() {
		if err := r.read(r.c.expect.Trace, &o.slow); err != nil || r.c.expect.TraceFixed == "" {
			return err
		}
		o.twin = true
		return r.read(r.c.expect.TraceFixed, &o.fixed)
	}
	r.draw, r.script = r.c.drawn(r.seed), map[string]string{}
	o.file = func(f string) string { return r.draw.expected(f, &r.c.expect) }
	variants := []string{"slow", "fixed"}
	if r.c.healthy() {
		variants = variants[:1]
	}
	for _, v := range variants {
		script, err := r.c.write(v, r.draw, filepath.Join(r.dir, v))
		if err != nil {
			return err
		}
		r.script[v] = script
	}
	if err := r.profile("slow", &o.slow); err != nil || r.c.healthy() {
		return err
	}
	for !r.c.expect.Ends && len(o.wall) < r.repeats && (len(o.wall) < fewestRepeats || !o.decided()) {
		var took, cpu [2]float64
		for i, v := range variants {
			var err error
			if took[i], cpu[i], err = r.plain(v); err != nil {
				return err
			}
		}
		o.wall = append(o.wall, took)
		o.cpu = append(o.cpu, cpu)
	}
	if r.peers && !r.c.expect.Ends {
		o.peers = r.askPeers()
	}
	o.twin = true
	return r.profile("fixed", &o.fixed)
}

// read makes the report of a recorded trace.
func (r *runner) read(trace string, doc *document) error {
	out, err := exec.Command(r.binary, "report", "--json", "-", filepath.Join(r.traces, filepath.FromSlash(trace))).Output()
	if err != nil {
		return fmt.Errorf("report of %s: %w", trace, err)
	}
	return json.Unmarshal(out, doc)
}

// command is the program's command line.
func (r *runner) command(variant string) []string {
	args := []string{r.python}
	if n := r.c.expect.Ranks; n > 1 {
		args = append(args, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", strconv.Itoa(n))
	}
	return append(args, r.script[variant])
}

// measurable are the causes whose prices --measure-fixes can measure; with others it would only take time.
var measurable = map[string]bool{"threads": true, "machine": true, "precision": true, "layout": true}

// profile runs a variant under the binary and reads its report.
func (r *runner) profile(variant string, doc *document) error {
	path := filepath.Join(r.dir, variant+".json")
	args := []string{r.binary, "run", "--out", filepath.Join(r.dir, variant+"-session"), "-o", filepath.Join(r.dir, variant+".txt"), "--json", path}
	if r.repeats > 0 && variant == "slow" && !r.c.expect.Ends && measurable[r.c.expect.Cause] {
		args = append(args, "--measure-fixes")
	}
	args = append(args, "--")
	if _, _, err := r.start(variant, append(args, r.command(variant)...)); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, doc); err != nil {
		return fmt.Errorf("read the report of %s: %w", r.c.name, err)
	}
	return nil
}

// plain runs a variant without any profiler and gives wall-clock and CPU seconds.
func (r *runner) plain(variant string) (wall, cpu float64, err error) {
	return r.start(variant, r.command(variant))
}

// start runs a command under the case's limits.
func (r *runner) start(variant string, command []string) (wall, cpu float64, err error) {
	e := &r.c.expect
	command, err = limited(e, variant, command)
	if err != nil {
		return 0, 0, err
	}
	if variant == "slow" {
		defer lift(e)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = filepath.Join(r.dir, variant)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "OMP_NUM_THREADS=") })
	if e.Threads != "default" {
		cmd.Env = append(cmd.Env, "OMP_NUM_THREADS=1")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	err = cmd.Run()
	ended := (*exec.ExitError)(nil)
	switch mustEnd := e.Ends && variant == "slow"; {
	case mustEnd && err == nil:
		return 0, 0, fmt.Errorf("%s ended well, want an error", filepath.Base(r.script[variant]))
	case mustEnd && errors.As(err, &ended):
	case err != nil:
		return 0, 0, fmt.Errorf("%s: %w: %s", filepath.Base(r.script[variant]), err, lastLines(stderr.String(), 3))
	}
	state := cmd.ProcessState
	return time.Since(began).Seconds(), (state.UserTime() + state.SystemTime()).Seconds(), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
