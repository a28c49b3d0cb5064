package compare

import (
	"bottleneck/internal/report"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Bounds that keep a baseline below 50 KB.
const (
	maxBaselineOps    = 120
	maxBaselineLines  = 25
	maxBaselineText   = 120
	maxBaselineHashes = 2000
	maxBaselineBytes  = 50 << 10
)

// NewBaseline makes the baseline of runs.
func NewBaseline(s Side, version string) (*report.Baseline, error) {
	c, basis, err := alone(s)
	if err != nil {
		return nil, err
	}
	r := s.Runs[0].Report
	b := &report.Baseline{Schema: report.BaselineSchema, Tool: version, Program: program(r), Machine: machine(r), Software: software(r),
		Per: c.per, Basis: basis, RunsMs: times(c.after), Counters: c.baselineCounters(), Lines: []report.BaselineLine{}}
	for i := range b.RunsMs {
		b.RunsMs[i] = rounded(b.RunsMs[i])
	}
	lines := c.lineTimes()
	for _, l := range lines[:min(len(lines), maxBaselineLines)] {
		l.Ms, l.File = rounded(l.Ms), path.Base(l.File)
		if len(l.Text) > maxBaselineText {
			l.Text = strings.ToValidUTF8(l.Text[:maxBaselineText], "")
		}
		b.Lines = append(b.Lines, l)
	}
	b.Known = knownLines(userSources(s))
	return b, nil
}

// ReadBaseline reads what NewBaseline made and view.WriteBaseline wrote.
func ReadBaseline(text []byte) (*report.Baseline, error) {
	b := &report.Baseline{}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, fmt.Errorf("it is no baseline: %w", err)
	}
	if b.Schema != report.BaselineSchema {
		return nil, fmt.Errorf("it is no baseline of this version: schema %q, not %q", b.Schema, report.BaselineSchema)
	}
	for _, ms := range b.RunsMs {
		if !(ms > 0) || math.IsInf(ms, 0) {
			return nil, fmt.Errorf("its run of %v ms makes no sense", ms)
		}
	}
	return b, nil
}

// alone brings one side to its own best unit.
func alone(s Side) (c *comparison, basis string, err error) {
	if len(s.Runs) == 0 {
		return nil, "", fmt.Errorf("no run")
	}
	c = &comparison{per: perStep, texts: relate(nil, userSources(s))}
	if basis = commonBasis(perStep, s); basis == "" {
		c.per, basis = perRun, commonBasis(perRun, s)
	}
	if basis == "" {
		return nil, "", fmt.Errorf("%s holds no times", s.Path)
	}
	c.after, err = timeSide(s, c.per, basis, false)
	return c, basis, err
}

// rounded keeps six digits, so that a baseline is short.
func rounded(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return out
}

// machine is what times depend on.
func machine(r *report.Report) map[string]string {
	e := &r.Environment
	return known(map[string]string{"cpu": e.CPUModel, "cores": whole(e.CPUs), "quota": number(e.CPUQuota), "gpu": gpus(e)})
}

// software is what counts can depend on.
func software(r *report.Report) map[string]string {
	e := &r.Environment
	out := map[string]string{"python": e.Python, "torch": e.Torch, "cuda": e.CUDA, "hip": e.HIP, "batch": size(items(r)),
		"arguments": arguments(r)}
	for name, value := range e.Threads {
		out[name] = value
	}
	return known(out)
}

func known(m map[string]string) map[string]string {
	for name, value := range m {
		if value == "" {
			delete(m, name)
		}
	}
	return m
}

// baselineCounters are the counters of all runs, each from its least to its most: sums, and the operators that are called most.
func (c *comparison) baselineCounters() []report.CountRow {
	index := map[counterKey]int{}
	seen := map[counterKey]int{}
	var out []report.CountRow
	for i := range c.after {
		for _, row := range countRows(&c.after[i]) {
			if row.Kind == "call" || row.Kind == "function" {
				continue
			}
			key := counterKey{kind: row.Kind, name: row.Name}
			seen[key]++
			at, has := index[key]
			if !has {
				index[key] = len(out)
				row.Under, row.Where = nil, nil
				out = append(out, row)
				continue
			}
			out[at].Low, out[at].High = min(out[at].Low, row.Low), max(out[at].High, row.High)
		}
	}
	for i := range out { // a run that never met it counts 0
		if seen[counterKey{kind: out[i].Kind, name: out[i].Name}] < len(c.after) {
			out[i].Low = 0
		}
	}
	slices.SortStableFunc(out, func(x, y report.CountRow) int {
		return cmp.Or(cmp.Compare(kindOrder(x.Kind), kindOrder(y.Kind)), cmp.Compare(y.Value, x.Value))
	})
	sums := slices.IndexFunc(out, func(r report.CountRow) bool { return r.Kind == "op" })
	if sums < 0 {
		sums = len(out)
	}
	return out[:min(len(out), sums+maxBaselineOps)]
}

// lineTimes are the user's lines by their own time in the unit, mean over the runs, most first.
func (c *comparison) lineTimes() []report.BaselineLine {
	s := collect(c.after, func(t *timed) []item { return c.lines(t, false) })
	var out []report.BaselineLine
	for _, key := range s.order {
		it := s.items[key]
		if it.where != nil && it.text != "" {
			out = append(out, report.BaselineLine{File: it.where.File, Line: it.where.Line, Text: it.text, Ms: meanOf(it.ms)})
		}
	}
	slices.SortStableFunc(out, func(x, y report.BaselineLine) int { return cmp.Compare(y.Ms, x.Ms) })
	return out
}

// knownLines are the hashes of the lines of texts, eight digits each, sorted.
func knownLines(sources map[string][]string) string {
	all := map[string]bool{}
	for file, text := range sources {
		for _, f := range functionsOf(file, text) {
			for _, l := range f.lines {
				all[lineHash(l.text)] = true
			}
		}
	}
	if len(all) > maxBaselineHashes {
		return ""
	}
	list := make([]string, 0, len(all))
	for h := range all {
		list = append(list, h)
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

func lineHash(line string) string {
	h := fnv.New32a()
	h.Write([]byte(line))
	return fmt.Sprintf("%08x", h.Sum32())
}

// newLines are the lines of texts that a baseline did not know, in the order of files and lines.
func newLines(known string, sources map[string][]string) []place {
	if known == "" {
		return nil
	}
	old := map[string]bool{}
	for at := 0; at+8 <= len(known); at += 8 {
		old[known[at:at+8]] = true
	}
	var out []place
	for _, f := range allFunctions(sources, map[place]*function{}) {
		for _, l := range f.lines {
			if !old[lineHash(l.text)] {
				out = append(out, place{f.file, l.number})
			}
		}
	}
	return out
}
