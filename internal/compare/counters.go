package compare

import (
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
	"cmp"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
)

// counter is one number on both sides.
type counter struct {
	row           report.CountRow // of the side that has it
	before, after []report.CountRow
}

type counterKey struct{ kind, name, place string }

// counters compares what both sides counted. A side that cannot tell a kind leaves it out; a single operator that one side never calls is 0
// there, where that side counts operators at all.
func (c *comparison) counters() []report.DiffCount {
	index := map[counterKey]*counter{}
	var order []counterKey
	kinds := [2]map[string]bool{{}, {}}
	for side, runs := range [2][]timed{c.before, c.after} {
		for i := range runs {
			for _, row := range countRows(&runs[i]) {
				key := c.counterKey(&row, side == 1)
				if index[key] == nil {
					index[key] = &counter{row: row}
					order = append(order, key)
				}
				kinds[side][row.Kind] = true
				if side == 0 {
					index[key].before = append(index[key].before, row)
				} else {
					index[key].after = append(index[key].after, row)
				}
			}
		}
	}
	var out []report.DiffCount
	for _, key := range order {
		if kinds[0][key.kind] && kinds[1][key.kind] {
			if d := c.count(index[key]); d.Different || d.Kind != "function" && d.Kind != "call" {
				out = append(out, d)
			}
		}
	}
	c.nameLines(out)
	slices.SortStableFunc(out, func(x, y report.DiffCount) int {
		return cmp.Or(-compareBool(x.Different, y.Different), cmp.Compare(kindOrder(x.Kind), kindOrder(y.Kind)),
			cmp.Compare(math.Abs(y.Difference), math.Abs(x.Difference)))
	})
	return out
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// kindOrder puts the sums first, then single operators, then single lines.
func kindOrder(kind string) int { return slices.Index([]string{"op", "function", "call"}, kind) }

// countRows are the counts of a run, and the calls of functions where those were counted exactly, per run.
func countRows(t *timed) []report.CountRow {
	var out []report.CountRow
	if t.Report.Counts != nil {
		out = append(out, t.Report.Counts.Rows...)
	}
	for i := range t.Report.Calls {
		f := &t.Report.Calls[i]
		row := report.CountRow{Kind: "function", Name: address.ReplaceAllString(f.Function, ""), Per: perRun, Unit: "calls",
			Value: float64(f.Hits), Low: float64(f.Hits), High: float64(f.Hits), Exact: true}
		row.Where = &report.Where{File: f.File, Line: f.Line, Function: f.Function}
		out = append(out, row)
	}
	return out
}

// counterKey is the same on both sides; lines and functions by their place before the change.
func (c *comparison) counterKey(row *report.CountRow, after bool) counterKey {
	key := counterKey{kind: row.Kind, name: row.Name}
	if row.Where == nil {
		return key
	}
	if row.Kind == "function" {
		key.name, key.place = "", c.function(row.Where.File, row.Where.Line, row.Name, after, item{}).key
		return key
	}
	key.place = c.lineKey(place{row.Where.File, row.Where.Line}, row.Where.Function, "", after)
	return key
}

// count judges one counter. Counts that are the same in every step of a run decide at once; those that vary decide where the two sides have
// no value in common; those that are not exact need enough runs.
func (c *comparison) count(of *counter) report.DiffCount {
	row := of.row
	out := report.DiffCount{Kind: row.Kind, Name: row.Name, Per: row.Per, Unit: row.Unit, Exact: row.Exact}
	a, b := values(of.before, len(c.before)), values(of.after, len(c.after))
	lowA, highA := bounds(of.before, len(c.before))
	lowB, highB := bounds(of.after, len(c.after))
	out.Before, out.After = medianValue(a), medianValue(b)
	out.Difference = out.After - out.Before
	apart := lowB > highA || highB < lowA
	steps := c.steps()
	switch {
	case row.Kind == "function":
		out.Exact = lowA == highA && lowB == highB
		out.Different = apart && steps > 0 && oftenEnough(out.Difference/steps)
		if steps > 0 {
			out.Per, out.Before, out.After, out.Difference = perStep, out.Before/steps, out.After/steps, out.Difference/steps
		}
	case row.Exact:
		out.Different = apart
	case len(a) >= FewestRuns && len(b) >= FewestRuns:
		out.Different = stats.RankSum(a, b) <= rowLevel
	}
	if row.Where != nil && row.Where.File != "" && row.Where.File != "~" && (row.Kind == "call" || row.Kind == "function") {
		out.Where = &report.Place{File: row.Where.File, Line: row.Where.Line}
		if row.Kind == "call" {
			out.Because = "call stacks"
		}
	}
	return out
}

// oftenEnough says that a difference of calls a step is one of the steps: a whole number of calls in each. What starting up and measuring
// call comes to no such number.
func oftenEnough(perStep float64) bool {
	whole := math.Round(perStep)
	return whole != 0 && math.Abs(perStep-whole) <= 0.02*math.Abs(whole)
}

// values are the medians of a counter by run; runs that never met it count 0.
func values(rows []report.CountRow, runs int) []float64 {
	out := make([]float64, runs)
	for i := range rows[:min(len(rows), runs)] {
		out[i] = rows[i].Value
	}
	return out
}

func bounds(rows []report.CountRow, runs int) (low, high float64) {
	if len(rows) < runs || len(rows) == 0 {
		rows = append(slices.Clip(rows), report.CountRow{})
	}
	low, high = math.Inf(1), math.Inf(-1)
	for i := range rows {
		low, high = min(low, rows[i].Low), max(high, rows[i].High)
	}
	return low, high
}

// steps is how many steps each run took, 0 where they took different numbers.
func (c *comparison) steps() float64 {
	n := -1
	for _, runs := range [2][]timed{c.before, c.after} {
		for i := range runs {
			r := runs[i].Report
			if len(r.Steps) == 0 || n >= 0 && r.Steps[0].Count != n {
				return 0
			}
			n = r.Steps[0].Count
		}
	}
	return float64(max(n, 0))
}

// opWords are what a program writes for operators that are called by another name.
var opWords = map[string][]string{
	"item": {".item(", "float(", "int(", "bool(", ".tolist("}, "_local_scalar_dense": {".item(", "float(", "int(", "bool(", ".tolist("},
	"copy":     {".copy_(", ".to(", ".cuda(", ".cpu(", ".clone(", ".contiguous("},
	"_to_copy": {".to(", ".cuda(", ".cpu(", ".float(", ".half(", ".double("}, "clone": {".clone(", ".contiguous("},
	"empty_like": {"empty_like(", ".clone("}, "mm": {"matmul(", ".mm(", " @ "}, "addmm": {"Linear", "addmm("}, "open": {"open("},
}

// saysSo is how a line is known that no call stack named.
const saysSo = "the only changed line that says so"

// address is a part of the names of functions written in C that differs from run to run.
var address = regexp.MustCompile(` object at 0x[0-9a-f]+`)

// graphBreakers are what torch.compile often cannot follow.
var graphBreakers = []string{"print(", ".item(", ".tolist(", ".numpy(", "graph_break(", "float(", "int(", "open(",
	"logging", "logger", "time."}

// nameLines finds the line behind each counter that differs, where call stacks did not tell: the only changed line that says the name, or
// the only line that was added or removed at all.
func (c *comparison) nameLines(counts []report.DiffCount) {
	for i := range counts {
		d := &counts[i]
		if !d.Different || d.Because != "" || d.Kind == "operators" {
			continue
		}
		changed, sources := c.texts.added, c.texts.after
		if d.Difference < 0 {
			changed, sources = c.texts.removed, c.texts.before
		}
		words := wordsOf(d)
		var said []place
		for _, at := range changed {
			if line := text(sources, at); slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
				said = append(said, at)
			}
		}
		switch {
		case len(said) == 1:
			lineIs(d, said[0], sources, saysSo)
		case len(said) == 0 && len(changed) == 1:
			lineIs(d, changed[0], sources, "the only changed line")
		}
	}
}

func lineIs(d *report.DiffCount, at place, sources map[string][]string, because string) {
	d.Where, d.Text, d.Because = &report.Place{File: at.file, Line: at.line}, text(sources, at), because
}

// wordsOf is what a line may say that makes a counter differ.
func wordsOf(d *report.DiffCount) []string {
	switch d.Kind {
	case "graph-breaks", "compilations", "recompilations":
		return graphBreakers
	case "synchronisations":
		return append(slices.Clone(opWords["item"]), "synchronize(", ".cpu(", "nonzero(")
	case "copies", "copied":
		return opWords["copy"]
	case "files", "file-bytes":
		return []string{path.Ext(d.Name)[min(1, len(path.Ext(d.Name))):] + "("}
	}
	name := d.Name
	if at := strings.LastIndex(name, "::"); at >= 0 {
		name = name[at+2:]
	}
	name = strings.TrimSuffix(strings.Trim(name[strings.LastIndexAny(name, " .")+1:], "<>{}"), "_")
	if words := opWords[name]; words != nil {
		return words
	}
	return []string{name + "(", name + "_("}
}
