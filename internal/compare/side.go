package compare

import (
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Run is one run of a side: its report, and the texts of the program's files by path.
type Run struct {
	Report  *report.Report
	Sources map[string][]string
	Ablated float64 // how often the agent took a cause away, where it was asked to
}

// Side is one of the two that are compared. It has at least one run.
type Side struct {
	Path string // how the user named it
	Runs []Run
}

// Units of comparisons.
const (
	perStep  = "step"
	perItem  = "item"
	perToken = "token"
	perRun   = "run"
)

// Units are the values of Options.Per.
func Units() []string { return []string{perStep, perItem, perToken, perRun} }

// Bases of times, the best first.
const (
	basisUnprofiled = "unprofiled steps"
	basisTraced     = "traced steps"
	basisRun        = "run"
	basisSamples    = "samples"
	basisRecording  = "recording"
	basisCalls      = "calls"
)

// timed is one run with its time in the unit of the comparison.
type timed struct {
	Run
	report.DiffRun
	// perStep turns milliseconds (or calls) of a step into those of the unit, perRun those of the whole run, perTrace sums over all traces.
	perStep, perRun, perTrace float64
}

// bases are the times that a report offers for a unit, in milliseconds.
func bases(r *report.Report, per string) map[string]report.DiffRun {
	out := map[string]report.DiffRun{}
	if per != perRun {
		if len(r.Steps) > 0 {
			addSteps(out, basisUnprofiled, r.Steps[0].Baseline)
			addSteps(out, basisTraced, r.Steps[0].Traced)
		}
		return out
	}
	if r.Run != nil && r.Run.WallS > 0 {
		out[basisRun] = report.DiffRun{Ms: 1e3 * r.Run.WallS, Count: 1}
	}
	switch {
	case r.Account != nil && r.Account.Unit == "run" && r.Account.TotalMs > 0 && r.Python == nil:
		out[basisRecording] = report.DiffRun{Ms: r.Account.TotalMs, Count: 1}
	case r.Account != nil && r.Account.Unit == "run" && r.Account.TotalMs > 0:
		out[basisSamples] = report.DiffRun{Ms: r.Account.TotalMs, Count: 1}
	case r.Account == nil && r.Python != nil && r.Python.ScopeS > 0:
		out[basisSamples] = report.DiffRun{Ms: 1e3 * r.Python.ScopeS, Count: 1}
	case len(r.Steps) > 0 && r.Steps[0].TotalS > 0:
		out[basisTraced] = report.DiffRun{Ms: 1e3 * r.Steps[0].TotalS, Count: 1}
	}
	if ms := callsMs(r); ms > 0 {
		out[basisCalls] = report.DiffRun{Ms: ms, Count: 1}
	}
	return out
}

func addSteps(out map[string]report.DiffRun, basis string, q *report.Quantiles) {
	if q != nil && q.Count > 0 && q.MedianMs > 0 {
		out[basis] = report.DiffRun{Ms: q.MedianMs, Count: q.Count, ErrorMs: q.ErrorMs, Effective: q.Effective}
	}
}

// callsMs is the time of exact call counts or, without them, of single lines.
func callsMs(r *report.Report) float64 {
	sum := 0.0
	for i := range r.Calls {
		sum += r.Calls[i].SelfS
	}
	if sum == 0 {
		for i := range r.Lines {
			sum += r.Lines[i].SelfS
		}
	}
	return 1e3 * sum
}

// commonBasis is the best basis that all runs have for a unit, "" if there is none.
func commonBasis(per string, sides ...Side) string {
	for _, basis := range []string{basisUnprofiled, basisRun, basisSamples, basisRecording, basisTraced, basisCalls} {
		all := true
		for _, s := range sides {
			for _, run := range s.Runs {
				_, has := bases(run.Report, per)[basis]
				all = all && has
			}
		}
		if all {
			return basis
		}
	}
	return ""
}

// timeSide brings the runs of a side to the unit; the basis is one that all of them have.
func timeSide(s Side, per, basis string, mean bool) ([]timed, error) {
	var out []timed
	for _, run := range s.Runs {
		t := timed{Run: run, DiffRun: bases(run.Report, per)[basis], perStep: 1}
		if mean && basis == basisUnprofiled && run.Report.Steps[0].Baseline.MeanMs != nil {
			t.Ms = *run.Report.Steps[0].Baseline.MeanMs
		}
		steps := 0.0
		if len(run.Report.Steps) > 0 {
			steps = float64(run.Report.Steps[0].Count)
		}
		switch per {
		case perStep, perItem, perToken:
			of, err := stepSize(run.Report, per)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Path, err)
			}
			t.perStep = 1 / of
			t.Ms *= t.perStep
			t.ErrorMs = scaled(t.ErrorMs, t.perStep)
			t.perRun = t.perStep / max(steps, 1)
		case perRun:
			t.perStep, t.perRun = max(steps, 1), 1
		}
		t.perTrace = t.perStep / tracedSteps(run.Report)
		out = append(out, t)
	}
	return out, nil
}

func scaled(v *float64, by float64) *float64 {
	if v == nil {
		return nil
	}
	out := *v * by
	return &out
}

// stepSize is how many of the unit a step is.
func stepSize(r *report.Report, per string) (float64, error) {
	switch per {
	case perItem:
		if n := items(r); n > 0 {
			return n, nil
		}
		return 0, fmt.Errorf("no batch size was seen, so that there is no time per item; compare --per step")
	case perToken:
		if n := tokens(r); n > 0 {
			return n, nil
		}
		return 0, fmt.Errorf("tokens are counted by the shapes of aten::embedding, which were not recorded; compare --per step, or " +
			"record with --record-shapes")
	}
	return 1, nil
}

// items is the mean number of samples in a batch, 0 unknown.
func items(r *report.Report) float64 {
	if len(r.Steps) > 0 && r.Steps[0].Items != nil {
		return *r.Steps[0].Items
	}
	return 0
}

// tokens is how many indices a step looks up in its largest embedding, 0 unknown.
func tokens(r *report.Report) float64 {
	most := 0.0
	for i := range r.KeyAverages {
		row := &r.KeyAverages[i]
		if row.Name == "aten::embedding" && row.DeviceType == "cpu" {
			most = max(most, secondSize(row.InputShapes)*float64(row.Count)/tracedSteps(r))
		}
	}
	return most
}

// secondSize is the number of elements of the second tensor in "[[50257, 768], [8, 128], …]", 0 where it is none.
func secondSize(shapes string) float64 {
	_, rest, ok := strings.Cut(strings.TrimPrefix(shapes, "["), "], [")
	if !ok {
		return 0
	}
	dims, _, ok := strings.Cut(rest, "]")
	if !ok || dims == "" {
		return 0
	}
	size := 1.0
	for d := range strings.SplitSeq(dims, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(d), 64)
		if err != nil || n < 0 {
			return 0
		}
		size *= n
	}
	return size
}

// tracedSteps is how many steps the sums over all traces are of. Traces begin and end within steps, so that it need not be whole: it is
// the calls of operators over all, through the calls in a step.
func tracedSteps(r *report.Report) float64 {
	if r.Counts == nil {
		if len(r.Steps) > 0 && r.Steps[0].Traced != nil {
			return math.Max(float64(r.Steps[0].Traced.Count), 1)
		}
		return 1
	}
	inStep := map[string]bool{}
	calls, all := 0.0, 0.0
	for i := range r.Counts.Rows {
		if row := &r.Counts.Rows[i]; row.Kind == "op" {
			inStep[row.Name] = true
			calls += row.Value
		}
	}
	for i := range r.KeyAverages {
		if row := &r.KeyAverages[i]; inStep[row.Name] && row.DeviceType == "cpu" {
			all += float64(row.Count)
		}
	}
	if calls > 0 && all > 0 {
		return math.Max(all/calls, 1)
	}
	return math.Max(float64(r.Counts.Steps), 1)
}

// medianOf is the median of the runs' times.
func medianOf(runs []timed) float64 { return medianValue(times(runs)) }

func times(runs []timed) []float64 {
	out := make([]float64, len(runs))
	for i := range runs {
		out[i] = runs[i].Ms
	}
	return out
}

func medianValue(values []float64) float64 {
	sorted := append([]float64{}, values...)
	sortFloats(sorted)
	return stats.Quantile(sorted, 0.5)
}
