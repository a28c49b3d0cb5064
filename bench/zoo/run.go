package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"bottleneck/bench/timed"
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
	Saving  *saving
	Because *finding
}

// saving is what a finding promises.
type saving struct {
	RunS   *span `json:"run_s"`
	StepMs *span `json:"step_ms"`
}

type document struct {
	Run struct {
		WallS float64 `json:"wall_s"`
	}
	Steps []struct {
		Count int
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
	python, generation string
	seed               uint64
	c                  *testCase
	dir                string
	draw               draw
	script             map[string]string // by variant
	times              times
}

// run measures a case; what cannot run here is an outcome with a reason.
func (r *runner) run(ctx context.Context) outcome {
	o := outcome{name: r.c.name, generation: r.generation, seed: r.seed, expect: &r.c.expect, file: func(f string) string { return f }}
	if why := r.unable(); why != "" {
		o.skipped = why
		return o
	}
	err := r.begin(ctx)
	if err == nil {
		err = r.measure(ctx, &o)
	}
	switch {
	case ctx.Err() != nil:
		o.skipped = "interrupted"
	case err != nil:
		o.failed = err.Error()
		r.times.note("failed %s", strings.ReplaceAll(o.failed, "\n", " | "))
	default:
		r.times.note(complete)
	}
	if err := r.times.close(); err != nil && o.failed == "" {
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
	code := fmt.Sprintf(
		"import torch; v = lambda s: [int(x) for x in s.split('+')[0].split('.')[:2]]; raise SystemExit(v(torch.__version__) < v(%q))",
		version)
	return exec.Command(r.python, "-c", code).Run() == nil
}

// measure profiles the slow program, times both sides in turn without a profiler, and profiles the fixed one. The slow program is profiled
// again in the middle of the fewest pairs and at their end, so that the machine's drift meets profiles and pairs alike.
func (r *runner) measure(ctx context.Context, o *outcome) error {
	if r.c.recorded() {
		return r.readTraces(ctx, o)
	}
	if err := r.make(o); err != nil {
		return err
	}
	if err := r.profileSlow(ctx, o); err != nil || r.c.healthy() {
		return err
	}
	if r.c.expect.Before {
		if _, _, err := r.plain(ctx, "fixed"); err != nil {
			return err
		}
	}
	repeats := r.repeats
	if r.c.expect.Ends || r.c.expect.Unpriced {
		repeats = 0
	}
	fewest := min(fewestRepeats, repeats)
	for len(o.wall) < repeats && (len(o.wall) < fewest || !o.decided()) {
		if err := r.pair(ctx, o); err != nil {
			return err
		}
		if n := len(o.wall); n == (fewest+1)/2 && n < fewest {
			if err := r.profileSlow(ctx, o); err != nil {
				return err
			}
		}
	}
	if repeats > 0 {
		if err := r.profileSlow(ctx, o); err != nil {
			return err
		}
	}
	if r.prove && !r.c.expect.Ends && !r.c.expect.Unpriced {
		r.proveSlow(ctx, o)
	}
	if r.peers && !r.c.expect.Ends {
		o.peers = r.askPeers(ctx)
	}
	o.twin = true
	return r.profile(ctx, "fixed", "fixed", o, &o.fixed)
}

// make writes the programs.
func (r *runner) make(o *outcome) error {
	r.draw, r.script = r.c.drawn(r.seed), map[string]string{}
	o.file = func(f string) string { return r.draw.expected(f, &r.c.expect) }
	for _, v := range []string{"slow", "fixed"} {
		if v == "fixed" && r.c.healthy() {
			continue
		}
		script, err := r.c.write(v, r.draw, filepath.Join(r.dir, v))
		if err != nil {
			return err
		}
		r.script[v] = script
	}
	return nil
}

// pair runs both sides without a profiler; the slow one goes first in every other pair.
func (r *runner) pair(ctx context.Context, o *outcome) error {
	variants := [2]string{"slow", "fixed"}
	var took, cpu [2]float64
	for k := range variants {
		i := (k + len(o.wall)) % 2
		var err error
		if took[i], cpu[i], err = r.plain(ctx, variants[i]); err != nil {
			return err
		}
	}
	o.wall = append(o.wall, took)
	o.cpu = append(o.cpu, cpu)
	r.times.pair(len(o.wall), took, cpu)
	return nil
}

// readTraces makes the reports of a recorded case.
func (r *runner) readTraces(ctx context.Context, o *outcome) error {
	o.slow = make([]document, 1)
	if err := r.report(ctx, r.trace(r.c.expect.Trace), &o.slow[0]); err != nil || r.c.expect.TraceFixed == "" {
		return err
	}
	o.twin = true
	return r.report(ctx, r.trace(r.c.expect.TraceFixed), &o.fixed)
}

// trace is the path of a recorded trace.
func (s *settings) trace(name string) string {
	return filepath.Join(s.traces, filepath.FromSlash(name))
}

// report makes the report of a trace or session.
func (s *settings) report(ctx context.Context, path string, doc *document) error {
	cmd := exec.CommandContext(ctx, s.binary, "report", "--json", "-", path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("report of %s: %w: %s", filepath.Base(path), err, timed.LastLines(stderr.String(), 3))
	}
	if err := json.Unmarshal(out, doc); err != nil {
		return fmt.Errorf("report of %s: %w", filepath.Base(path), err)
	}
	return nil
}

// command is the program's command line.
func (r *runner) command(variant string) []string {
	args := []string{r.python}
	if n := r.c.expect.Ranks; n > 1 {
		args = append(args, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", strconv.Itoa(n))
	}
	return append(args, r.script[variant])
}

// measurable are the causes whose prices --measure-fixes can measure, by other numbers of threads and cores; with others it would only
// take time.
var measurable = map[string]bool{"threads": true, "machine": true}

// profileSlow profiles the slow program once more.
func (r *runner) profileSlow(ctx context.Context, o *outcome) error {
	o.slow = append(o.slow, document{})
	n := len(o.slow)
	return r.profile(ctx, "slow", fmt.Sprintf("slow-%d", n), o, &o.slow[n-1])
}

// profile runs a variant under the binary and reads its report; the session and the reports are called by name.
func (r *runner) profile(ctx context.Context, variant, name string, o *outcome, doc *document) error {
	path := filepath.Join(r.dir, name+".json")
	args := []string{r.binary, "run", "--out", sessionOf(r.dir, name), "-o", filepath.Join(r.dir, name+".txt"), "--json", path}
	if r.repeats > 0 && variant == "slow" && !r.c.expect.Ends && measurable[r.c.expect.Cause] {
		args = append(args, "--measure-fixes")
	}
	args = append(args, "--")
	took, _, err := r.start(ctx, variant, append(args, r.command(variant)...))
	if err != nil {
		return fmt.Errorf("profile of %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, doc); err != nil {
		return fmt.Errorf("read the report of %s: %w", r.c.name, err)
	}
	r.times.profile(name, o.promised(doc), doc.Run.WallS, took)
	return nil
}

// sessionOf is where a profile's session lies.
func sessionOf(dir, name string) string { return filepath.Join(dir, name+"-session") }

// plain runs a variant without any profiler and gives wall-clock and CPU seconds. Ranks that end may abort in PyTorch itself (its threads
// for gloo are not joined: 1 of 6 runs of a program that does no more than destroy its process group, PyTorch 2.15): they get a second
// chance.
func (r *runner) plain(ctx context.Context, variant string) (wall, cpu float64, err error) {
	wall, cpu, err = r.start(ctx, variant, r.command(variant))
	if err != nil && ctx.Err() == nil && r.c.expect.Ranks > 1 && strings.Contains(err.Error(), "Signal 6") {
		return r.start(ctx, variant, r.command(variant))
	}
	return wall, cpu, err
}
