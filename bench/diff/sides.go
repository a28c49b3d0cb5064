//go:build linux

package main

import (
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"bottleneck/internal/stats"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Rows of the drawn reports.
const drawnRows = 40

// spread draws the medians of runs.
type spread struct {
	name string
	draw func() float64
}

// spreads are a normal distribution, which comes first, and one with a heavy tail.
func spreads(r *rand.Rand) [2]spread {
	return [2]spread{{"normal, spread (standard deviation) 1.5 %", func() float64 { return 1 + 0.015*r.NormFloat64() }},
		{"heavy-tailed", func() float64 { return math.Exp(0.015 * math.Abs(r.NormFloat64()/(0.3+r.Float64()))) }}}
}

// drawn compares sides whose run medians are drawn: normal, and resampled from a distribution with a heavy tail.
func (m *measurement) drawn() error {
	r := rand.New(rand.NewPCG(1, 2))
	both := spreads(r)
	for _, c := range both {
		different, rows, tested := 0, 0, 0
		for i := range m.pairs {
			n := 4 + i%9
			d, err := compare.Diff(drawnSide(r, n, c.draw, 1), drawnSide(r, n, c.draw, 1), compare.Options{})
			if err != nil {
				return err
			}
			different += decided(d)
			x, y := differentRows(d)
			rows, tested = rows+x, tested+y
		}
		m.say(fmt.Sprintf("A/A, %d pairs of 4 to 12 runs drawn, %s: called different", m.pairs, c.name), percent(different, m.pairs),
			"≤ 1 %", 100*different <= m.pairs)
		m.say(fmt.Sprintf("  rows called different, of %d", tested), percent(rows, tested), "≤ 1 %", 100*rows <= tested)
	}
	m.power(r, "their whole range is 1.5 %", 0.015, func(v []float64) float64 { return slices.Max(v) - slices.Min(v) }, true)
	m.power(r, "their standard deviation is 1.5 %", 0.015, func(v []float64) float64 { _, s := stats.MeanVariance(v); return math.Sqrt(s) },
		false)
	return nil
}

// power plants 3 % between sides of 8 runs whose medians spread so far.
func (m *measurement) power(r *rand.Rand, words string, spread float64, measure func([]float64) float64, goal bool) {
	found := 0
	for range m.pairs {
		var runs [2][]float64
		for side := range runs {
			v := make([]float64, 8)
			for i := range v {
				v[i] = r.NormFloat64()
			}
			scale := spread / measure(v)
			for i := range v {
				v[i] = (1 + scale*v[i]) * (1 + 0.03*float64(side))
			}
			runs[side] = v
		}
		d, err := compare.Diff(sideOf(runs[0]), sideOf(runs[1]), compare.Options{})
		if err == nil && d.Verdict == report.Slower {
			found++
		}
	}
	what := fmt.Sprintf("+3 %% with 8 runs a side, medians spread so that %s: found", words)
	if !goal {
		m.note(what, percent(found, m.pairs), "(no test that errs in 1 % can find 95 %)")
		return
	}
	m.say(what, percent(found, m.pairs), "≥ 95 %", 100*found >= 95*m.pairs)
}

func sideOf(times []float64) compare.Side {
	s := compare.Side{Path: "drawn"}
	for _, t := range times {
		s.Runs = append(s.Runs, compare.Run{
			Report: &report.Report{
				Steps: []report.StepKind{{Kind: "train", Count: 100, Baseline: &report.Quantiles{Count: 100, MedianMs: 10 * t}}},
			},
		})
	}
	return s
}

// drawnSide has rows that vary as the step does.
func drawnSide(r *rand.Rand, runs int, draw func() float64, factor float64) compare.Side {
	s := compare.Side{Path: "drawn"}
	for range runs {
		step := 10 * factor * draw()
		rep := &report.Report{
			Steps: []report.StepKind{
				{Kind: "train", Count: 100, Baseline: &report.Quantiles{Count: 100, MedianMs: step}, Traced: &report.Quantiles{Count: 1}},
			},
		}
		for i := range drawnRows {
			us := 200 * draw() * (1 + 0.01*r.NormFloat64())
			rep.KeyAverages = append(rep.KeyAverages, report.OpRow{Name: fmt.Sprint("op", i), Count: 10, SelfCPUUs: us, DeviceType: "cpu"})
		}
		s.Runs = append(s.Runs, compare.Run{Report: rep})
	}
	return s
}

func decided(d *report.Diff) int {
	if d.Verdict == report.Slower || d.Verdict == report.Faster {
		return 1
	}
	return 0
}

func differentRows(d *report.Diff) (different, tested int) {
	for i := range d.Rows {
		if d.Rows[i].LowMs != nil {
			tested++
			if d.Rows[i].Different {
				different++
			}
		}
	}
	return different, tested
}
