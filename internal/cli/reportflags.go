package cli

import (
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// reportOptions are the flags of everything that prints a report.
type reportOptions struct {
	json, output, style string
	sections            []string
	all                 bool
	events              bool
	ranks               string
	sortBy              string
	rowLimit            int
	groupBy             []string
	maxNameWidth        int
	maxSourceWidth      int
	maxShapesWidth      int
	header, timeUnit    string
	reportDir, filename string
	topLevelOnly        bool
	samples             sampleOptions
	gpu                 gpuOptions
	fixes               fixOptions
	window              windowOptions
	build               report.Options
	text                view.TextOptions
}

func (o *reportOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.json, "json", "", "write the report document to `FILE` (- = standard output)")
	f.StringVarP(&o.output, "output", "o", "", "write the text to `FILE`")
	f.StringSliceVar(&o.sections, "section", nil, "print these sections only: `LIST` of "+strings.Join(sectionNames(), ", "))
	f.BoolVar(&o.all, "all", false, "print every section with every row")
	f.StringVar(&o.ranks, "rank", "", "show these `RANKS` only, like 0,4-7")
	f.StringVar(&o.sortBy, "sort-by", "", "sort the operator table by `COLUMN`, in torch.profiler's words (self_cpu_time_total, …)")
	f.IntVar(&o.rowLimit, "row-limit", 0, "at most `N` rows in a table (-1 = all)")
	f.StringSliceVar(&o.groupBy, "group-by", nil, "split the operator table by `KEYS`: input-shape, stack=N, module")
	f.StringVar(&o.style, "style", "report", "`STYLE` of the text: report, torch (torch.profiler's table), lightning (SimpleProfiler's, "+
		"and AdvancedProfiler's after --calls) or classic (torch.utils.bottleneck's)")
	f.StringVar(&o.reportDir, "report-dir", "",
		"with --style lightning, write one file per rank and stage into `DIR`, named as Lightning names them")
	f.StringVar(&o.filename, "filename", "actions", "with --report-dir, the files' `NAME`, between stage and rank")
	f.IntVar(&o.maxNameWidth, "max-name-width", 55, "widest name in torch's table, in `COLUMNS`")
	f.IntVar(&o.maxSourceWidth, "max-src-column-width", 75, "widest source location in torch's table, in `COLUMNS`")
	f.IntVar(&o.maxShapesWidth, "max-shapes-column-width", 80, "widest input shapes in torch's table, in `COLUMNS`")
	f.StringVar(&o.header, "header", "", "`TEXT` above torch's table")
	f.StringVar(&o.timeUnit, "time-unit", "", "`UNIT` of times in torch's table: s, ms or us (default: the fitting one)")
	f.BoolVar(&o.topLevelOnly, "top-level-events-only", false, "only operators that no other called, in torch's table")
}

func sectionNames() []string {
	var names []string
	for _, s := range view.Sections() {
		names = append(names, s.Name)
	}
	return names
}

// deviceWord turns torch.profiler's old and per-device names of sort keys into its present ones.
var deviceWord = strings.NewReplacer("cuda", "device", "xpu", "device", "mtia", "device", "hpu", "device", "privateuse1", "device")

// sortKeys are the words that --sort-by knows: torch.profiler's and, for exact calls, pstats'; "" is the table's own order.
func sortKeys() []string {
	return slices.Compact(append(append([]string{""}, view.TorchSortKeys()...), view.CallSortKeys()...))
}

// check turns the flags into options of package view.
func (o *reportOptions) check(*cobra.Command) error {
	if err := oneOf("--style", o.style, "report", "torch", "lightning", "classic"); err != nil {
		return err
	}
	if err := oneOf("--time-unit", o.timeUnit, "", "s", "ms", "us"); err != nil {
		return err
	}
	for _, s := range o.sections {
		if err := oneOf("--section", s, sectionNames()...); err != nil {
			return err
		}
	}
	o.sortBy = deviceWord.Replace(o.sortBy)
	if err := oneOf("--sort-by", o.sortBy, sortKeys()...); err != nil {
		return err
	}
	ranks, err := parseRanks(o.ranks)
	if err != nil {
		return usage("--rank: %v", err)
	}
	for _, key := range o.groupBy {
		name, value, _ := strings.Cut(strings.ReplaceAll(key, "_", "-"), "=")
		switch name {
		case "input-shape":
			o.build.GroupByInputShape = true
		case "stack":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return usage("--group-by stack=N needs a number of frames")
			}
			o.build.GroupByStack = n
		case "module":
			o.build.GroupByModule = true
		default:
			return usage("--group-by: unknown key %q%s; known: input-shape, stack=N, module", key,
				didYouMean(name, []string{"input-shape", "stack", "module"}))
		}
	}
	if o.build.GroupByModule && o.style == "torch" {
		return usage("--group-by module: torch's table has no modules; leave --style torch out, or use bottleneck export --to csv")
	}
	o.build.Version, o.build.Ranks = Version(), ranks
	o.text = view.TextOptions{Sections: o.sections, All: o.all, RowLimit: o.rowLimit, SortBy: o.sortBy, Ranks: ranks}
	return nil
}
