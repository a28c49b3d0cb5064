package view

import (
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
	var rows [][]string
	for i := range p.r.Loaders[:p.rows(len(p.r.Loaders), 6)] {
		l := &p.r.Loaders[i]
		depth := "-"
		if l.QueueDepth != nil {
			depth = fmt.Sprintf("%.1f", *l.QueueDepth)
		}
		rows = append(rows, []string{l.Dataset, fmt.Sprint(l.Workers), fmt.Sprint(l.BatchSize), Count(int64(l.Batches)), Milliseconds(l.WaitMs), Milliseconds(l.FetchMs), depth, fmt.Sprintf("%s:%d", base(l.File), l.Line)})
	}
	p.table([]column{{head: "data set", wide: true}, {head: "workers", right: true}, {head: "batch", right: true}, {head: "batches", right: true}, {head: "wait", right: true},
		{head: "fetch", right: true}, {head: "ready", right: true}, {head: "built at"}}, rows)
	for i := range p.r.Workers[:p.rows(len(p.r.Workers), 4)] {
		w := &p.r.Workers[i]
		busy := ""
		if w.BusyShare != nil {
			busy = ", busy " + Percent(*w.BusyShare)
		}
		p.line("  worker %d (pid %d): %s batches, %s each%s", w.Index, w.PID, Count(int64(w.Batches)), Milliseconds(w.FetchMs), busy)
		for k, st := range w.Stages {
			if k < 3 || p.opt.All {
				p.line("    %9s  %s  %s:%d", Milliseconds(st.Ms), st.Name, base(st.File), st.Line)
			}
		}
	}
}

func (p *printer) steps() {
	if len(p.r.Steps) == 0 {
		return
	}
	p.heading("Steps", "distortion = traced ÷ unprofiled; start-up is set apart below")
	var rows [][]string
	opt := func(v *float64, unit func(float64) string) string {
		if v == nil {
			return "-"
		}
		return unit(*v)
	}
	for i := range p.r.Steps[:p.rows(len(p.r.Steps), 6)] {
		s := &p.r.Steps[i]
		q := s.Baseline
		name := s.Kind
		if q == nil {
			if q = s.Traced; q == nil {
				q = &Quantiles{}
			} else {
				name += " (traced)"
			}
		}
		rows = append(rows, []string{name, Count(int64(s.Count)), Count(int64(q.Count)), Milliseconds(q.MedianMs), opt(q.P10Ms, Milliseconds), opt(q.P90Ms, Milliseconds), opt(q.P99Ms, Milliseconds),
			opt(s.Distortion, func(v float64) string { return fmt.Sprintf("%.2f ×", v) }), opt(s.ItemsPerSec, digits), s.Source})
	}
	p.table([]column{{head: "kind"}, {head: "count", right: true}, {head: "timed", right: true}, {head: "median", right: true}, {head: "p10", right: true}, {head: "p90", right: true},
		{head: "p99", right: true}, {head: "distortion", right: true}, {head: "items/s", right: true}, {head: "found by"}}, rows)
	if p.r.Run == nil || len(p.r.Run.Phases) == 0 {
		return
	}
	p.wrap("  phases: ", "          ", strings.Join(p.phases(), " · "))
}

// phases sums the stretches of the run by what was measured in them, in the order in which they first occur; with All each
// stretch is shown.
func (p *printer) phases() []string {
	var sums []Phase
	for _, ph := range p.r.Run.Phases {
		i := slices.IndexFunc(sums, func(s Phase) bool { return s.Name == ph.Name })
		if i < 0 || p.opt.All {
			sums = append(sums, Phase{Name: ph.Name, ToS: ph.ToS - ph.FromS, Steps: ph.Steps})
			continue
		}
		sums[i].ToS += ph.ToS - ph.FromS
		sums[i].Steps += ph.Steps
	}
	var parts []string
	for _, ph := range sums {
		s := ph.Name + " " + Seconds(ph.ToS)
		if ph.Steps > 0 {
			s += " (" + counted(ph.Steps, "step") + ")"
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
	var rows [][]string
	opt := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return Milliseconds(*v)
	}
	for i := range p.r.Ranks[:p.rows(len(p.r.Ranks), 16)] {
		r := &p.r.Ranks[i]
		median, clock := "-", "-"
		if r.Steps > 0 {
			median = Milliseconds(r.MedianMs)
		}
		if r.Clock != nil {
			clock = fmt.Sprintf("%s ± %s", Milliseconds(r.Clock.OffsetUs/1e3), Milliseconds(r.Clock.ErrorUs/1e3))
		}
		rows = append(rows, []string{fmt.Sprint(r.Rank), cmp.Or(r.Host, "-"), Count(int64(r.Steps)), median, opt(r.WaitsMs), opt(r.LateMs), clock})
	}
	p.knownTable([]column{{head: "rank", right: true}, {head: "host", wide: true}, {head: "steps", right: true}, {head: "median", right: true}, {head: "waits", right: true}, {head: "late", right: true},
		{head: "clock", right: true}}, rows)
}

func (p *printer) communication() {
	if len(p.r.Communication) == 0 {
		return
	}
	p.heading("Communication", "")
	var rows [][]string
	opt := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return digits(*v)
	}
	for i := range p.r.Communication {
		c := &p.r.Communication[i]
		if !p.rankShown(c.Rank) || len(rows) >= p.rows(len(p.r.Communication), 12) {
			continue
		}
		exposed := "-"
		if c.ExposedUs != nil {
			exposed = Milliseconds(*c.ExposedUs / 1e3)
		}
		bytes := "-"
		if c.Bytes > 0 {
			bytes = Bytes(float64(c.Bytes))
		}
		rows = append(rows, []string{rankText(c.Rank), c.Op, Count(c.Count), Milliseconds(c.DeviceUs / 1e3), exposed, bytes, opt(c.BusBW), rankText(c.LateRank)})
	}
	p.table([]column{{head: "rank"}, {head: "collective", wide: true}, {head: "calls", right: true}, {head: "time", right: true}, {head: "exposed", right: true}, {head: "bytes", right: true},
		{head: "bus GB/s", right: true}, {head: "late rank", right: true}}, rows)
}

func (p *printer) cost() {
	r := p.r.Run
	if r == nil {
		return
	}
	var parts []string
	if r.Own.LongestPauseMs != nil {
		parts = append(parts, "longest pause of the program "+Milliseconds(*r.Own.LongestPauseMs))
	}
	if r.Own.AgentCPUS != nil {
		parts = append(parts, Seconds(*r.Own.AgentCPUS)+" of CPU in the program")
	}
	if r.Own.SamplerCPUS != nil {
		parts = append(parts, Seconds(*r.Own.SamplerCPUS)+" of CPU for sampling beside it")
	}
	if r.Own.LauncherBytes != nil {
		parts = append(parts, Bytes(float64(*r.Own.LauncherBytes))+" of memory beside it")
	}
	if r.Own.AgentBytes != nil {
		parts = append(parts, Bytes(float64(*r.Own.AgentBytes))+" more memory in it")
	}
	if len(parts) == 0 {
		return
	}
	p.heading("What bottleneck itself cost", "")
	p.wrap("  ", "  ", strings.Join(parts, " · "))
}

func (p *printer) files() {
	damaged := slices.ContainsFunc(p.r.Inputs, func(in Input) bool { return len(in.Diagnostics) > 0 })
	if len(p.r.Inputs) == 0 || p.r.Run != nil && !damaged && !p.opt.All && !p.asked() && len(p.r.Unread) == 0 {
		return
	}
	p.heading("Files", "")
	var rows [][]string
	for i := range p.r.Inputs[:p.rows(len(p.r.Inputs), 8)] {
		in := &p.r.Inputs[i]
		rows = append(rows, []string{in.Path, in.Format, Bytes(float64(in.Bytes)), Count(in.Events), rankText(in.Rank)})
	}
	p.table([]column{{head: "file", wide: true, left: true}, {head: "format"}, {head: "size", right: true}, {head: "events", right: true}, {head: "rank", right: true}}, rows)
	for _, in := range p.r.Inputs {
		if in.Note != "" && len(p.r.Inputs) > 1 { // of one file the first line says it
			p.wrap("  ! ", "    ", fmt.Sprintf("%s is %s", base(in.Path), in.Note))
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

// damage lists what is wrong with the inputs; files of one name in which the same is wrong, as of several processes, are one line.
func (p *printer) damage() []string {
	type kind struct{ file, kind, text string }
	var order []kind
	found := map[kind][]Diagnostic{}
	for _, in := range p.r.Inputs {
		for _, d := range in.Diagnostics {
			k := kind{base(in.Path), d.Kind, d.Text}
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
func firstAt(d Diagnostic) string {
	if d.FirstOffset == nil {
		return ""
	}
	return ", first at byte " + Count(*d.FirstOffset)
}

func (p *printer) next() {
	if len(p.r.Next) == 0 {
		return
	}
	p.heading("Look further", "")
	for _, n := range p.r.Next {
		p.wrap("  ", "    ", n)
	}
}
