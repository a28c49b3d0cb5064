package page

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
)

// oneStep is a step of the process that the report is about, or of a trace from elsewhere.
type oneStep struct {
	number     int64
	kind       string
	phase      string
	start, end model.Time
	parts      map[string]float64 // ns by samples; nil where none lie in it
}

func (s *oneStep) us() float64 { return float64(s.end-s.start) / 1e3 }

// Words for when a step ran.
const (
	whileUnprofiled = "unprofiled"
	whileTraced     = "traced"
)

var phaseWords = map[model.PhaseKind]string{model.PhaseBaseline: whileUnprofiled, model.PhaseTrace: whileTraced,
	model.PhaseDetail: whileTraced, model.PhaseWarmup: "warm-up", model.PhaseEdge: "profiler starts or stops"}

// stepsOf lists the steps that the report's table of steps is about.
func stepsOf(s *model.Session) []oneStep {
	var out []oneStep
	if p := account.Driver(s); p != nil && len(p.Steps) > 0 {
		for i := range p.Steps {
			st := &p.Steps[i]
			out = append(out, oneStep{number: st.Number, kind: s.Strings.Text(st.Kind), phase: phaseWords[st.Phase],
				start: st.Start, end: st.End})
		}
		addParts(s, p, out)
		return out
	}
	for _, t := range s.Traces {
		for _, st := range t.Steps {
			if !st.Warmup && st.End > st.Start {
				out = append(out, oneStep{number: st.Number, kind: "step", phase: whileTraced, start: st.Start, end: st.End})
			}
		}
	}
	return out
}

// addParts tells what the accounted steps consist of, by the samples that lie in them.
func addParts(s *model.Session, p *model.Process, steps []oneStep) {
	b := account.Of(s, p)
	if !b.PerStep {
		return
	}
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(steps[a].start, steps[b].start) })
	for _, sample := range b.Samples {
		at := p.Samples.Time[sample.Index]
		k := sort.Search(len(order), func(i int) bool { return steps[order[i]].start > at }) - 1
		if k < 0 || at >= steps[order[k]].end {
			continue
		}
		st := &steps[order[k]]
		if st.parts == nil {
			st.parts = map[string]float64{}
		}
		st.parts[sample.Part.String()] += sample.Weight
	}
}

// judged are the steps whose times count: those of the main kind that ran without the profiler, or where there are none the traced ones.
func judged(r *report.Report, steps []oneStep) []oneStep {
	if len(r.Steps) == 0 {
		return nil
	}
	phase := whileTraced
	if r.Steps[0].Baseline != nil {
		phase = whileUnprofiled
	}
	return slices.DeleteFunc(slices.Clone(steps), func(s oneStep) bool { return s.kind != r.Steps[0].Kind || s.phase != phase })
}

// stepCharts draw each step, how often each time was, and what the slow ones did.
func stepCharts(p *Page) []Chart {
	steps := p.steps()
	if len(steps) < 2 {
		return nil
	}
	return []Chart{p.eachStep(steps), timesOften(judged(p.report, steps)), slowAndRest(judged(p.report, steps))}
}

func (p *Page) eachStep(steps []oneStep) Chart {
	var series []Series
	index := map[string]int{}
	several := false
	for i := range steps {
		several = several || steps[i].kind != steps[0].kind
	}
	for i := range steps {
		st := &steps[i]
		name := st.phase
		if several {
			name = st.kind + ", " + st.phase
		}
		at, known := index[name]
		if !known {
			at = len(series)
			index[name] = at
			series = append(series, newSeries(name))
		}
		s := &series[at]
		s.add(float64(st.number), st.us())
		if p.timeline != nil {
			s.From, s.To = append(s.From, p.timeline.us(st.start)), append(s.To, p.timeline.us(st.end))
		}
	}
	c := chartOf("Time of each step", chartPoints, Axis{Head: "step", Unit: unitCount}, Axis{Head: "time", Unit: unitTime}, series...)
	c.Aside = "a step leads to its place in the timeline"
	return c
}

// timesOften counts steps by their time. What is far above the rest stands in the last column.
func timesOften(steps []oneStep) Chart {
	us := make([]float64, 0, len(steps))
	for i := range steps {
		us = append(us, steps[i].us())
	}
	if len(us) < 8 {
		return Chart{}
	}
	slices.Sort(us)
	low, high := us[0], stats.Quantile(us, 0.99)
	columns := int(min(40, max(8, math.Sqrt(float64(len(us)))*2)))
	if high <= low {
		return Chart{}
	}
	width := (high - low) / float64(columns)
	counts := make([]float64, columns+1)
	for _, v := range us {
		counts[min(int((v-low)/width), columns)]++
	}
	s := newSeries("steps")
	for i, n := range counts {
		s.add(low+float64(i)*width, n)
		s.Width = append(s.Width, width)
		text := ""
		if i == columns {
			text = "and longer ones"
		}
		s.Texts = append(s.Texts, text)
	}
	c := chartOf("How often each time", chartColumns, Axis{Head: "time", Unit: unitTime}, Axis{Head: "steps", Unit: unitCount}, s)
	c.Aside = fmt.Sprintf("%d %s steps; the last column holds all longer ones", len(us), steps[0].phase)
	return c
}

// slowSteps are the steps far above the others: by more than three times the usual spread, and a tenth of the median.
func slowSteps(steps []oneStep) (slow, rest []oneStep, median float64) {
	us := make([]float64, 0, len(steps))
	for i := range steps {
		us = append(us, steps[i].us())
	}
	if len(us) < 8 {
		return nil, nil, 0
	}
	slices.Sort(us)
	median = stats.Quantile(us, 0.5)
	away := make([]float64, len(us))
	for i, v := range us {
		away[i] = math.Abs(v - median)
	}
	slices.Sort(away)
	limit := median + max(3*1.4826*stats.Quantile(away, 0.5), median/10)
	for _, st := range steps {
		if st.us() > limit {
			slow = append(slow, st)
		} else {
			rest = append(rest, st)
		}
	}
	return slow, rest, median
}

// slowAndRest draws where slow steps and the others go, by samples.
func slowAndRest(steps []oneStep) Chart {
	slow, rest, _ := slowSteps(steps)
	if len(slow) == 0 || !slices.ContainsFunc(slow, func(s oneStep) bool { return s.parts != nil }) {
		return Chart{}
	}
	var series []Series
	for _, part := range partNames(steps) {
		s := newSeries(part)
		for row, of := range [][]oneStep{slow, rest} {
			sum := 0.0
			for i := range of {
				sum += of[i].parts[part]
			}
			s.addIn(row, 0, sum/1e3/float64(max(len(of), 1)))
		}
		series = append(series, s)
	}
	c := chartOf("What the slow steps did", chartBars, Axis{Head: "mean time", Unit: unitTime}, Axis{Unit: unitText}, series...)
	c.Rows = []string{fmt.Sprintf("%d slow steps", len(slow)), fmt.Sprintf("%d others", len(rest))}
	c.Aside = "by samples of the thread that drives the steps"
	return c
}

// partNames are the parts that steps have, most time first.
func partNames(steps []oneStep) []string {
	sums := map[string]float64{}
	for i := range steps {
		for part, ns := range steps[i].parts {
			sums[part] += ns
		}
	}
	return slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
}

// maxSlowSteps bounds the rows of slow steps.
const maxSlowSteps = 200

// slowTable lists the slow steps, slowest first, with what each did.
func slowTable(r *report.Report, steps []oneStep) Table {
	all := judged(r, steps)
	slow, _, median := slowSteps(all)
	slices.SortStableFunc(slow, func(a, b oneStep) int { return cmp.Compare(b.us(), a.us()) })
	slow = slow[:min(len(slow), maxSlowSteps)]
	columns := []column[oneStep]{
		number("step", unitNumber, func(s *oneStep) float64 { return float64(s.number) }),
		bar(number("time", unitTime, func(s *oneStep) float64 { return s.us() })),
		number("more than the median", unitTime, func(s *oneStep) float64 { return s.us() - median }),
		perhaps("times the median", unitNumber, func(s *oneStep) *float64 { return ratio(s.us(), median) }),
	}
	for _, part := range partNames(all) {
		columns = append(columns, number(part, unitTime, func(s *oneStep) float64 { return s.parts[part] / 1e3 }))
	}
	return tableOf("slow-steps", "Slow steps", groupRun,
		"above the median by more than three times the usual spread and a tenth; parts are by samples, a few a step", slow, columns...)
}
