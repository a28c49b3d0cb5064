package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/rerun"
	"bottleneck/internal/view"
)

// isolateOptions are the flags of isolate.
type isolateOptions struct {
	op, line, output, python string
	top                      int
	force, run               bool
	compare                  []string
	seconds                  float64
	budget                   time.Duration
}

// How long isolate repeats an operator, and how long a comparison takes at most, where nobody says.
const (
	isolateSeconds = 3
	isolateBudget  = 3 * time.Minute
	mostIsolated   = 100
)

func newIsolateCommand(a *app) *cobra.Command {
	o := &isolateOptions{}
	cmd := &cobra.Command{
		Use:   "isolate [flags] [PATH]",
		Short: "Write a small script that runs a recorded operator alone",
		Long: "Writes a Python script that needs PyTorch only and runs recorded operators alone, with inputs of the recorded shapes,\n" +
			"strides, types and values, and again after what ran before them in the program. It says whether they take the\n" +
			"recorded time, and their own with its interval, memory and computing rates. Nothing of the recording is run:\n" +
			"it stands in the script as plain data.\n" +
			"Without a path it takes the newest session here.",
		Example: "  bottleneck isolate --op aten::addmm trace.json.gz\n" +
			"  bottleneck isolate --line train.py:42 -o mine.py bottleneck-out/train-20260131-120000\n" +
			"  bottleneck isolate --top 3 --run\n" +
			"  bottleneck isolate --op aten::addmm --compare old/bin/python,new/bin/python",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return o.start(cmd, a, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.op, "op", "", "the operator `NAME`, like aten::addmm, with the inputs that take most time")
	f.StringVar(&o.line, "line", "", "the heaviest operator of a line, `FILE:N`; needs a recording --with-stack")
	f.IntVar(&o.top, "top", 1, "the `N` heaviest operators, or inputs of one, in one script")
	f.StringVarP(&o.output, "output", "o", "", "write the script to `FILE` (default isolate_<op>.py; - = standard output)")
	f.BoolVar(&o.force, "force", false, "overwrite the file")
	f.BoolVar(&o.run, "run", false, "run the script, too")
	f.StringVar(&o.python, "python", "", "`INTERPRETER` for --run (default: python3, else python, of the active environment)")
	f.StringSliceVar(&o.compare, "compare", nil, "run it under two interpreters in turns, `PYTHON_A,PYTHON_B`, and say which is faster")
	f.Float64Var(&o.seconds, "seconds", isolateSeconds, "repeat each operator for `S` seconds alone, and as long in its place")
	f.DurationVar(&o.budget, "budget", isolateBudget, "start no pair of --compare that would end after this `TIME`")
	return cmd
}

// check completes the flags. The second interpreter may stand after the first as a word of its own.
func (o *isolateOptions) check(cmd *cobra.Command, args []string) ([]string, error) {
	if len(o.compare) == 1 && len(args) > 0 {
		for i := len(args) - 1; i >= 0; i-- {
			if found, err := exec.LookPath(args[i]); err == nil && found != "" {
				o.compare, args = append(o.compare, args[i]), append(args[:i:i], args[i+1:]...)
				break
			}
		}
	}
	switch {
	case cmd.Flags().Changed("compare") && len(o.compare) != 2:
		return nil, usage("--compare: give two interpreters: --compare PYTHON_A,PYTHON_B")
	case len(args) > 1:
		return nil, usage("isolate: give one PATH")
	case o.op == "" && o.line == "" && !cmd.Flags().Changed("top"):
		return nil, usage("isolate: which operator? give --op NAME, --line FILE:N or --top N; " +
			"`bottleneck report --section operators` lists them")
	case o.top < 1 || o.top > mostIsolated:
		return nil, usage("--top: %d is not between 1 and %d", o.top, mostIsolated)
	case !(o.seconds > 0 && o.seconds <= 600):
		return nil, usage("--seconds: %g is not between 0 and 600", o.seconds)
	case o.budget <= 0:
		return nil, usage("--budget must be above 0")
	}
	if o.op != "" && !strings.Contains(o.op, "::") {
		o.op = "aten::" + o.op
	}
	return args, nil
}

func (o *isolateOptions) start(cmd *cobra.Command, a *app, args []string) error {
	args, err := o.check(cmd, args)
	if err != nil {
		return err
	}
	if args, err = a.orNewest("isolate", args); err != nil {
		return err
	}
	if !o.run && len(o.compare) == 0 {
		out := o.output
		if out == "" {
			out = "isolate.py" // a file of this folder
		}
		a.confine(cmd.Context(), needs{inputs: args, outputs: []string{out}})
	}
	ops, script, err := o.script(cmd.Context(), a, args)
	if err != nil {
		return err
	}
	if len(o.compare) == 2 {
		return o.inTurns(cmd.Context(), a, ops, script)
	}
	if err := o.write(a, ops, script); err != nil || !o.run {
		return err
	}
	python, err := interpreterFor(o.python)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	if err := rerun.RunScript(ctx, python, script, o.arguments(), a.stdout, a.stderr); err != nil {
		return unusable(err)
	}
	return nil
}

func (o *isolateOptions) arguments() []string {
	return []string{"--seconds", strconv.FormatFloat(o.seconds, 'g', -1, 64)}
}

// script reads the recording and writes the program of the operators that were asked for.
func (o *isolateOptions) script(ctx context.Context, a *app, args []string) ([]rerun.Op, string, error) {
	paths, cleanup, err := a.unpackAll(ctx, args)
	defer cleanup()
	if err != nil {
		return nil, "", err
	}
	s, err := a.load(ctx, paths, ingest.Options{})
	if err != nil {
		return nil, "", err
	}
	choice := rerun.Choice{Name: o.op, Limit: o.top}
	if o.line != "" {
		if choice.At, err = atLine(s, o.line); err != nil {
			return nil, "", err
		}
	}
	ops, err := rerun.Choose(s, choice)
	var missing *rerun.NotFoundError
	switch {
	case errors.As(err, &missing):
		return nil, "", usage("isolate: %v%s%s; `bottleneck report --section operators` lists what was", err, o.there(),
			didYouMean(missing.Name, missing.Known))
	case err != nil:
		return nil, "", unusable(fmt.Errorf("isolate: %w", err))
	case len(ops) == 0:
		return nil, "", unusable(fmt.Errorf("isolate: no operator%s takes long enough to be repeated alone, with inputs that "+
			"were recorded: name one with --op", o.there()))
	}
	alone := make([]rerun.Alone, len(ops))
	for i := range ops {
		alone[i] = rerun.Alone{Op: ops[i]}
		alone[i].Flops, alone[i].Formula = flopsOf(&ops[i])
		peaksOf(s, &alone[i])
	}
	recorded := rerun.ScriptOptions{Torch: s.Environment.Torch, Threads: recordedThreads(s)}
	if others := s.Environment.OthersBusyCores; others != nil {
		recorded.Others = *others
	}
	text, err := rerun.Script(alone, recorded)
	if err != nil {
		return nil, "", unusable(fmt.Errorf("isolate: %w", err))
	}
	return ops, text, nil
}

func (o *isolateOptions) there() string {
	if o.line == "" {
		return ""
	}
	return " at " + o.line
}

// flopsOf are the floating-point operations of a call, 0 where they are not known.
func flopsOf(op *rerun.Op) (flops int64, formula string) {
	shapes, concrete := string(op.Shapes), string(op.Concrete)
	flops, _, formula = arguments.MatrixWork(op.Name, shapes, concrete, arguments.Texts(string(op.Types)))
	if flops == 0 {
		flops, formula = arguments.Flops(op.Name, shapes, concrete), "as torch.profiler counts them"
	}
	return max(flops, 0), formula
}

// peaksOf fills in what the device that an operator ran on could do, where that is known.
func peaksOf(s *model.Session, op *rerun.Alone) {
	types := arguments.Texts(string(op.Types))
	if op.Device == "" || len(types) == 0 {
		return
	}
	for _, t := range s.Traces {
		if len(t.Header.Devices) == 0 {
			continue
		}
		if peaks := device.PeaksOf(t.Header.Devices[0]); peaks != nil {
			format, width := arguments.ElementType(types[0])
			op.PeakOf, op.PeakBytes = fmt.Sprintf("%s (%v)", peaks.Name, format), peaks.GBs*1e9
			if width > 0 {
				op.PeakFlops = peaks.Rates[format] * 1e12
			}
			return
		}
	}
}

// atLine is what chooses the operators of a line of the program.
func atLine(s *model.Session, text string) (func(t *model.Trace) func(id model.EventID) bool, error) {
	at := strings.LastIndexByte(text, ':')
	line, err := strconv.Atoi(text[at+1:])
	if at <= 0 || err != nil || line < 1 {
		return nil, usage("--line: %q is not like train.py:42", text)
	}
	file, known := text[:at], false
	of := func(t *model.Trace) func(id model.EventID) bool {
		places := code.NewFinder(t, s.Strings)
		return func(id model.EventID) bool {
			w := places.Of(id)
			return int(w.Line) == line && (w.File == file || strings.HasSuffix(filepath.ToSlash(w.File), "/"+path.Clean(file)))
		}
	}
	for _, t := range s.Traces {
		places := code.NewFinder(t, s.Strings)
		for i := 0; i < t.Events.Len() && !known; i++ {
			known = t.Events.Kind[i] == model.KindOp && places.Of(model.EventID(i)).File != ""
		}
	}
	if !known {
		return nil, unusable(errors.New("isolate: the recording does not say from which lines operators were called: " +
			"record it with bottleneck run --with-stack --record-shapes, or profile(with_stack=True, record_shapes=True)"))
	}
	return of, nil
}

// write writes the script to a file of its own.
func (o *isolateOptions) write(a *app, ops []rerun.Op, script string) error {
	if o.output == "-" {
		_, err := io.WriteString(a.stdout, script)
		return err
	}
	name := o.output
	if name == "" {
		name = "isolate_" + strings.TrimPrefix(ops[0].Name, "aten::") + ".py"
		if len(ops) > 1 && o.op == "" {
			name = fmt.Sprintf("isolate_top%d.py", len(ops))
		}
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if o.force {
		flags = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(name, flags, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return usage("isolate: %s is there already; overwrite it with --force, or write to another with -o FILE", name)
	} else if err != nil {
		return unusable(fmt.Errorf("%s: %w", name, cause(err)))
	}
	_, err = io.WriteString(f, script)
	if err = errors.Join(err, f.Close()); err != nil {
		return unusable(fmt.Errorf("%s: %w", name, cause(err)))
	}
	if !o.run {
		safe := view.Safe(a.stdout, false)
		for i := range ops {
			fmt.Fprintf(safe, "%s %s, recorded %.1f µs\n", ops[i].Name, ops[i].Shapes, ops[i].RecordedUs)
		}
		fmt.Fprintf(safe, "run it: python %s\n", name)
		return safe.Close()
	}
	return nil
}
