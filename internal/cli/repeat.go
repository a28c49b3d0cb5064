package cli

import (
	"bottleneck/internal/collect"
	"bottleneck/internal/compare"
	"bottleneck/internal/record"
	"bottleneck/internal/turns"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// variant is one side of runs in turns.
type variant struct {
	name        string // of its folder: "a", "original"
	target      collect.Target
	dir         string                   // working directory; "" this process's
	environment []string                 // on top of this process's
	each        func(id string) []string // of the environment of one run; nil none
	ablate      *ablation                // what is taken away; nil nothing
	saved       []string                 // files that each run saves, to be compared
	// check is asked of each run's reading; an error makes it a failed run.
	check func(compare.Run) error
}

// repeater records the runs of two variants in turns, each as `run` records a program, in folders of one directory:
// OUT/<variant>/<number> is a session, OUT/output/<variant>-<number>.out and .err is what the program wrote, OUT/failed/… are sessions of
// runs that failed.
type repeater struct {
	*app
	opt      *runOptions
	out      string
	variants [2]variant
}

// ranOnce is one run with its session's report.
type ranOnce struct {
	session, stdout string
	saved           []string // copies
	wall            time.Duration
	run             compare.Run
	code            int
}

// runFailed says how a program of turns failed.
type runFailed struct {
	code int
	text string
}

func (e *runFailed) Error() string { return e.text }

// newRepeater makes the directory of the runs.
func newRepeater(a *app, o *runOptions, out, name string, variants [2]variant) (*repeater, error) {
	if os.Getenv(collect.EnvSession) != "" {
		return nil, usage("%s: this runs under bottleneck already, and would measure nothing of its own", name)
	}
	if out == "" {
		out = filepath.Join("bottleneck-out", name+"-"+time.Now().Format("20060102-150405"))
	}
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return nil, usage("--out: %s is not empty; earlier runs are not mixed with new ones", out)
	}
	if err := os.MkdirAll(filepath.Join(out, "output"), record.DirMode); err != nil {
		return nil, unusable(fmt.Errorf("%s: %w", out, cause(err)))
	}
	if err := collect.OwnDirectory(out); err != nil {
		return nil, usage("--out: %v", err)
	}
	return &repeater{app: a, opt: o, out: out, variants: variants}, nil
}

// measure is one run of a side.
func (r *repeater) measure(ctx context.Context, side, number int) (ranOnce, error) {
	v := &r.variants[side]
	id := fmt.Sprintf("%02d", number)
	environment := append(seeded(number), v.environment...)
	if v.each != nil {
		environment = append(environment, v.each(id)...)
	}
	once := ranOnce{session: filepath.Join(r.out, v.name, id), stdout: filepath.Join(r.out, "output", v.name+"-"+id+".out")}
	errors := filepath.Join(r.out, "output", v.name+"-"+id+".err")
	begin := time.Now()
	outcome, err := r.record(ctx, v, environment, &once, errors)
	once.wall, once.code = time.Since(begin), outcome.Code
	if err == nil && outcome.Interrupts > 0 {
		err = &runFailed{outcome.Code, "was interrupted"}
	}
	if err == nil && outcome.Code != 0 {
		err = &runFailed{outcome.Code, fmt.Sprintf("ended with %s%s", howItEnded(outcome), lastWords(errors))}
	}
	if err == nil {
		err = r.keepSaved(v, &once)
	}
	if err == nil {
		once.run, err = r.readRun(ctx, runPaths{paths: []string{once.session}, fresh: true})
	}
	if err == nil && v.check != nil {
		err = v.check(once.run)
	}
	if err != nil {
		r.setAside(once.session, v.name+"-"+id)
	}
	return once, err
}

// seeded is the seed of Python's hashes that both runs of a pair share, unless the user has chosen one: with it, the order of sets and
// dictionaries and so much of where a process keeps its memory, by which two runs of one program differ for as long as they live
// (docs/proving.md). Each pair has another one, so that no one's luck decides.
func seeded(pair int) []string {
	const variable = "PYTHONHASHSEED"
	if _, chosen := os.LookupEnv(variable); chosen {
		return nil
	}
	return []string{fmt.Sprintf("%s=%d", variable, pair)}
}

// record runs a program as `run` does, without a report; what it writes goes to files.
func (r *repeater) record(ctx context.Context, v *variant, environment []string, once *ranOnce, errors string) (collect.Outcome, error) {
	stdout, err := os.OpenFile(once.stdout, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, record.FileMode)
	if err != nil {
		return collect.Outcome{}, unusable(cause(err))
	}
	defer stdout.Close()
	stderr, err := os.OpenFile(errors, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, record.FileMode)
	if err != nil {
		return collect.Outcome{}, unusable(cause(err))
	}
	defer stderr.Close()
	opt := *r.opt
	opt.out = once.session
	if a := v.ablate; a != nil {
		opt.config.Ablate, opt.config.AblateFile, opt.config.AblateLine = a.cause, a.place.File, a.place.Line
	}
	program := *r.app
	program.stdin, program.stdout, program.stderr = nil, stdout, stderr
	l := &launch{app: &program, opt: &opt, report: &reportOptions{}, target: v.target, repeated: true, dir: v.dir,
		environment: environment}
	if err := l.start(ctx); err != nil {
		return collect.Outcome{}, err
	}
	outcome := l.program.Wait(ctx)
	l.program.Release()
	err = l.session.ended(ctx, outcome)
	if err == nil {
		l.session.waitForOthers(ctx, 2*time.Second)
	}
	l.session.close(ctx)
	return outcome, err
}

// setAside moves the session of a run that failed to where comparisons do not look for it.
func (r *repeater) setAside(session, name string) {
	failed := filepath.Join(r.out, "failed")
	if os.MkdirAll(failed, record.DirMode) == nil {
		_ = os.Rename(session, filepath.Join(failed, name))
	}
}

// sides are both sides of the pairs so far.
func (r *repeater) sides(pairs [][2]ranOnce) (sides [2]compare.Side) {
	for i := range sides {
		sides[i].Path = filepath.Join(r.out, r.variants[i].name)
		for _, p := range pairs {
			sides[i].Runs = append(sides[i].Runs, p[i].run)
		}
	}
	return sides
}

// failures name the runs that failed.
func (r *repeater) failures(list []turns.Failure) []string {
	out := []string{}
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s, run %d: %v", r.variants[f.Side].name, f.Number, f.Err))
	}
	return out
}

func howItEnded(o collect.Outcome) string {
	if o.Signal != "" {
		return o.Signal
	}
	return fmt.Sprintf("exit status %d", o.Code)
}

// lastWords is the last line that a program wrote to a file, as an addition to a message.
func lastWords(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > 8<<10 {
		_, _ = f.Seek(-8<<10, io.SeekEnd)
	}
	text, err := io.ReadAll(f)
	lines := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(text, nil))), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); err == nil && last != "" {
		return ": " + last
	}
	return ""
}
