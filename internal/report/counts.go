package report

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/counts"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// SectionCounts asks for Report.Counts where Options.Sections names what is to be made; the text has no such section.
const SectionCounts = "counts"

// countWords are the kinds of rows that traces give, as the document calls them, and their units.
var countWords = map[counts.Kind][2]string{
	counts.Ops: {"operators", "calls"}, counts.Op: {"op", "calls"}, counts.Call: {"call", "calls"},
	counts.Launches: {"launches", "calls"}, counts.Copies: {"copies", "calls"}, counts.CopyBytes: {"copied", "bytes"},
	counts.Syncs: {"synchronisations", "calls"}, counts.Reserves: {"driver-allocations", "calls"},
	counts.Allocations: {"allocations", "times"}, counts.AllocBytes: {"allocated", "bytes"},
}

// maxCountRows bounds the rows of single calls, of which a large program with call stacks has very many.
const maxCountRows = 2000

// stepCounts counts traces with steps, and traces without apart: those count only where no trace has any.
type stepCounts struct{ steps, whole counts.Counter }

func (c *stepCounts) add(s *model.Session, t *model.Trace) {
	if steps := counts.TracedSteps(s, t); len(steps) > 0 {
		c.steps.Add(t, s.Strings, steps)
	} else if t.To >= t.From {
		c.whole.Add(t, s.Strings, []times.Interval{{Start: t.From, End: t.To + 1}})
	}
}

func (c *stepCounts) merge(o *stepCounts, keep func(string) string) {
	o.steps.Keep(keep)
	o.whole.Keep(keep)
	c.steps.Merge(&o.steps)
	c.whole.Merge(&o.whole)
}

// counts fills Report.Counts.
func (b *Builder) counts() {
	var c stepCounts
	if b.merged != nil {
		c = b.merged.counts
	} else {
		for _, t := range b.S.Traces {
			c.add(b.S, t)
		}
	}
	out := &Counts{Per: "step", Rows: []CountRow{}}
	counter := &c.steps
	if counter.Steps() == 0 {
		out.Per, counter = "recording", &c.whole
	}
	out.Steps = counter.Steps()
	for _, row := range counter.Rows() {
		if len(out.Rows) < maxCountRows {
			out.Rows = append(out.Rows, countRow(row, out.Per))
		}
	}
	out.Rows = append(out.Rows, b.runCounts()...)
	if len(out.Rows) > 0 {
		b.R.Counts = out
	}
}

func countRow(c counts.Row, per string) CountRow {
	words := countWords[c.Kind]
	row := CountRow{Kind: words[0], Unit: words[1], Name: c.Name, Per: per, Value: c.Median, Low: float64(c.Low), High: float64(c.High),
		Exact: true, Under: c.Under}
	if c.Where.File != "" {
		w := traceWhere(c.Where)
		w.File = CleanPath(w.File)
		row.Where = &w
	}
	return row
}

// runCounts are what the agent and the launcher counted over the whole run.
func (b *Builder) runCounts() []CountRow {
	var rows []CountRow
	add := func(kind, unit string, value float64, exact bool) {
		rows = append(rows, CountRow{Kind: kind, Unit: unit, Per: "run", Value: value, Low: value, High: value, Exact: exact})
	}
	compiles, again, breaks, collections, compiled := 0, 0, 0.0, 0.0, false
	for _, p := range b.S.Processes {
		breaks += p.Counters["graph_breaks"]
		collections += p.Counters["gc_collections"]
		for i := range p.Spans {
			if sp := &p.Spans[i]; sp.Kind == model.SpanCompile && p.Role != model.RoleCompile {
				compiles++
				if sp.Detail != 0 {
					again++
				}
			}
		}
		compiled = compiled || compiles > 0 || p.Counters["graph_breaks"] > 0
	}
	if compiled {
		add("graph-breaks", "times", breaks, true)
		add("compilations", "times", float64(compiles), true)
		add("recompilations", "times", float64(again), true)
	}
	if collections > 0 {
		add("collections", "times", collections, false) // what the agent itself makes moves them
	}
	if n, any := b.epochs(); any {
		add("loader-starts", "times", n, true)
	}
	if run := b.S.Run; run != nil && run.PeakBytes > 0 {
		add("peak-memory", "bytes", float64(run.PeakBytes), false)
	}
	for _, io := range b.files() {
		rows = append(rows, io...)
	}
	return rows
}

// epochs is how often a DataLoader was begun anew: how many waits were for its first batch.
func (b *Builder) epochs() (n float64, any bool) {
	for _, p := range b.S.Processes {
		for i := range p.Spans {
			if sp := &p.Spans[i]; sp.Kind == model.SpanDataWait && p.Role != model.RoleWorker {
				any = true
				if sp.Value == 0 {
					n++
				}
			}
		}
	}
	return n, any
}

// files are how often torch.save and torch.load ran, and the sizes of their files.
func (b *Builder) files() [][]CountRow {
	type sum struct{ calls, bytes float64 }
	sums := map[string]*sum{}
	for _, p := range b.S.Processes {
		for i := range p.Spans {
			sp := &p.Spans[i]
			name := b.S.Strings.Text(sp.Name)
			if sp.Kind != model.SpanIO || !strings.HasPrefix(name, "torch.") {
				continue
			}
			if sums[name] == nil {
				sums[name] = &sum{}
			}
			sums[name].calls++
			sums[name].bytes += float64(max(sp.Value, 0))
		}
	}
	var out [][]CountRow
	for name, s := range sums {
		row := CountRow{Kind: "files", Name: name, Unit: "times", Per: "run", Value: s.calls, Low: s.calls, High: s.calls, Exact: true}
		size := CountRow{Kind: "file-bytes", Name: name, Unit: "bytes", Per: "run", Value: s.bytes, Low: s.bytes,
			High: s.bytes, Exact: true}
		out = append(out, []CountRow{row, size})
	}
	slices.SortFunc(out, func(x, y []CountRow) int { return cmp.Compare(x[0].Name, y[0].Name) })
	return out
}
