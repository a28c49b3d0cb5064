package cli

import (
	"bottleneck/internal/collect"
	"bottleneck/internal/model"
	"bottleneck/internal/record"
	"bottleneck/internal/report"
	"bottleneck/internal/rerun"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// measuredOps is how many operators are run again at most.
const measuredOps = 12

// defaultBenchBudget is how long operators are run again.
const defaultBenchBudget = 5 * time.Second

// fixOptions are the flags of run that measure fixes after the program's end.
type fixOptions struct {
	measure bool
	budget  time.Duration
	python  string // that ran the program, "" unknown
}

func (o *fixOptions) addTo(f *pflag.FlagSet) {
	f.BoolVar(&o.measure, "measure-fixes", false, "after the program's end run its hottest operators again, as they were and under fixes")
	f.DurationVar(&o.budget, "bench-budget", defaultBenchBudget,
		"how long --measure-fixes may repeat them, from when Python has imported torch on, `TIME` like 5s")
}

// run measures for the report of a session.
func (o *fixOptions) run(ctx context.Context, s *model.Session) (*report.Measured, error) {
	python, err := interpreterFor(o.python)
	if err != nil {
		return nil, err
	}
	return measure(ctx, s, python, min(max(o.budget, time.Second), time.Hour))
}

// measuredSchema is the version of measured.json.
const measuredSchema = "bottleneck.measured/1"

// measuredFile is measured.json of a session (docs/session.md).
type measuredFile struct {
	Schema string `json:"schema"`
	report.Measured
}

// keepMeasured saves measured prices with the session, so that later reports of it have them, too.
func keepMeasured(a *app, dir string, m *report.Measured) {
	if err := record.WriteJSON(filepath.Join(dir, record.MeasuredName), measuredFile{measuredSchema, *m}); err != nil {
		a.warn("the measured fixes are not kept with the session: %v", cause(err))
	}
}

// savedMeasured are the prices that were measured when a session was recorded, nil where none were.
func savedMeasured(a *app, dir string) *report.Measured {
	if !record.IsSession(dir) {
		return nil
	}
	file := measuredFile{}
	err := record.ReadJSON(dir, record.MeasuredName, &file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && file.Schema != measuredSchema:
		err = fmt.Errorf("its schema is %q", file.Schema)
	}
	if err != nil {
		a.warn("%s is left out: %v", record.MeasuredName, cause(err))
		return nil
	}
	return &file.Measured
}

// interpreterFor finds the Python that runs operators again: the one that was given, else that of the active environment.
func interpreterFor(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", usage("no python3 to run operators again with: give --python")
}

// interpreterThatRan is the Python of a process of this host that trained: of a rank, else of the main process that
// imported torch; "" where the session knows none. It is asked of sessions that this command made only: what a session from
// elsewhere names must not be run.
func interpreterThatRan(dir, host string) string {
	_, folders, err := record.Folders(dir)
	if err != nil {
		return ""
	}
	best := map[string]string{}
	for _, folder := range folders {
		var process struct {
			Role, Executable string
			Torch            *struct{}
		}
		if !strings.HasPrefix(filepath.Base(folder), record.HostPrefix(host)) ||
			record.ReadJSONIn(folder, record.ProcessName, &process) != nil || process.Torch == nil {
			continue
		}
		if filepath.IsAbs(process.Executable) {
			best[process.Role] = process.Executable
		}
	}
	return cmp.Or(best["rank"], best["main"])
}

// measure runs a session's hot operators again, in a process of its own. Another machine takes other times, and its cores and memory
// are not those that a fix is for.
func measure(ctx context.Context, s *model.Session, python string, budget time.Duration) (*report.Measured, error) {
	if here, err := os.Hostname(); err == nil && s.Environment.Host != "" && here != s.Environment.Host {
		return nil, unusable(fmt.Errorf("the session was recorded on %s, and this is %s: run what-if --measure there",
			s.Environment.Host, here))
	}
	ops := rerun.HotOps(s, measuredOps)
	if len(ops) == 0 {
		return nil, unusable(fmt.Errorf("no operator's inputs were recorded on a CPU: shapes are needed (bottleneck run records them)"))
	}
	options := rerun.Options{Interpreter: python, Budget: budget, Torch: s.Environment.Torch, Threads: recordedThreads(s),
		Settings: s.Environment.Threads, Memory: collect.SpareMemory()}
	options.Cores, options.AllCores = usableCores(&s.Environment)
	results, err := rerun.Measure(ctx, ops, options)
	if err != nil {
		return nil, unusable(err)
	}
	return measuredRows(results), nil
}

// usableCores is how many cores the program could use, and, where it is bound to few of them, how many it could use otherwise, else 0.
// A quota's cores are as many as it grants time on.
func usableCores(e *model.Environment) (cores, all int) {
	cores = len(e.Affinity)
	if cores == 0 {
		cores = e.CPUs
	}
	granted := e.CPUs
	if e.CPUQuota != nil {
		granted = min(granted, max(int(*e.CPUQuota), 1))
	}
	if cores = min(cores, granted); granted >= 2*cores {
		all = granted
	}
	return cores, all
}

// recordedThreads is the number of threads that operators used, 0 unknown.
func recordedThreads(s *model.Session) int {
	for _, key := range []string{"torch.get_num_threads", "OMP_NUM_THREADS"} {
		if n, err := strconv.Atoi(strings.TrimSpace(s.Environment.Threads[key])); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

func measuredRows(results []rerun.Result) *report.Measured {
	m := &report.Measured{Tolerance: rerun.Tolerance, Prices: []report.MeasuredPrice{}, Ops: []report.MeasuredOp{}}
	for _, p := range rerun.Prices(results) {
		m.Prices = append(m.Prices, report.MeasuredPrice{Fix: p.Fix, SavedMs: p.SavedMs, OfMs: p.OfMs, Ops: p.Ops})
	}
	for i := range results {
		r := &results[i]
		op := report.MeasuredOp{Op: r.Op.Name, Shapes: string(r.Op.Shapes), PerStep: r.Op.PerStep, RecordedUs: r.Op.RecordedUs,
			RepeatedUs: r.BaseUs, Reproduced: r.Reproduced, Why: r.Error, Fixes: []report.MeasuredFix{}}
		for _, f := range r.Fixes {
			op.Fixes = append(op.Fixes, report.MeasuredFix{Fix: f.Fix, Us: f.Us})
		}
		m.Ops = append(m.Ops, op)
	}
	return m
}
