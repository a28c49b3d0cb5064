package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/report"
)

// Format is one form in which a session can leave.
type Format struct {
	Name        string
	Description string // one line, for `export --list`
	Suffix      string // usual ending of the file's name, with the dot
	// Write streams the form to w. What the session does not hold for it is an *UnavailableError.
	Write func(ctx context.Context, s *model.Session, w io.Writer, opt Options) error
	// WriteDir is set instead where the form is a directory of files; Write then says so in an error.
	WriteDir func(ctx context.Context, s *model.Session, dir string, opt Options) error
	// WriteDiff writes what differs between two sessions, in forms that can say it; nil in others.
	WriteDiff func(ctx context.Context, before, after *model.Session, w io.Writer, opt Options) error
	// Compares says that WriteDiff shows what a comparison found, which Options.Diff holds then.
	Compares bool
}

// Options are the choices of all formats; each uses those that mean something to it.
type Options struct {
	// Path is where the output goes, where that is known: formats with several forms choose by its suffix as torch does.
	Path string
	// Device is the device of a memory timeline ("cuda:0", "cpu"); "" is the first one that has memory events.
	Device string
	// Metric is what stacks are weighted by: one of StackMetrics; "" is self_cpu_time_total.
	Metric string
	// Rank limits the output to one rank's traces; model.NoRank is all of them.
	Rank int
	// Worker names the process in the files of a directory; "" is <host>_<process>.
	Worker string
	// Gzip compresses the files of a directory.
	Gzip bool
	// GroupByInputShapes, GroupByStackN and GroupByModule split the rows of key averages.
	GroupByInputShapes bool
	GroupByStackN      int
	GroupByModule      bool
	// SortBy orders key averages by one of torch's sort keys, largest first; "" keeps the order of appearance.
	SortBy string
	// RowLimit cuts key averages; 0 or less writes all.
	RowLimit int
	// Version is of bottleneck; Source is how the user named what is exported. A page shows both.
	Version, Source string
	// Diff is the comparison of two sessions, for forms that show one.
	Diff *report.Diff
}

// UnavailableError says that a session holds nothing for a format, and how to record what it needs.
type UnavailableError struct{ Format, Need string }

// Error names the format and what it needs.
func (e *UnavailableError) Error() string {
	return "export --to " + e.Format + ": nothing to write: " + e.Need
}

// formats are all that there is, by name: a file writes each.
var formats = []Format{
	{
		Name: "chrome", Suffix: ".json", Write: writeChrome,
		Description: "Chrome trace (Kineto's form), for Perfetto, chrome://tracing, HTA and TensorBoard; damage repaired",
	},
	{
		Name: "csv", Suffix: ".csv", Write: writeCSV,
		Description: "operator table (key averages) as comma-separated values, times in microseconds",
	},
	{
		Name: "events", Suffix: ".jsonl", Write: writeEvents,
		Description: "torch.profiler's events(): one JSON object per event and line, in order of time, times in microseconds",
	},
	{
		Name: "folded", Suffix: ".folded", Write: writeFolded, WriteDiff: writeFoldedDiff,
		Description: "Python samples as folded stacks with counts, for flamegraph.pl, inferno and speedscope",
	},
	{
		Name: "gecko", Suffix: ".gecko.json", Write: writeGecko,
		Description: "Python samples for profiler.firefox.com, one track per thread",
	},
	{
		Name: "html", Suffix: ".html", Write: writeHTML, WriteDiff: writeHTMLDiff, Compares: true,
		Description: "the page of `bottleneck view` as one file: opens without a server or a network",
	},
	{
		Name: "json", Suffix: ".json", Write: writeAveragesJSON,
		Description: "operator table (key averages) as a JSON list, times in microseconds",
	},
	{
		Name: "lightning", Suffix: ".txt", Write: writeLightning,
		Description: "a trainer's actions as Lightning's SimpleProfiler prints them, one table per rank",
	},
	{
		Name: "lightning-operators", Suffix: ".txt", Write: writeLightningOperators,
		Description: "the operators of each of a trainer's actions, in the form of Lightning's PyTorchProfiler",
	},
	{
		Name: "lprof", Suffix: ".lprof", Write: writeLprof,
		Description: "line_profiler's file, for python -m line_profiler: hits and time of lines, from --lines",
	},
	{
		Name: "memory-timeline", Suffix: ".json", Write: writeMemoryTimeline,
		Description: "torch.profiler's export_memory_timeline: .json, .json.gz, .raw.json.gz or .html by the file's name",
	},
	{
		Name: "pprof", Suffix: ".pb.gz", Write: writePprof, WriteDiff: writePprofDiff,
		Description: "Python samples for go tool pprof: samples, wall, CPU and GIL time, with labels for process, thread and state",
	},
	{
		Name: "pstats", Suffix: ".prof", Write: writePstats,
		Description: "cProfile's file, for pstats and snakeviz: exact calls, from --calls or from a trace with stacks",
	},
	{
		Name: "speedscope", Suffix: ".speedscope.json", Write: writeSpeedscope, WriteDiff: writeSpeedscopeDiff,
		Description: "Python samples for speedscope, one profile per thread, on a true time axis",
	},
	{
		Name: "stacks", Suffix: ".txt", Write: writeStacks,
		Description: "torch.profiler's export_stacks: one line per operator with its Python stack, for flamegraph.pl and speedscope",
	},
	{
		Name: "tensorboard", Write: refuseStream, WriteDir: writeTensorboard,
		Description: "directory of traces named as tensorboard_trace_handler names them, one file per trace",
	},
}

// Formats lists all formats by name.
func Formats() []Format { return slices.Clone(formats) }

// ErrUnknownFormat is returned by Find, wrapped with the names that exist.
var ErrUnknownFormat = errors.New("unknown format")

// Find gives the format of that name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("%w %q: choose one of %s", ErrUnknownFormat, name, strings.Join(names, ", "))
}

// buffered runs f with a buffered writer around w and flushes it; write errors surface at the flush.
func buffered(w io.Writer, f func(*bufio.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<18)
	if err := f(b); err != nil {
		return err
	}
	return b.Flush()
}
