package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (p *printer) rankShown(rank *int) bool {
	return len(p.opt.Ranks) == 0 || rank == nil || slices.Contains(p.opt.Ranks, *rank)
}

func (p *printer) gpu() {
	if len(p.r.GPU) == 0 {
		return
	}
	about := "of each device's time from its first to its last work"
	if slices.ContainsFunc(p.r.GPU, func(g report.GPURow) bool { return g.Steps > 0 }) {
		about += " in a trace; steps = whole ones of it"
	}
	p.heading("GPU", about)
	writeKnown(p, gpuColumns, shownRows(p, p.r.GPU, 16, func(g *report.GPURow) bool { return g.SpanUs > 0 && p.rankShown(g.Rank) }))
	p.gpuNotes()
}

var gpuColumns = []column[report.GPURow]{
	{"rank", func(g *report.GPURow) string { return report.RankText(g.Rank) }, 0},
	{"device", func(g *report.GPURow) string { return fmt.Sprint(g.Device) }, 0},
	{"steps", gpuSteps, number},
	{"span", func(g *report.GPURow) string { return units.Milliseconds(g.SpanUs / 1e3) }, number},
	{"compute", func(g *report.GPURow) string { return units.Percent(g.ComputeUs / g.SpanUs) }, number},
	{"comm.", func(g *report.GPURow) string { return units.Percent(g.CommunicationUs / g.SpanUs) }, number},
	{"copy", func(g *report.GPURow) string { return units.Percent(g.CopyUs / g.SpanUs) }, number},
	{"idle", func(g *report.GPURow) string { return units.Percent(g.IdleUs / g.SpanUs) }, number},
	{"idle because of", idleText, rest},
}

// gpuSteps are the steps after the warm-up that a row is of.
func gpuSteps(g *report.GPURow) string {
	if g.Steps == 0 {
		return unknown
	}
	return units.Count(int64(g.Steps))
}

// shownRows are the rows that a table shows of all: those that pass, at most as many as usual for all of them.
func shownRows[R any](p *printer, all []R, usual int, pass func(*R) bool) []R {
	var out []R
	for i := range all {
		if pass(&all[i]) && len(out) < p.rows(len(all), usual) {
			out = append(out, all[i])
		}
	}
	return out
}

func idleText(g *report.GPURow) string {
	var sums []report.IdleRow // by cause; the document has them by cause and place
	for _, c := range g.IdleByCause {
		i := slices.IndexFunc(sums, func(s report.IdleRow) bool { return s.Cause == c.Cause })
		if i < 0 {
			sums = append(sums, c)
			continue
		}
		sums[i].Us += c.Us
	}
	slices.SortStableFunc(sums, func(x, y report.IdleRow) int { return cmp.Compare(y.Us, x.Us) })
	var out []string
	for _, c := range sums {
		if c.Us >= 0.02*g.SpanUs && len(out) < 3 {
			out = append(out, fmt.Sprintf("%s %s", c.Cause, units.Percent(c.Us/g.SpanUs)))
		}
	}
	return strings.Join(out, ", ")
}

func (p *printer) criticalPath() {
	if len(p.r.CriticalPath) == 0 {
		return
	}
	p.heading("Critical path", "of one traced step: its length would change with these")
	writeTable(p, pathColumns, p.r.CriticalPath[:p.rows(len(p.r.CriticalPath), 8)])
	var parts []string
	for _, r := range p.r.CriticalRanks[:p.rows(len(p.r.CriticalRanks), 8)] {
		parts = append(parts, fmt.Sprintf("%d %s", r.Rank, units.Percent(r.Share)))
	}
	if len(parts) > 0 {
		p.wrap("  by rank: ", "    ", strings.Join(parts, " · "))
	}
}

var pathColumns = []column[report.CriticalRow]{
	{"kind", func(c *report.CriticalRow) string { return c.Kind }, 0},
	{"time", func(c *report.CriticalRow) string { return units.Milliseconds(c.Us / 1e3) }, number},
	{"share", func(c *report.CriticalRow) string { return units.Percent(c.Share) }, number},
	{"longest", longestSpan, number},
	{"which", longestName, rest},
}

func longestSpan(c *report.CriticalRow) string {
	if len(c.Spans) == 0 {
		return ""
	}
	return units.Milliseconds(c.Spans[0].Us / 1e3)
}

func longestName(c *report.CriticalRow) string {
	if len(c.Spans) == 0 {
		return ""
	}
	name := report.ShortKernel(c.Spans[0].Name)
	if rank := c.Spans[0].Rank; rank != nil {
		name += fmt.Sprintf(" (rank %d)", *rank)
	}
	return strings.TrimSpace(name)
}

// operatorKeys maps words of torch.profiler's sort_by to columns.
var operatorKeys = map[string]func(*report.OpRow) float64{
	"self_cpu_time_total":      func(o *report.OpRow) float64 { return o.SelfCPUUs },
	"cpu_time_total":           func(o *report.OpRow) float64 { return o.CPUUs },
	"self_device_time_total":   func(o *report.OpRow) float64 { return o.SelfDeviceUs },
	"device_time_total":        func(o *report.OpRow) float64 { return o.DeviceUs },
	"self_cuda_time_total":     func(o *report.OpRow) float64 { return o.SelfDeviceUs },
	"cuda_time_total":          func(o *report.OpRow) float64 { return o.DeviceUs },
	"cpu_time":                 func(o *report.OpRow) float64 { return o.CPUUs / float64(max(o.Count, 1)) },
	"device_time":              func(o *report.OpRow) float64 { return o.DeviceUs / float64(max(o.Count, 1)) },
	"cuda_time":                func(o *report.OpRow) float64 { return o.DeviceUs / float64(max(o.Count, 1)) },
	"count":                    func(o *report.OpRow) float64 { return float64(o.Count) },
	"cpu_memory_usage":         func(o *report.OpRow) float64 { return float64(o.CPUBytes) },
	"self_cpu_memory_usage":    func(o *report.OpRow) float64 { return float64(o.SelfCPUBytes) },
	"device_memory_usage":      func(o *report.OpRow) float64 { return float64(o.DeviceBytes) },
	"self_device_memory_usage": func(o *report.OpRow) float64 { return float64(o.SelfDeviceBytes) },
	"flops":                    func(o *report.OpRow) float64 { return float64(o.Flops) },
}

// sortedOperators are the operators that a report lists, in the order that was asked for, with what they are sorted by; device says that
// some have device work.
func (p *printer) sortedOperators() (rows []report.OpRow, key func(*report.OpRow) float64, device bool) {
	rows = slices.DeleteFunc(slices.Clone(p.r.KeyAverages), func(o report.OpRow) bool {
		return p.opt.SortBy == "" && (o.IsUserAnnotation || o.DeviceType != "cpu")
	})
	device = slices.ContainsFunc(rows, func(o report.OpRow) bool { return o.SelfDeviceUs > 0 })
	if key = operatorKeys[p.opt.SortBy]; key == nil {
		key = operatorKeys["self_cpu_time_total"]
		if device {
			key = operatorKeys["self_device_time_total"]
		}
	}
	slices.SortStableFunc(rows, func(x, y report.OpRow) int { return cmp.Compare(key(&y), key(&x)) })
	return rows, key, device
}

func (p *printer) operators() {
	rows, _, device := p.sortedOperators()
	if len(rows) == 0 {
		return
	}
	selfCPU := 0.0
	for i := range rows {
		selfCPU += rows[i].SelfCPUUs
	}
	aside := fmt.Sprintf("%s, tracing cost included; %d names", cmp.Or(p.r.KeyAveragesOf, "of the traced steps"), len(rows))
	if device {
		aside = "CPU times of device operators are the time to launch them; " + aside
	}
	p.heading("Top operators", aside)
	cols := []column[report.OpRow]{
		{"operator", opName, rest},
		{"module", func(o *report.OpRow) string { return units.ClipLeft(cmp.Or(o.Module, unknown), moduleText) }, 0},
		{"self CPU", func(o *report.OpRow) string { return units.Milliseconds(o.SelfCPUUs / 1e3) }, number},
		{"share", func(o *report.OpRow) string { return units.Percent(o.SelfCPUUs / max(selfCPU, 1e-9)) }, number},
		{"total CPU", func(o *report.OpRow) string { return units.Milliseconds(o.CPUUs / 1e3) }, number},
		{"self device", func(o *report.OpRow) string { return deviceTime(device, o.SelfDeviceUs) }, number},
		{"total device", func(o *report.OpRow) string { return deviceTime(device, o.DeviceUs) }, number},
		{"calls", func(o *report.OpRow) string { return units.Count(o.Count) }, number},
	}
	if !byModule(p.r) {
		cols = slices.DeleteFunc(cols, func(c column[report.OpRow]) bool { return c.head == "module" })
	}
	writeKnown(p, cols, rows[:p.rows(len(rows), 10)])
}

// opName is an operator with the shapes that tell it apart.
func opName(o *report.OpRow) string {
	if o.InputShapes == "" {
		return o.Name
	}
	return o.Name + " " + o.InputShapes
}

// deviceTime is unknown in every row of a program without a device.
func deviceTime(device bool, us float64) string {
	if !device {
		return unknown
	}
	return units.Milliseconds(us / 1e3)
}

// moduleText is how wide a module's path is beside an operator's name; its end tells most.
const moduleText = 40

// byModule says whether the operator table was split by modules, and any are known.
func byModule(r *report.Report) bool {
	return slices.ContainsFunc(r.KeyAverages, func(o report.OpRow) bool { return o.Module != "" })
}

func (p *printer) kernels() {
	if len(p.r.Kernels) == 0 {
		return
	}
	total := 0.0
	for i := range p.r.Kernels {
		total += p.r.Kernels[i].DeviceUs
	}
	p.heading("Top kernels", fmt.Sprintf("%d names, %s of device work", len(p.r.Kernels), units.Milliseconds(total/1e3)))
	p.kernelKinds(total)
	below := kernelPlace
	if !p.opt.All && !p.asked() {
		below = nil
	}
	writeTableWith(p, []column[report.KernelRow]{
		{"kernel", func(k *report.KernelRow) string { return report.ShortKernel(k.Name) }, rest},
		{"kind", func(k *report.KernelRow) string { return k.Category }, 0},
		{"time", func(k *report.KernelRow) string { return units.Milliseconds(k.DeviceUs / 1e3) }, number},
		{"share", func(k *report.KernelRow) string { return units.Percent(k.DeviceUs / max(total, 1e-9)) }, number},
		{"mean", func(k *report.KernelRow) string { return units.Milliseconds(k.MeanUs / 1e3) }, number},
		{"runs", func(k *report.KernelRow) string { return units.Count(k.Count) }, number},
		{"launched by", func(k *report.KernelRow) string { return units.Clip(k.Launcher.Op, 24) }, 0},
	}, p.r.Kernels[:p.rows(len(p.r.Kernels), 8)], below)
}

// kernelPlace says where the longest run of a kernel was launched, and what more is known of its runs.
func kernelPlace(k *report.KernelRow) string {
	var parts []string
	if k.Launcher.File != "" {
		parts = append(parts, report.AtPlace(k.Launcher))
	}
	if k.Launcher.Module != "" {
		parts = append(parts, "module "+k.Launcher.Module)
	}
	if len(parts) > 0 && k.Count > 1 && k.MaxUs > 2*k.MeanUs {
		parts = append(parts, "longest run "+units.Milliseconds(k.MaxUs/1e3))
	}
	return strings.Join(parts, " · ")
}

// kernelKinds sums device work by kind.
func (p *printer) kernelKinds(total float64) {
	sums := map[string]float64{}
	for i := range p.r.Kernels {
		sums[p.r.Kernels[i].Category] += p.r.Kernels[i].DeviceUs
	}
	kinds := sortedKeys(sums)
	slices.SortStableFunc(kinds, func(x, y string) int { return cmp.Compare(sums[y], sums[x]) })
	var parts []string
	for _, kind := range kinds {
		if share := sums[kind] / max(total, 1e-9); share >= 0.0005 {
			parts = append(parts, kind+" "+units.Percent(share))
		}
	}
	if len(parts) > 1 {
		p.wrap("  by kind: ", "    ", strings.Join(parts, " · "))
	}
}

func (p *printer) python() {
	py := p.r.Python
	if py == nil || len(py.Lines)+len(py.Functions) == 0 {
		return
	}
	title := "Top Python lines"
	if !slices.ContainsFunc(py.Lines, func(l report.LineRow) bool {
		return strings.HasSuffix(l.File, ".py") || strings.HasPrefix(l.File, "<")
	}) {
		title = "Top lines" // another profiler's file, of a program in another language
	}
	p.heading(title, fmt.Sprintf("%s: %s seen by samples; own time includes library code called", py.Scope, units.Seconds(py.ScopeS)))
	writeTable(p, []column[report.LineRow]{
		{"own", func(l *report.LineRow) string { return units.Seconds(l.SelfS) }, number},
		{"share", func(l *report.LineRow) string { return units.Percent(l.SelfS / max(py.ScopeS, 1e-9)) }, number},
		{"total", func(l *report.LineRow) string { return units.Seconds(l.TotalS) }, number},
		{"line", func(l *report.LineRow) string { return fmt.Sprintf("%s:%d", report.Base(l.File), l.Line) }, 0},
		{"source", func(l *report.LineRow) string { return l.Source }, rest},
	}, py.Lines[:p.rows(len(py.Lines), 8)])
	p.heading("Top functions", "95 % interval of the total's share")
	writeTable(p, functionColumns, py.Functions[:p.rows(len(py.Functions), 8)])
	if p.opt.Verbose || p.opt.All {
		p.line("  asked for %.0f samples a second, got %.1f; %s samples, %s late, %s failed", py.AskedHz, py.AchievedHz,
			units.Count(int64(py.Samples)), units.Count(py.Late), units.Count(py.Failed))
		for _, q := range py.Processes {
			p.line("  pid %-8d %-9s rank %-3s %8s samples, %4s on a CPU  %s", q.PID, q.Role, report.RankText(q.Rank),
				units.Count(int64(q.Samples)), units.Percent(q.CPUPart), q.Command)
		}
	}
}

var functionColumns = []column[report.FuncRow]{
	{"own", func(f *report.FuncRow) string { return units.Seconds(f.SelfS) }, number},
	{"total", func(f *report.FuncRow) string { return units.Seconds(f.TotalS) }, number},
	{"share", func(f *report.FuncRow) string { return fmt.Sprintf("%.0f–%.0f %%", f.ShareLow*100, f.ShareHigh*100) }, number},
	{"function", func(f *report.FuncRow) string { return f.Function }, tail},
	{"file", func(f *report.FuncRow) string { return report.FileLine(f.File, f.Line) }, rest | tail},
}

func (p *printer) calls() {
	if len(p.r.Calls) == 0 {
		return
	}
	p.heading("Calls", "exact counts; times include what counting cost")
	writeTable(p, callColumns, p.r.Calls[:p.rows(len(p.r.Calls), 12)])
}

var callColumns = []column[report.CallRow]{
	{"own", func(c *report.CallRow) string { return units.Seconds(c.SelfS) }, number},
	{"total", func(c *report.CallRow) string { return units.Seconds(c.TotalS) }, number},
	{"calls", func(c *report.CallRow) string { return units.Count(c.Hits) }, number},
	{"function", func(c *report.CallRow) string { return c.Function }, tail},
	{"file", func(c *report.CallRow) string { return fmt.Sprintf("%s:%d", c.File, c.Line) }, rest | tail},
}
