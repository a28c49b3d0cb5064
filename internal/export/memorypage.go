package export

import (
	"bufio"
	"fmt"
	"html"
	"strconv"
)

// memoryCategory is a category's name and colour, those of torch's plot.
type memoryCategory struct{ name, colour string }

var memoryCategoryStyle = [memCategories]memoryCategory{
	memParameter:      {"PARAMETER", "darkgreen"},
	memOptimizerState: {"OPTIMIZER_STATE", "goldenrod"},
	memInput:          {"INPUT", "black"},
	memTemporary:      {"TEMPORARY", "mediumpurple"},
	memActivation:     {"ACTIVATION", "red"},
	memGradient:       {"GRADIENT", "mediumblue"},
	memAutogradDetail: {"AUTOGRAD_DETAIL", "royalblue"},
	memUnknown:        {"Unknown", "grey"},
}

// Sizes of the drawing, in pixels.
const (
	pageWidth, pageHeight   = 1200, 600
	pageLeft, pageBottom    = 90, 50
	plotWidth, plotHeight   = pageWidth - pageLeft - 10, pageHeight - pageBottom - 10
	pagePoints              = 2400 // more points than that cannot be seen; peaks are kept when thinning
	bytesPerGiB, legendLine = 1 << 30, 22
)

// writeTimelinePage writes a page of its own with the categories stacked over time: an SVG, no script, nothing loaded.
func writeTimelinePage(w *bufio.Writer, points []memoryPoint, device memoryDevice, allocated, reserved int64, own bool) error {
	if len(points) == 0 {
		_, err := w.WriteString("<!DOCTYPE html><title>Memory timeline</title><p>No memory events.")
		return err
	}
	peak := int64(1)
	for i := range points {
		peak = max(peak, points[i].total())
	}
	points = thin(points)
	gib := func(bytes int64) float64 { return float64(bytes) / bytesPerGiB }
	first, last := points[0].us, points[len(points)-1].us
	source := "told from when memory was taken and given back"
	if own {
		source = "torch's own"
	}
	fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Memory timeline of %[1]s</title></head>
<body style="font-family: sans-serif">
<h1 style="font-size: 1.2em">Memory timeline of %[1]s</h1>
<p>Max memory allocated: %.2[2]f GiB; reserved: %.2[3]f GiB. Drawn are the allocations of the recording, at most %.2[4]f GiB;
categories are %[7]s.</p>
<svg viewBox="0 0 %[5]d %[6]d" width="%[5]d" height="%[6]d" role="img" aria-label="memory in use over time, by category">
`, html.EscapeString(device.String()), gib(allocated), gib(reserved), gib(peak), pageWidth, pageHeight, source)
	x := func(us int64) float64 {
		return pageLeft + float64(us-first)/float64(max(last-first, 1))*plotWidth
	}
	y := func(bytes int64) float64 { return 10 + plotHeight*(1-float64(bytes)/float64(peak)) }
	for c := range memCategories {
		writeArea(w, points, c, x, y)
	}
	writeAxes(w, float64(last-first)/1000, float64(peak)/bytesPerGiB)
	writeLegend(w)
	_, err := w.WriteString("</svg></body></html>\n")
	return err
}

// writeArea draws one category on top of those before it, as steps: memory is constant between two events.
func writeArea(w *bufio.Writer, points []memoryPoint, category int, x func(int64) float64, y func(int64) float64) {
	used := false
	for i := range points {
		used = used || points[i].sizes[category] != 0
	}
	if !used {
		return
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
	edge := func(i, upTo int) string {
		var sum int64
		for c := range upTo {
			sum += points[i].sizes[c]
		}
		return number(y(sum))
	}
	fmt.Fprintf(w, `<path fill="%s" fill-opacity="0.7" d="M`, memoryCategoryStyle[category].colour)
	for i := range points {
		fmt.Fprintf(w, "%s %s", number(x(points[i].us)), edge(i, category+1))
		if i+1 < len(points) {
			fmt.Fprintf(w, " H%s V", number(x(points[i+1].us)))
			w.WriteString(edge(i+1, category+1) + " L")
		}
	}
	for i := len(points) - 1; i >= 0; i-- {
		fmt.Fprintf(w, " L%s %s", number(x(points[i].us)), edge(i, category))
		if i > 0 {
			fmt.Fprintf(w, " V%s", edge(i-1, category))
		}
	}
	w.WriteString(" Z\"/>\n")
}

// writeAxes draws the frame with five marks each: milliseconds from the start, GiB.
func writeAxes(w *bufio.Writer, ms, gib float64) {
	const bottom = 10 + plotHeight
	fmt.Fprintf(w, `<path fill="none" stroke="black" d="M%d 10 V%d H%d"/>`+"\n", pageLeft, bottom, pageLeft+plotWidth)
	for i := range 6 {
		part := float64(i) / 5
		fmt.Fprintf(w, `<text x="%.0f" y="%d" text-anchor="middle" font-size="12">%.4g</text>`+"\n", pageLeft+part*plotWidth,
			bottom+18, ms*part)
		fmt.Fprintf(w, `<text x="%d" y="%.0f" text-anchor="end" font-size="12">%.4g</text>`+"\n", pageLeft-6,
			14+plotHeight*(1-part), gib*part)
	}
	fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="middle" font-size="13">Time (ms)</text>`+"\n", pageLeft+plotWidth/2, bottom+40)
	fmt.Fprintf(w, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle" font-size="13">Memory (GiB)</text>`+"\n",
		10+plotHeight/2)
}

func writeLegend(w *bufio.Writer) {
	for i, c := range memoryCategoryStyle {
		top := 20 + i*legendLine
		fmt.Fprintf(w,
			`<rect x="%d" y="%d" width="14" height="14" fill="%s" fill-opacity="0.7"/><text x="%d" y="%d" font-size="12">%s</text>`+"\n",
			pageWidth-170, top, c.colour, pageWidth-150, top+12, c.name)
	}
}

func (p *memoryPoint) total() int64 {
	var sum int64
	for _, size := range p.sizes {
		sum += size
	}
	return sum
}

// thin keeps, of each group of neighbouring points, the one with the most memory in use.
func thin(points []memoryPoint) []memoryPoint {
	if len(points) <= pagePoints {
		return points
	}
	out := make([]memoryPoint, 0, pagePoints+2)
	out = append(out, points[0])
	for i := range pagePoints {
		from, to := 1+i*(len(points)-2)/pagePoints, 1+(i+1)*(len(points)-2)/pagePoints
		if from >= to {
			continue
		}
		best := from
		for k := from; k < to; k++ {
			if points[k].total() > points[best].total() {
				best = k
			}
		}
		out = append(out, points[best])
	}
	return append(out, points[len(points)-1])
}
