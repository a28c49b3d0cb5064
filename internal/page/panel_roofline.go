package page

import (
	"bottleneck/internal/report"
	"fmt"
	"slices"
)

// rooflineCharts draw each device's operators under what it could do: arithmetic per byte against arithmetic per second.
func rooflineCharts(p *Page) []Chart {
	var charts []Chart
	for i := range p.report.Roofline {
		charts = append(charts, rooflineChart(&p.report.Roofline[i]))
	}
	return charts
}

func rooflineChart(r *report.Roofline) Chart {
	var formats []string
	points := map[string]*Series{}
	roofs := map[string]float64{}
	low, high, bandwidth := 0.0, 0.0, 0.0
	for i := range r.Ops {
		op := &r.Ops[i]
		if op.Bytes == nil || *op.Bytes <= 0 || op.TFLOPs <= 0 {
			continue
		}
		s := points[op.Format]
		if s == nil {
			formats = append(formats, op.Format)
			made := newSeries(op.Format)
			s, points[op.Format] = &made, &made
		}
		intensity := float64(op.Flops) / float64(*op.Bytes)
		s.add(intensity, op.TFLOPs)
		s.Texts = append(s.Texts, op.Name+" "+op.Shapes)
		if low == 0 || intensity < low {
			low = intensity
		}
		high = max(high, intensity)
		if op.Peak != nil && op.Attainable != nil {
			roofs[op.Format] = *op.Peak
			if *op.Attainable < *op.Peak { // what memory traffic allows: its bandwidth × the intensity
				bandwidth = *op.Attainable / intensity
			}
		}
	}
	series := []Series{}
	for _, f := range formats {
		series = append(series, *points[f])
	}
	for _, f := range formats {
		if roofs[f] > 0 {
			series = append(series, roof(f, roofs[f], bandwidth, low/2, high*2))
		}
	}
	title := "Roofline"
	if r.Device != "" {
		title += " of " + r.Device
	}
	if r.Rank != nil {
		title += fmt.Sprintf(", rank %d", *r.Rank)
	}
	c := chartOf(title, chartPoints, Axis{Head: "FLOP per byte", Unit: unitNumber, Log: true},
		Axis{Head: "TFLOP/s", Unit: unitNumber, Log: true}, series...)
	c.Aside = "each operator with its shapes; the nearer to its roof, the less there is to gain"
	if len(roofs) == 0 {
		c.Aside = "each operator with its shapes; what this device could do is not known"
	}
	return c
}

// roof is the limit of a format: rising with the traffic that memory allows, then level.
func roof(format string, peak, bandwidth, low, high float64) Series {
	s := newSeries("limit, " + format)
	s.Line = true
	xs := []float64{low, high}
	if bandwidth > 0 {
		if knee := peak / bandwidth; knee > low && knee < high {
			xs = slices.Insert(xs, 1, knee)
		}
	}
	for _, x := range xs {
		y := peak
		if bandwidth > 0 {
			y = min(peak, x*bandwidth)
		}
		s.add(x, y)
	}
	return s
}
