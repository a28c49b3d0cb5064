package rerun

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed py/inputs.py
var inputs string

//go:embed py/rerun.py
var repeating string

// program is one text, which needs no folder of its own to import the other from.
var program = with(repeating)

// fromInputs is the line by which a program takes what makes recorded operators again.
var fromInputs = regexp.MustCompile(`(?m)^from inputs import .*\n`)

// with is a program with inputs.py in place of the line that imports it.
func with(text string) string {
	at := fromInputs.FindStringIndex(text)
	return text[:at[0]] + inputs + text[at[1]:]
}

// Tolerance is how far the repeated time of an operator may be from the recorded one, as a factor either way: caches are warmer
// in a repetition, and the recorded time holds what tracing cost.
const Tolerance = 1.35

// startUp is how long the process may take until it has imported torch; the budget counts from there.
const startUp = 60 * time.Second

// atEnd is how long after the budget the process may take to say what it has.
const atEnd = 200 * time.Millisecond

// Options say where and how long to measure.
type Options struct {
	Interpreter string        // a Python that can import the program's torch
	Budget      time.Duration // of the repetitions
	Torch       string        // PyTorch's version as recorded; "" unknown. Another one has other operators
	Memory      int64         // bytes that the process may take; 0 unknown
	// Settings are variables of the program's environment, of which the process gets those of threadSettings; empty: not known.
	Settings map[string]string
	Threads  int // torch.get_num_threads() as recorded; 0 unknown: 1
	Cores    int // that the program may use; 0 unknown
	// AllCores is how many the machine has, or grants, where it is to be measured what they would change for a program that is bound to
	// fewer; 0: it is not. The process lets itself run on them; where the system does not let it, there is no such price.
	AllCores int
}

// Fixed is an operator's time under one fix: the median, and the mean of all repetitions.
type Fixed struct {
	Fix    string  `json:"fix"`
	Us     float64 `json:"us"`
	MeanUs float64 `json:"mean_us"`
}

// Result is what came of one operator. BaseUs is nil where it could not be run again, or was not; Error says why.
type Result struct {
	Op         Op
	BaseUs     *float64
	BaseMeanUs float64
	Reproduced bool // BaseUs is within Tolerance of the recorded time
	Fixes      []Fixed
	Error      string
	index      int // of the operator that was asked for
}

// Price is what one fix saves over all reproduced operators, ms per step: their recorded time, scaled as in the repetition.
type Price struct {
	Fix     string
	SavedMs float64 // negative: it costs
	OfMs    float64 // of the operators that were measured under it
	Ops     int
}

// Measure repeats operators, and says of each what came of it until the budget was used up; an error where nothing could be run.
func Measure(ctx context.Context, ops []Op, o Options) ([]Result, error) {
	wide := o.AllCores > max(o.Cores, 1)
	if wide {
		o.Budget /= 2
	}
	results, err := o.measure(ctx, ops, false)
	if err != nil || !wide {
		return results, err
	}
	if more, err := o.measure(ctx, ops, true); err == nil {
		join(results, more)
	}
	return results, ctx.Err()
}

// join adds what operators took on all cores to what they took as recorded. Both must have reproduced the recording: the one says
// that the operator is the same, the other what its fix is compared with.
func join(results, more []Result) {
	for i := range more {
		j := slices.IndexFunc(results, func(r Result) bool { return r.index == more[i].index })
		if j < 0 || !more[i].Reproduced || !results[j].Reproduced {
			continue
		}
		for _, f := range more[i].Fixes {
			k := *results[j].BaseUs / *more[i].BaseUs
			results[j].Fixes = append(results[j].Fixes, Fixed{f.Fix, k * f.Us, k * f.MeanUs})
		}
	}
}

// measure repeats operators in one process, which does not outlive the call, nor this process.
func (o *Options) measure(ctx context.Context, ops []Op, wide bool) ([]Result, error) {
	inTime, stop := context.WithTimeout(ctx, startUp+o.Budget+atEnd)
	defer stop()
	all := 0
	if wide {
		all = o.AllCores
	}
	request, err := json.Marshal(map[string]any{"ops": ops, "budget_s": o.Budget.Seconds(), "threads": max(o.Threads, 1),
		"cores": max(o.Cores, 1), "all_cores": all, "memory_bytes": o.Memory, "low": 1 / Tolerance, "high": Tolerance})
	if err != nil {
		return nil, fmt.Errorf("repeat operators: %w", err)
	}
	cmd := exec.CommandContext(inTime, o.Interpreter, "-c", program)
	cmd.Env, cmd.WaitDelay = environment(os.Environ(), o.Settings), atEnd
	EndWhole(cmd)
	asked, ask, err := os.Pipe() // the process ends when nobody holds its other end
	if err != nil {
		return nil, fmt.Errorf("repeat operators: %w", err)
	}
	defer ask.Close()
	in := &reader{ops: ops, began: func(version string) error {
		if err := o.sameTorch(version); err != nil {
			stop()
			return err
		}
		time.AfterFunc(o.Budget+atEnd, stop)
		return nil
	}}
	var stderr lastText
	cmd.Stdin, cmd.Stdout, cmd.Stderr = asked, in, &stderr
	err = cmd.Start()
	asked.Close()
	if err != nil {
		return nil, fmt.Errorf("repeat operators with %s: %w", o.Interpreter, err)
	}
	go func() { _, _ = ask.Write(append(request, '\n')) }() // it fails where the process has ended, which Wait says
	runErr := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case in.err != nil:
		return nil, in.err
	case !in.ready && inTime.Err() != nil:
		return nil, fmt.Errorf("repeat operators with %s: PyTorch was not imported within %v", o.Interpreter, startUp)
	case !in.ready:
		return nil, fmt.Errorf("repeat operators with %s: %w", o.Interpreter, errors.Join(runErr, stderr.lastLine()))
	case inTime.Err() != nil:
		runErr = nil // it was ended
	}
	return in.results(runErr), nil
}

// sameTorch is an error where the process has another PyTorch than the program had. Builds of one version differ in their suffix.
func (o *Options) sameTorch(version string) error {
	recorded, _, _ := strings.Cut(o.Torch, "+")
	if here, _, _ := strings.Cut(version, "+"); recorded != "" && here != recorded {
		return fmt.Errorf("the session was recorded with PyTorch %s, and %s has %s: give the program's own Python with --python",
			recorded, o.Interpreter, here)
	}
	return nil
}

// threadSettings are the variables that decide where threads run and how they wait. None of them names code to be loaded: what a session
// says of them may be from anybody.
var threadSettings = []string{"OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "OMP_DYNAMIC", "GOMP_CPU_AFFINITY", "GOMP_SPINCOUNT",
	"KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_DYNAMIC"}

// environment is what the process gets: the user's, without what would measure it in turn, and with the program's settings of threads.
func environment(env []string, settings map[string]string) []string {
	env = slices.DeleteFunc(Apart(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(v, "BNECK_") || strings.HasPrefix(v, "BOTTLENECK_") ||
			len(settings) > 0 && slices.Contains(threadSettings, name)
	})
	for _, name := range threadSettings {
		if value, ok := settings[name]; ok && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Prices adds up what each fix saves, most first.
func Prices(results []Result) []Price {
	sums := map[string]*Price{}
	for i := range results {
		r := &results[i]
		if !r.Reproduced {
			continue
		}
		recorded := r.Op.RecordedUs * r.Op.PerStep / 1e3
		for _, f := range r.Fixes {
			p := sums[f.Fix]
			if p == nil {
				p = &Price{Fix: f.Fix}
				sums[f.Fix] = p
			}
			p.Ops++
			p.OfMs += recorded
			p.SavedMs += recorded * (1 - r.left(f))
		}
	}
	out := make([]Price, 0, len(sums))
	for _, p := range sums {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(x, y Price) int { return cmp.Or(cmp.Compare(y.SavedMs, x.SavedMs), cmp.Compare(x.Fix, y.Fix)) })
	return out
}

// left is the part of an operator's time that it takes under a fix. Threads that wait for each other are slow now and then, far
// beyond the median: there the means count, which is what a run adds up to.
func (r *Result) left(f Fixed) float64 {
	if r.BaseMeanUs > 0 && f.MeanUs > 0 && (strings.HasPrefix(f.Fix, "threads=") || strings.HasPrefix(f.Fix, "cores=")) {
		return f.MeanUs / r.BaseMeanUs
	}
	return f.Us / *r.BaseUs
}
