package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bottleneck/internal/agent"
	"bottleneck/internal/collect"
	"bottleneck/internal/record"
)

// runOptions are the flags of run that do not concern the report.
type runOptions struct {
	python, module, out string
	maxSize             string
	schedule            string
	duration            time.Duration
	ranks, activities   string
	metadata            []string
	experimental        []string
	noTrace, noSample   bool
	rate                float64
	native              string
	nativeMode          collect.NativeMode
	config              agent.Config
	maxBytes            int64
	classic             bool
	with                string
	cudaBlocking        bool
	view                bool
	onTraceReady        string
	prove               bool
	proveBudget         time.Duration
	environmentOnly     bool // for `env`: no program, so no --python and the like
	given               map[string]string
}

// samplingRate is how often a thread's stack is taken where nobody says.
const samplingRate = 100

// addTo declares the measuring flags.
func (o *runOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.out, "out", "", "session `DIR` (default bottleneck-out/<name>-<time or job>)")
	f.StringVar(&o.maxSize, "max-size", "2GiB", "largest `SIZE` of the session of the whole job; the oldest traces are dropped")
	f.StringVar(&o.schedule, "schedule", "", "trace by torch.profiler's `PLAN`: wait=1,warmup=1,active=3,repeat=2,skip-first=10")
	f.StringVar(&o.config.SchedulePy, "schedule-py", "",
		"trace the steps for which the function in `FILE:FUNC` returns a recording torch.profiler.ProfilerAction")
	f.BoolVar(&o.config.WholeRun, "whole-run", false, "trace the whole run, without a budget")
	f.DurationVar(&o.duration, "duration", 0, "measure for this long (`TIME` like 90s or 5m), then let the program run on")
	f.Int64Var(&o.config.Steps, "steps", 0, "measure `N` steps, then let the program run on")
	f.BoolVar(&o.config.StopAfter, "stop-after", false, "end the program once --duration or --steps is over")
	f.StringVar(&o.ranks, "ranks", "", "trace these `RANKS`, like 0,4-7 (default: the first 8; all are timed and sampled)")
	f.StringSliceVar(&o.config.StepOn, "step-on", nil, "a call of `FUNC` (name, Class.method or module:name) is a step")
	f.StringSliceVar(&o.config.RegionOn, "region", nil, "time the calls of `FUNC` as a region")
	f.StringVar(&o.activities, "activities", "",
		"what to trace: `LIST` of cpu, cuda, xpu, mtia, hpu, privateuse1 (default: what the program uses)")
	f.BoolVar(&o.config.RecordShapes, "record-shapes", false, "record the shapes of operators' inputs in every trace")
	f.BoolVar(&o.config.ProfileMemory, "profile-memory", false, "record allocations and frees")
	f.BoolVar(&o.config.WithStack, "with-stack", false, "record Python stacks of operators (slow)")
	f.BoolVar(&o.config.WithFlops, "with-flops", false, "estimate floating-point operations")
	f.BoolVar(&o.config.WithModules, "with-modules", false, "record which module of the model operators run in")
	f.BoolVar(&o.config.Calls, "calls", false, "count every call of every Python and C function, in all threads (slow, as cProfile is)")
	f.StringSliceVar(&o.config.Lines, "lines", nil, "count hits and time of each line of `FUNC`: a name or glob (name, Class.method, "+
		"module.name), FILE.py:LINE, or @profile for what has that decorator")
	f.StringArrayVar(&o.metadata, "metadata", nil, "add `KEY=VALUE` to the traces, or KEY:=JSON")
	f.StringArrayVar(&o.experimental, "experimental", nil, "pass `KEY=VALUE` to torch's _ExperimentalConfig, VALUE in JSON or a word")
	f.StringVar(&o.config.Emit, "emit", "", "make a range of each operator for another tool instead of tracing: `KIND` nvtx or itt (slow)")
	f.BoolVar(&o.noTrace, "no-trace", false, "never start torch's profiler: steps, waits and samples only")
}

// addRunOnly declares the flags that need a launcher.
func (o *runOptions) addRunOnly(f *pflag.FlagSet) {
	f.StringVar(&o.python, "python", "", "`INTERPRETER` for SCRIPT and -m (default: python3, else python, of the active environment)")
	f.StringVar(&o.onTraceReady, "on-trace-ready", "",
		"run `CMD` by the shell for each finished trace; {path}, {step}, {cycle} and {rank} stand for its own, as BNECK_TRACE_PATH, … do")
	f.BoolVar(&o.classic, "classic", false,
		"print the sections of torch.utils.bottleneck: environment, cProfile, operators on CPU and device (counts --calls)")
	f.StringVarP(&o.module, "module", "m", "", "run a library `MODULE` as a script, like python -m; its arguments follow")
	f.Float64Var(&o.rate, "rate", samplingRate, "Python stacks per second and thread, taken from outside (`HZ`)")
	addNative(f, &o.native)
	f.BoolVar(&o.prove, "prove", false,
		"after the report, prove the first finding whose change a program can make, as the command prove does")
	f.DurationVar(&o.proveBudget, "budget", usualBudget, "how long --prove may take, `TIME` like 3m")
	f.BoolVar(&o.noSample, "no-sample", false, "take no Python stacks")
	f.BoolVar(&o.cudaBlocking, "cuda-blocking", false,
		"let each launch wait for the GPU (CUDA_LAUNCH_BLOCKING=1): a line's time holds its kernels' time; what overlaps gets no price")
	f.StringVar(&o.with, "with", "", "run the program under another profiler and read its result too: `TOOL` nvprof, nsys, ncu, rocprof or "+
		"vtune (with --emit nvtx or itt in place of tracing; --analysis-metrics has nvprof and ncu count all they can)")
	f.BoolVar(&o.view, "view", false, "show the run in the browser while it goes on: step time, data wait, verdict so far")
}

// check completes the agent's configuration from the texts of the flags.
func (o *runOptions) check(cmd *cobra.Command) error {
	o.given = map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) { o.given[f.Name] = record.RedactText(f.Value.String()) })
	var err error
	if o.maxBytes, err = parseSize(o.maxSize); err != nil {
		return usage("--max-size: %v", err)
	}
	if o.config.Schedule, err = parseSchedule(o.schedule); err != nil {
		return usage("--schedule: %v", err)
	}
	if err := o.checkSchedule(); err != nil {
		return err
	}
	if o.config.Ranks, err = parseRanks(o.ranks); err != nil {
		return usage("--ranks: %v", err)
	}
	if o.config.Metadata, o.config.MetadataJSON, err = parseMetadata(o.metadata); err != nil {
		return usage("--metadata: %v", err)
	}
	if o.config.Experimental, err = parseSettings(o.experimental); err != nil {
		return usage("--experimental: %v", err)
	}
	if err := oneOf("--emit", o.config.Emit, "", "nvtx", "itt"); err != nil {
		return err
	}
	if o.activities != "" {
		o.config.Activities = strings.Split(o.activities, ",")
		for _, a := range o.config.Activities {
			if err := oneOf("--activities", a, "cpu", "cuda", "xpu", "mtia", "hpu", "privateuse1"); err != nil {
				return err
			}
		}
	}
	if o.config.StopAfter && o.duration <= 0 && o.config.Steps <= 0 {
		return usage("--stop-after needs --duration or --steps")
	}
	if o.prove && o.proveBudget <= 0 {
		return usage("--budget must be above 0")
	}
	if o.duration < 0 || o.config.Steps < 0 {
		return usage("--duration and --steps must not be negative")
	}
	if o.nativeMode, err = nativeMode("run", o.native); err != nil {
		return err
	}
	if !o.environmentOnly && (o.rate <= 0 || o.rate > 1000) {
		return usage("--rate must be above 0 and at most 1000")
	}
	o.config.OnTraceReady = o.onTraceReady != ""
	o.config.Calls = o.config.Calls || o.classic
	o.config.Duration = o.duration.Seconds()
	o.config.NoTrace = o.noTrace
	o.config.MaxBytes = o.maxBytes
	return nil
}

// parseSize reads "2GiB", "500M", "1e9": binary units, with or without the i and the B.
func parseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "KMGTkmgtiIbB ")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || !(value > 0) {
		return 0, fmt.Errorf("%q is not a size like 500MiB or 2GiB", text)
	}
	unit := strings.ToUpper(strings.TrimSpace(text[len(number):]))
	unit = strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I")
	shift := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
	n, known := shift[unit]
	if !known {
		return 0, fmt.Errorf("%q has an unknown unit; known: KiB, MiB, GiB, TiB", text)
	}
	if value *= float64(int64(1) << n); value < 1<<20 || value > 1<<50 {
		return 0, fmt.Errorf("%q is not between 1 MiB and 1 PiB", text)
	}
	return int64(value), nil
}

// scheduleKeys are torch.profiler.schedule's parameters, with either kind of dash.
var scheduleKeys = []string{"wait", "warmup", "active", "repeat", "skip-first", "skip-first-wait"}

func parseSchedule(text string) (*agent.Schedule, error) {
	if text == "" {
		return nil, nil
	}
	s := &agent.Schedule{}
	fields := map[string]*int{"wait": &s.Wait, "warmup": &s.WarmUp, "active": &s.Active, "repeat": &s.Repeat, "skip-first": &s.SkipFirst,
		"skip-first-wait": &s.SkipFirstWait}
	for _, pair := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		key = strings.ReplaceAll(key, "_", "-")
		field, known := fields[key]
		if !known {
			return nil, fmt.Errorf("unknown part %q%s; known: %s", key, didYouMean(key, scheduleKeys), strings.Join(scheduleKeys, ", "))
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s: %q is not a number of steps", key, value)
		}
		*field = n
	}
	if s.Active < 1 {
		return nil, fmt.Errorf("active must be at least 1")
	}
	return s, nil
}

// parseRanks reads "0,4-7".
func parseRanks(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var out []int
	for _, part := range strings.Split(text, ",") {
		first, last, ranged := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(first)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(last)
		}
		if err != nil || a < 0 || b < a || b-a > 1<<20 {
			return nil, fmt.Errorf("%q is not a rank or a range like 4-7", part)
		}
		for r := a; r <= b; r++ {
			out = append(out, r)
		}
	}
	return out, nil
}
