package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
	"strings"
)

func (p *printer) roofline() {
	shown := 0
	for i := range p.r.Roofline {
		r := &p.r.Roofline[i]
		if !p.rankShown(r.Rank) || shown >= p.rows(len(p.r.Roofline), 1) {
			continue
		}
		if shown++; shown == 1 {
			p.heading("Roofline", "arithmetic of matrix products, convolutions and attention against the device's rates")
		}
		p.wrap("  ", "    ", rooflineText(r))
		p.rooflineTable(r)
	}
}

func rooflineText(r *report.Roofline) string {
	text := rankPrefix(r.Rank) + flopsText(r.Flops) + " in " + units.Milliseconds(r.SpanUs/1e3)
	switch {
	case r.MFU != nil:
		text += fmt.Sprintf(" = MFU %s of %s (flops ÷ (peak rate of their format × span))", units.Percent(*r.MFU), r.Device)
	default:
		text += "; the peak rates of this device are not known"
	}
	return text + fmt.Sprintf("; the operators below take %s of %s of kernel time, what others compute is not counted",
		units.Percent(r.CoveredShare), units.Milliseconds(r.KernelUs/1e3))
}

func flopsText(n int64) string {
	if n >= 1e11 {
		return units.Digits(float64(n)/1e12) + " TFLOP"
	}
	return units.Digits(float64(n)/1e9) + " GFLOP"
}

func (p *printer) rooflineTable(r *report.Roofline) {
	writeKnown(p, []column[report.RooflineRow]{
		{"operator", func(op *report.RooflineRow) string {
			return strings.TrimPrefix(op.Name, "aten::") + " " + shapesText(op.Shapes)
		}, rest},
		{"format", func(op *report.RooflineRow) string { return op.Format }, 0},
		{"calls", func(op *report.RooflineRow) string { return units.Count(op.Count) }, number},
		{"time", func(op *report.RooflineRow) string { return units.Milliseconds(op.DeviceUs / 1e3) }, number},
		{"share", func(op *report.RooflineRow) string { return units.Percent(op.DeviceUs / max(r.KernelUs, 1e-9)) }, number},
		{"TFLOP/s", func(op *report.RooflineRow) string { return rateText(op.TFLOPs) }, number},
		{"possible", func(op *report.RooflineRow) string {
			return ofRates(op, units.Digits(report.ValueOr(op.Attainable, 0)))
		}, number},
		{"reached", func(op *report.RooflineRow) string {
			return ofRates(op, units.Percent(report.ValueOr(op.Efficiency, 0)))
		}, number},
		{"limit", func(op *report.RooflineRow) string { return ofRates(op, limitText(op)) }, 0},
	}, r.Ops[:p.rows(len(r.Ops), 10)])
}

// ofRates is a text that means something only where the device's rates are known.
func ofRates(op *report.RooflineRow, text string) string {
	if op.Attainable == nil || op.Peak == nil {
		return unknown
	}
	return text
}

// limitText is what limits an operator whose device's rates are known.
func limitText(op *report.RooflineRow) string {
	if report.ValueOr(op.Attainable, 0) < report.ValueOr(op.Peak, 0) {
		return "memory"
	}
	return "compute"
}

// shapesText writes "[[8, 2], [2, 4], []]" as "8×2 2×4".
func shapesText(shapes string) string {
	var out []string
	for _, part := range strings.Split(strings.Trim(shapes, "[]"), "]") {
		if part = strings.Trim(part, ", [\""); part != "" {
			out = append(out, strings.ReplaceAll(part, ", ", "×"))
		}
	}
	return strings.Join(out, " ")
}
