package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (p *printer) workers() {
	if len(p.r.Loaders) == 0 {
		return
	}
	p.heading("DataLoaders", "per batch, over the whole run")
	writeTable(p, loaderColumns, p.r.Loaders[:p.rows(len(p.r.Loaders), 6)])
	for i := range p.r.Workers[:p.rows(len(p.r.Workers), 4)] {
		w := &p.r.Workers[i]
		busy := ""
		if w.BusyShare != nil {
			busy = ", busy " + units.Percent(*w.BusyShare)
		}
		p.line("  worker %d (pid %d): %s batches, %s each%s", w.Index, w.PID, units.Count(int64(w.Batches)),
			units.Milliseconds(w.FetchMs), busy)
		for k, st := range w.Stages {
			if k < 3 || p.opt.All {
				p.line("    %9s  %s  %s:%d", units.Milliseconds(st.Ms), st.Name, report.Base(st.File), st.Line)
			}
		}
	}
}

var loaderColumns = []column[report.Loader]{
	{"data set", func(l *report.Loader) string { return l.Dataset }, rest},
	{"workers", func(l *report.Loader) string { return fmt.Sprint(l.Workers) }, number},
	{"batch", func(l *report.Loader) string { return fmt.Sprint(l.BatchSize) }, number},
	{"batches", func(l *report.Loader) string { return units.Count(int64(l.Batches)) }, number},
	{"wait", func(l *report.Loader) string { return units.Milliseconds(l.WaitMs) }, number},
	{"fetch", func(l *report.Loader) string { return units.Milliseconds(l.FetchMs) }, number},
	{"ready", func(l *report.Loader) string {
		return known(l.QueueDepth, func(v float64) string { return fmt.Sprintf("%.1f", v) })
	}, number},
	{"built at", func(l *report.Loader) string { return fmt.Sprintf("%s:%d", report.Base(l.File), l.Line) }, 0},
}

func (p *printer) steps() {
	if len(p.r.Steps) == 0 {
		return
	}
	p.heading("Steps", "distortion = traced ÷ unprofiled; start-up is set apart below")
	writeTable(p, stepColumns, p.r.Steps[:p.rows(len(p.r.Steps), 6)])
	if p.r.Run == nil || len(p.r.Run.Phases) == 0 {
		return
	}
	p.wrap("  phases: ", "          ", strings.Join(p.phases(), " · "))
}

var stepColumns = []column[report.StepKind]{
	{"kind", stepKindName, 0},
	{"count", func(s *report.StepKind) string { return units.Count(int64(s.Count)) }, number},
	{"timed", func(s *report.StepKind) string { return units.Count(int64(timed(s).Count)) }, number},
	{"median", func(s *report.StepKind) string { return units.Milliseconds(timed(s).MedianMs) }, number},
	{"p10", func(s *report.StepKind) string { return known(timed(s).P10Ms, units.Milliseconds) }, number},
	{"p90", func(s *report.StepKind) string { return known(timed(s).P90Ms, units.Milliseconds) }, number},
	{"p99", func(s *report.StepKind) string { return known(timed(s).P99Ms, units.Milliseconds) }, number},
	{"distortion", func(s *report.StepKind) string {
		return known(s.Distortion, func(v float64) string { return fmt.Sprintf("%.2f ×", v) })
	}, number},
	{"items/s", func(s *report.StepKind) string { return known(s.ItemsPerSec, units.Digits) }, number},
	{"found by", func(s *report.StepKind) string { return s.Source }, 0},
}

// timed are the times that stand for a kind of steps: unprofiled ones, else traced ones.
func timed(s *report.StepKind) *report.Quantiles {
	switch {
	case s.Baseline != nil:
		return s.Baseline
	case s.Traced != nil:
		return s.Traced
	}
	return &report.Quantiles{}
}

func stepKindName(s *report.StepKind) string {
	if s.Baseline == nil && s.Traced != nil {
		return s.Kind + " (traced)"
	}
	return s.Kind
}

// phases sums the stretches of the run by what was measured in them, in the order in which they first occur; with All each
// stretch is shown.
func (p *printer) phases() []string {
	var sums []report.Phase
	for _, ph := range p.r.Run.Phases {
		i := slices.IndexFunc(sums, func(s report.Phase) bool { return s.Name == ph.Name })
		if i < 0 || p.opt.All {
			sums = append(sums, report.Phase{Name: ph.Name, ToS: ph.ToS - ph.FromS, Steps: ph.Steps})
			continue
		}
		sums[i].ToS += ph.ToS - ph.FromS
		sums[i].Steps += ph.Steps
	}
	var parts []string
	for _, ph := range sums {
		s := ph.Name + " " + units.Seconds(ph.ToS)
		if ph.Steps > 0 {
			s += " (" + units.Counted(ph.Steps, "step") + ")"
		}
		parts = append(parts, s)
	}
	return parts
}

func (p *printer) ranks() {
	if len(p.r.Ranks) == 0 {
		return
	}
	p.heading("Ranks", "per step; late = works longer than the mean rank before it reaches the others")
	writeKnown(p, rankColumns, p.r.Ranks[:p.rows(len(p.r.Ranks), 16)])
}

var rankColumns = []column[report.Rank]{
	{"rank", func(r *report.Rank) string { return fmt.Sprint(r.Rank) }, number},
	{"host", func(r *report.Rank) string { return cmp.Or(r.Host, unknown) }, rest},
	{"steps", func(r *report.Rank) string { return units.Count(int64(r.Steps)) }, number},
	{"median", rankMedian, number},
	{"waits", func(r *report.Rank) string { return known(r.WaitsMs, units.Milliseconds) }, number},
	{"late", func(r *report.Rank) string { return known(r.LateMs, units.Milliseconds) }, number},
	{"clock", rankClock, number},
}

func rankMedian(r *report.Rank) string {
	if r.Steps == 0 {
		return unknown
	}
	return units.Milliseconds(r.MedianMs)
}

func rankClock(r *report.Rank) string {
	if r.Clock == nil {
		return unknown
	}
	return fmt.Sprintf("%s ± %s", units.Milliseconds(r.Clock.OffsetUs/1e3), units.Milliseconds(r.Clock.ErrorUs/1e3))
}

func (p *printer) communication() {
	if len(p.r.Communication) == 0 {
		return
	}
	p.heading("Communication", "")
	writeTable(p, commColumns, shownRows(p, p.r.Communication, 12, func(c *report.CommRow) bool { return p.rankShown(c.Rank) }))
}

var commColumns = []column[report.CommRow]{
	{"rank", func(c *report.CommRow) string { return report.RankText(c.Rank) }, 0},
	{"collective", func(c *report.CommRow) string { return c.Op }, rest},
	{"calls", func(c *report.CommRow) string { return units.Count(c.Count) }, number},
	{"time", func(c *report.CommRow) string { return units.Milliseconds(c.DeviceUs / 1e3) }, number},
	{"exposed", func(c *report.CommRow) string {
		return known(c.ExposedUs, func(us float64) string { return units.Milliseconds(us / 1e3) })
	}, number},
	{"bytes", sentBytes, number},
	{"bus GB/s", func(c *report.CommRow) string { return known(c.BusBW, units.Digits) }, number},
	{"late rank", func(c *report.CommRow) string { return report.RankText(c.LateRank) }, number},
}

func sentBytes(c *report.CommRow) string {
	if c.Bytes <= 0 {
		return unknown
	}
	return units.Bytes(float64(c.Bytes))
}

func (p *printer) cost() {
	r := p.r.Run
	if r == nil {
		return
	}
	var parts []string
	if r.Own.LongestPauseMs != nil {
		parts = append(parts, "longest pause of the program "+units.Milliseconds(*r.Own.LongestPauseMs))
	}
	if r.Own.AgentCPUS != nil {
		parts = append(parts, units.Seconds(*r.Own.AgentCPUS)+" of CPU in the program")
	}
	if r.Own.SamplerCPUS != nil {
		parts = append(parts, units.Seconds(*r.Own.SamplerCPUS)+" of CPU for sampling beside it")
	}
	if r.Own.LauncherBytes != nil {
		parts = append(parts, units.Bytes(float64(*r.Own.LauncherBytes))+" of memory beside it")
	}
	if r.Own.AgentBytes != nil {
		parts = append(parts, units.Bytes(float64(*r.Own.AgentBytes))+" more memory in it")
	}
	if len(parts) == 0 {
		return
	}
	p.heading("What bottleneck itself cost", "")
	if p.brief() {
		parts = parts[:1]
	}
	p.wrap("  ", "  ", strings.Join(parts, " · "))
}

func (p *printer) files() {
	damaged := slices.ContainsFunc(p.r.Inputs, func(in report.Input) bool { return len(in.Diagnostics) > 0 })
	if len(p.r.Inputs) == 0 || p.r.Run != nil && !damaged && !p.opt.All && !p.asked() && len(p.r.Unread) == 0 {
		return
	}
	p.heading("Files", "")
	if !p.brief() {
		writeTable(p, inputColumns, p.r.Inputs[:p.rows(len(p.r.Inputs), 8)])
	}
	for _, in := range p.r.Inputs {
		if in.Note != "" && len(p.r.Inputs) > 1 { // of one file the first line says it
			p.wrap("  ! ", "    ", fmt.Sprintf("%s is %s", report.Base(in.Path), in.Note))
		}
	}
	for i, d := range p.damage() {
		if i >= 20 && !p.opt.All {
			break
		}
		p.wrap("  ! ", "    ", d)
	}
	for _, u := range p.r.Unread {
		p.wrap("  ! ", "    ", "not in this report: "+u)
	}
}

var inputColumns = []column[report.Input]{
	{"file", func(in *report.Input) string { return in.Path }, rest | tail},
	{"format", func(in *report.Input) string { return in.Format }, 0},
	{"size", func(in *report.Input) string { return units.Bytes(float64(in.Bytes)) }, number},
	{"events", func(in *report.Input) string { return units.Count(in.Events) }, number},
	{"rank", func(in *report.Input) string { return report.RankText(in.Rank) }, number},
}

// damage lists what is wrong with the inputs; files of one name in which the same is wrong, as of several processes, are one line.
func (p *printer) damage() []string {
	type kind struct{ file, kind, text string }
	var order []kind
	found := map[kind][]report.Diagnostic{}
	for _, in := range p.r.Inputs {
		for _, d := range in.Diagnostics {
			k := kind{report.Base(in.Path), d.Kind, d.Text}
			if found[k] == nil {
				order = append(order, k)
			}
			found[k] = append(found[k], d)
		}
	}
	var out []string
	for _, k := range order {
		list := found[k]
		if n := len(list); n > 1 && !p.opt.All {
			sum := int64(0)
			for _, d := range list {
				sum += d.Count
			}
			out = append(out, fmt.Sprintf("%s: %s (%s, %d × in %d files)", k.file, k.text, k.kind, sum, n))
			continue
		}
		for _, d := range list {
			out = append(out, fmt.Sprintf("%s: %s (%s, %d ×%s)", k.file, k.text, k.kind, d.Count, firstAt(d)))
		}
	}
	return out
}

// firstAt says where damage begins in the decompressed text, "" where that means nothing.
func firstAt(d report.Diagnostic) string {
	if d.FirstOffset == nil {
		return ""
	}
	return ", first at byte " + units.Count(*d.FirstOffset)
}

func (p *printer) next() {
	if p.brief() {
		p.further(p.leftOut())
		return
	}
	if len(p.r.Next) == 0 {
		return
	}
	p.heading("Look further", "")
	for _, n := range p.r.Next {
		p.wrap("  ", "    ", n)
	}
}
