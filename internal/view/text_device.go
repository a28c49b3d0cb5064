package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// matters is the share of a device's time from which the default report names copies.
const matters = 0.02

// gpuNotes are the lines under the GPU table that need no table of their own.
func (p *printer) gpuNotes() {
	if text := p.mfuText(); text != "" {
		p.wrap("  ", "    ", text)
	}
	if text := p.useText(); text != "" {
		p.wrap("  ", "    ", text)
	}
	if text := p.copiesText(); text != "" {
		p.wrap("  ", "    ", text)
	}
	if !p.opt.All && !p.asked() {
		return
	}
	p.idlePlaces()
	rows := shownRows(p, p.r.GPU, 16, func(g *report.GPURow) bool { return g.Launches != nil && p.rankShown(g.Rank) })
	if len(rows) == 0 {
		return
	}
	p.wrap("  ", "  ", "Launches; delay = from the call's end to the work's start:")
	writeKnown(p, launchColumns, rows)
}

var launchColumns = []column[report.GPURow]{
	{"rank", func(g *report.GPURow) string { return report.RankText(g.Rank) }, 0},
	{"device", func(g *report.GPURow) string { return fmt.Sprint(g.Device) }, 0},
	{"launches", func(g *report.GPURow) string { return units.Count(g.Launches.Count) }, number},
	{"median delay", func(g *report.GPURow) string { return units.Milliseconds(g.Launches.MedianDelayUs / 1e3) }, number},
	{"p90", func(g *report.GPURow) string { return units.Milliseconds(g.Launches.P90DelayUs / 1e3) }, number},
	{"device was idle", func(g *report.GPURow) string { return units.Percent(report.ValueOr(g.Launches.QueueEmptyShare, 0)) }, number},
	{"longer than their work", func(g *report.GPURow) string { return units.Count(g.Launches.Short) }, number},
	{"over 50 µs", func(g *report.GPURow) string { return units.Count(g.Launches.SlowCalls) }, number},
}

// useText says how far kernels fill the devices, over the shown ranks' steps after the warm-up.
func (p *printer) useText() string {
	var parts []string
	for _, use := range []struct {
		text string
		of   func(*report.GPURow) *float64
	}{{"SM efficiency %s (est.)", func(g *report.GPURow) *float64 { return g.SMEfficiency }},
		{"occupancy %s (est.)", func(g *report.GPURow) *float64 { return g.Occupancy }},
		{"%s of kernel time on matrix units (by kernels' names)", matrixUnits}} {
		low, high, n := 0.0, 0.0, 0
		for _, g := range p.steadyGPUs() {
			v := use.of(g)
			if v == nil {
				continue
			}
			if n == 0 {
				low, high = *v, *v
			}
			low, high, n = min(low, *v), max(high, *v), n+1
		}
		if n == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf(use.text, units.Range(low, high, units.Percent)))
	}
	return strings.Join(parts, " · ")
}

// matrixUnits is the share of a device on which names can tell it: where blocks are counted, or a name says so.
func matrixUnits(g *report.GPURow) *float64 {
	if g.SMEfficiency == nil && report.ValueOr(g.TensorCores, 0) == 0 {
		return nil
	}
	return g.TensorCores
}

// idlePlaces are the causes of idle time after the warm-up with the line or operator that each arose at.
func (p *printer) idlePlaces() {
	var all []idlePlace
	for _, g := range p.steadyGPUs() {
		for k := range g.IdleByCause {
			all = append(all, idlePlace{g, &g.IdleByCause[k]})
		}
	}
	if len(all) == 0 {
		return
	}
	slices.SortStableFunc(all, func(x, y idlePlace) int { return cmp.Compare(y.idle.Us, x.idle.Us) })
	p.wrap("  ", "  ", "Idle by cause and place:")
	writeKnown(p, idleColumns, all[:p.rows(len(all), 12)])
}

// idlePlace is idle time of a device with one cause and one place.
type idlePlace struct {
	gpu  *report.GPURow
	idle *report.IdleRow
}

func (at *idlePlace) text() string {
	text := report.AtPlace(at.idle.Where)
	if at.idle.Where.Op != "" && at.idle.Where.File != "" {
		text += " in " + at.idle.Where.Op
	}
	return cmp.Or(text, unknown)
}

var idleColumns = []column[idlePlace]{
	{"rank", func(at *idlePlace) string { return report.RankText(at.gpu.Rank) }, 0},
	{"device", func(at *idlePlace) string { return fmt.Sprint(at.gpu.Device) }, 0},
	{"because of", func(at *idlePlace) string { return at.idle.Cause }, 0},
	{"idle", func(at *idlePlace) string { return units.Milliseconds(at.idle.Us / 1e3) }, number},
	{"of span", func(at *idlePlace) string { return units.Percent(at.idle.Us / max(at.gpu.SpanUs, 1e-9)) }, number},
	{"gaps", func(at *idlePlace) string { return units.Count(at.idle.Gaps) }, number},
	{"at", (*idlePlace).text, rest},
}

func rankPrefix(r *int) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("rank %d ", *r)
}

// minCovered is the share of kernel time that operators with a formula must take for the default report to name an MFU.
const minCovered = 0.1

// mfuText is the share of the peak arithmetic rate over the shown ranks, "" where no device's rates are known or too few
// operators could be counted.
func (p *printer) mfuText() string {
	low, high, covered, n, device := 0.0, 0.0, 0.0, 0, ""
	for i := range p.r.Roofline {
		r := &p.r.Roofline[i]
		if r.MFU == nil || r.CoveredShare < minCovered || !p.rankShown(r.Rank) {
			continue
		}
		if n == 0 {
			low, high, device = *r.MFU, *r.MFU, r.Device
		}
		low, high = min(low, *r.MFU), max(high, *r.MFU)
		covered += r.CoveredShare
		n++
	}
	if n == 0 {
		return ""
	}
	text := "MFU " + units.Range(low, high, units.Percent)
	if n > 1 {
		text += fmt.Sprintf(" (%d traces)", n)
	}
	return text + fmt.Sprintf(": flops ÷ (%s's peak for their format × span); the operators counted take %s of kernel time", device,
		units.Percent(covered/float64(n)))
}

// copiesText names the copies that cost most, "" where none matter.
func (p *printer) copiesText() string {
	span := 0.0
	for i := range p.r.GPU {
		if p.rankShown(p.r.GPU[i].Rank) { // of all devices, as the copies are
			span += p.r.GPU[i].SpanUs
		}
	}
	exposed, pageable, waited := 0.0, 0.0, 0.0
	var most *report.CopyRow
	for i := range p.r.Copies {
		c := &p.r.Copies[i]
		if !p.rankShown(c.Rank) {
			continue
		}
		exposed += c.ExposedUs
		if c.Pageable {
			pageable += c.Us
			waited += c.HostWaitUs
		}
		if most == nil || c.ExposedUs+c.HostWaitUs > most.ExposedUs+most.HostWaitUs {
			most = c
		}
	}
	if most == nil || span <= 0 || max(exposed, pageable, waited) < matters*span {
		return ""
	}
	text := fmt.Sprintf("Copies: %s while nothing computes (%s)", units.Milliseconds(exposed/1e3), units.Percent(exposed/span))
	if pageable > 0 {
		text += fmt.Sprintf("; %s of copies use pageable host memory", units.Milliseconds(pageable/1e3))
	}
	if waited > 0 {
		text += fmt.Sprintf(", the host waited %s for them", units.Milliseconds(waited/1e3))
	}
	text += "; most: " + copyName(most.Name)
	if at := report.AtPlace(most.Where); at != "" {
		text += " at " + at
	}
	return text
}

// rateText is a bandwidth in GB/s.
func rateText(gbs float64) string {
	if gbs > 0 && gbs < 0.01 {
		return "<0.01"
	}
	return units.Digits(gbs)
}

func (p *printer) copies() {
	rows := slices.DeleteFunc(slices.Clone(p.r.Copies), func(c report.CopyRow) bool { return !p.rankShown(c.Rank) })
	if len(rows) == 0 {
		return
	}
	p.heading("Copies", "exposed = nothing else runs on the device; host waits = in calls that return at the end")
	writeKnown(p, copyColumns, rows[:p.rows(len(rows), 12)])
	var parts []string
	for i := range p.r.Bandwidth {
		if w := &p.r.Bandwidth[i]; p.rankShown(w.Rank) && w.MaxGBs >= 0.01 && len(parts) < p.rows(len(p.r.Bandwidth), 8) {
			parts = append(parts, fmt.Sprintf("%s%s mean %s, at most %s", rankPrefix(w.Rank), w.Kind,
				rateText(w.MeanGBs), rateText(w.MaxGBs)))
		}
	}
	if len(parts) > 0 {
		p.wrap("  GB/s while they run: ", "    ", strings.Join(parts, " · "))
	}
}

var copyColumns = []column[report.CopyRow]{
	{"rank", func(c *report.CopyRow) string { return report.RankText(c.Rank) }, 0},
	{"device", func(c *report.CopyRow) string { return fmt.Sprint(c.Device) }, 0},
	{"copy", func(c *report.CopyRow) string { return copyName(c.Name) }, rest},
	{"runs", func(c *report.CopyRow) string { return units.Count(c.Count) }, number},
	{"time", func(c *report.CopyRow) string { return units.Milliseconds(c.Us / 1e3) }, number},
	{"exposed", func(c *report.CopyRow) string { return units.Milliseconds(c.ExposedUs / 1e3) }, number},
	{"host waits", hostWait, number},
	{"bytes", copiedBytes, number},
	{"GB/s", func(c *report.CopyRow) string { return known(c.GBs, rateText) }, number},
	{"at", func(c *report.CopyRow) string { return units.Clip(placeText(c.Where), 24) }, 0},
}

func hostWait(c *report.CopyRow) string {
	if c.HostWaitUs <= 0 {
		return unknown
	}
	return units.Milliseconds(c.HostWaitUs / 1e3)
}

func copiedBytes(c *report.CopyRow) string {
	if c.Bytes == nil {
		return unknown
	}
	return units.Bytes(float64(*c.Bytes))
}

// copyName is a copy's name with what tells copies apart: "HtoD (Pageable -> Device)".
func copyName(name string) string { return strings.TrimPrefix(name, "Memcpy ") }

// placeText is the line of a place, else its operator.
func placeText(w report.Where) string {
	if w.File != "" {
		return fmt.Sprintf("%s:%d", report.Base(w.File), w.Line)
	}
	return w.Op
}
