package view

import (
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
	p.heading("GPU", "of each device's time from its first to its last work")
	var rows [][]string
	for i := range p.r.GPU {
		g := &p.r.GPU[i]
		if g.SpanUs <= 0 || !p.rankShown(g.Rank) || len(rows) >= p.rows(len(p.r.GPU), 16) {
			continue
		}
		of := func(us float64) string { return Percent(us / g.SpanUs) }
		rows = append(rows, []string{rankText(g.Rank), fmt.Sprint(g.Device), Milliseconds(g.SpanUs / 1e3), of(g.ComputeUs), of(g.CommunicationUs), of(g.CopyUs), of(g.IdleUs), idleText(g)})
	}
	p.table([]column{{head: "rank"}, {head: "device"}, {head: "span", right: true}, {head: "compute", right: true}, {head: "comm.", right: true},
		{head: "copy", right: true}, {head: "idle", right: true}, {head: "idle because of", wide: true}}, rows)
	p.gpuNotes()
}

func idleText(g *GPURow) string {
	var sums []IdleRow // by cause; the document has them by cause and place
	for _, c := range g.IdleByCause {
		i := slices.IndexFunc(sums, func(s IdleRow) bool { return s.Cause == c.Cause })
		if i < 0 {
			sums = append(sums, c)
			continue
		}
		sums[i].Us += c.Us
	}
	slices.SortStableFunc(sums, func(x, y IdleRow) int { return cmp.Compare(y.Us, x.Us) })
	var out []string
	for _, c := range sums {
		if c.Us >= 0.02*g.SpanUs && len(out) < 3 {
			out = append(out, fmt.Sprintf("%s %s", c.Cause, Percent(c.Us/g.SpanUs)))
		}
	}
	return strings.Join(out, ", ")
}

func (p *printer) criticalPath() {
	if len(p.r.CriticalPath) == 0 {
		return
	}
	p.heading("Critical path", "of one traced step: its length would change with these")
	var rows [][]string
	for i := range p.r.CriticalPath[:p.rows(len(p.r.CriticalPath), 8)] {
		c := &p.r.CriticalPath[i]
		name, at := "", ""
		if len(c.Spans) > 0 {
			sp := &c.Spans[0]
			name, at = ShortKernel(sp.Name), Milliseconds(sp.Us/1e3)
			if sp.Rank != nil {
				name += fmt.Sprintf(" (rank %d)", *sp.Rank)
			}
		}
		rows = append(rows, []string{c.Kind, Milliseconds(c.Us / 1e3), Percent(c.Share), at, strings.TrimSpace(name)})
	}
	p.table([]column{{head: "kind"}, {head: "time", right: true}, {head: "share", right: true}, {head: "longest", right: true}, {head: "which", wide: true}}, rows)
	var parts []string
	for _, r := range p.r.CriticalRanks[:p.rows(len(p.r.CriticalRanks), 8)] {
		parts = append(parts, fmt.Sprintf("%d %s", r.Rank, Percent(r.Share)))
	}
	if len(parts) > 0 {
		p.wrap("  by rank: ", "    ", strings.Join(parts, " · "))
	}
}

func rankText(r *int) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprint(*r)
}

// operatorKeys maps words of torch.profiler's sort_by to columns.
var operatorKeys = map[string]func(*OpRow) float64{
	"self_cpu_time_total":      func(o *OpRow) float64 { return o.SelfCPUUs },
	"cpu_time_total":           func(o *OpRow) float64 { return o.CPUUs },
	"self_device_time_total":   func(o *OpRow) float64 { return o.SelfDeviceUs },
	"device_time_total":        func(o *OpRow) float64 { return o.DeviceUs },
	"self_cuda_time_total":     func(o *OpRow) float64 { return o.SelfDeviceUs },
	"cuda_time_total":          func(o *OpRow) float64 { return o.DeviceUs },
	"cpu_time":                 func(o *OpRow) float64 { return o.CPUUs / float64(max(o.Count, 1)) },
	"device_time":              func(o *OpRow) float64 { return o.DeviceUs / float64(max(o.Count, 1)) },
	"cuda_time":                func(o *OpRow) float64 { return o.DeviceUs / float64(max(o.Count, 1)) },
	"count":                    func(o *OpRow) float64 { return float64(o.Count) },
	"cpu_memory_usage":         func(o *OpRow) float64 { return float64(o.CPUBytes) },
	"self_cpu_memory_usage":    func(o *OpRow) float64 { return float64(o.SelfCPUBytes) },
	"device_memory_usage":      func(o *OpRow) float64 { return float64(o.DeviceBytes) },
	"self_device_memory_usage": func(o *OpRow) float64 { return float64(o.SelfDeviceBytes) },
	"flops":                    func(o *OpRow) float64 { return float64(o.Flops) },
}

func (p *printer) operators() {
	rows := slices.DeleteFunc(slices.Clone(p.r.KeyAverages), func(o OpRow) bool {
		return p.opt.SortBy == "" && (o.IsUserAnnotation || o.DeviceType != "cpu")
	})
	if len(rows) == 0 {
		return
	}
	device := slices.ContainsFunc(rows, func(o OpRow) bool { return o.SelfDeviceUs > 0 })
	key := operatorKeys[p.opt.SortBy]
	if key == nil {
		key = operatorKeys["self_cpu_time_total"]
		if device {
			key = operatorKeys["self_device_time_total"]
		}
	}
	slices.SortStableFunc(rows, func(x, y OpRow) int { return cmp.Compare(key(&y), key(&x)) })
	selfCPU := 0.0
	for i := range rows {
		selfCPU += rows[i].SelfCPUUs
	}
	aside := fmt.Sprintf("of the traced steps, tracing cost included; %d names", len(rows))
	if device {
		aside = "CPU times of device operators are the time to launch them; " + aside
	}
	p.heading("Top operators", aside)
	us := func(v float64) string { return Milliseconds(v / 1e3) }
	var cells [][]string
	for i := range rows[:p.rows(len(rows), 10)] {
		o := &rows[i]
		name := o.Name
		if o.InputShapes != "" {
			name += " " + o.InputShapes
		}
		c := []string{name}
		if p.r.byModule() {
			c = append(c, clipLeft(cmp.Or(o.Module, "-"), moduleText))
		}
		c = append(c, us(o.SelfCPUUs), Percent(o.SelfCPUUs/max(selfCPU, 1e-9)), us(o.CPUUs))
		if device {
			c = append(c, us(o.SelfDeviceUs), us(o.DeviceUs))
		}
		cells = append(cells, append(c, Count(o.Count)))
	}
	cols := []column{{head: "operator", wide: true}}
	if p.r.byModule() {
		cols = append(cols, column{head: "module"})
	}
	cols = append(cols, column{head: "self CPU", right: true}, column{head: "share", right: true}, column{head: "total CPU", right: true})
	if device {
		cols = append(cols, column{head: "self device", right: true}, column{head: "total device", right: true})
	}
	p.table(append(cols, column{head: "calls", right: true}), cells)
}

// moduleText is how wide a module's path is beside an operator's name; its end tells most.
const moduleText = 40

// byModule says whether the operator table was split by modules, and any are known.
func (r *Report) byModule() bool {
	return slices.ContainsFunc(r.KeyAverages, func(o OpRow) bool { return o.Module != "" })
}

func (p *printer) kernels() {
	if len(p.r.Kernels) == 0 {
		return
	}
	total := 0.0
	for i := range p.r.Kernels {
		total += p.r.Kernels[i].DeviceUs
	}
	p.heading("Top kernels", fmt.Sprintf("%d names, %s of device work", len(p.r.Kernels), Milliseconds(total/1e3)))
	p.kernelKinds(total)
	var rows [][]string
	var below []string
	for i := range p.r.Kernels[:p.rows(len(p.r.Kernels), 8)] {
		k := &p.r.Kernels[i]
		rows = append(rows, []string{ShortKernel(k.Name), k.Category, Milliseconds(k.DeviceUs / 1e3), Percent(k.DeviceUs / max(total, 1e-9)), Milliseconds(k.MeanUs / 1e3), Count(k.Count), clip(k.Launcher.Op, 24)})
		if p.opt.All || p.asked() {
			below = append(below, kernelPlace(k))
		}
	}
	p.tableWith([]column{{head: "kernel", wide: true}, {head: "kind"}, {head: "time", right: true}, {head: "share", right: true}, {head: "mean", right: true},
		{head: "runs", right: true}, {head: "launched by"}}, rows, below)
}

// kernelPlace says where the longest run of a kernel was launched, and what more is known of its runs.
func kernelPlace(k *KernelRow) string {
	var parts []string
	if k.Launcher.File != "" {
		parts = append(parts, atPlace(k.Launcher))
	}
	if k.Launcher.Module != "" {
		parts = append(parts, "module "+k.Launcher.Module)
	}
	if len(parts) > 0 && k.Count > 1 && k.MaxUs > 2*k.MeanUs {
		parts = append(parts, "longest run "+Milliseconds(k.MaxUs/1e3))
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
			parts = append(parts, kind+" "+Percent(share))
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
	if !slices.ContainsFunc(py.Lines, func(l LineRow) bool { return strings.HasSuffix(l.File, ".py") || strings.HasPrefix(l.File, "<") }) {
		title = "Top lines" // another profiler's file, of a program in another language
	}
	p.heading(title, fmt.Sprintf("%s: %s seen by samples; own time includes library code called", py.Scope, Seconds(py.ScopeS)))
	var rows [][]string
	for i := range py.Lines[:p.rows(len(py.Lines), 8)] {
		l := &py.Lines[i]
		rows = append(rows, []string{Seconds(l.SelfS), Percent(l.SelfS / max(py.ScopeS, 1e-9)), Seconds(l.TotalS), fmt.Sprintf("%s:%d", base(l.File), l.Line), l.Source})
	}
	p.table([]column{{head: "own", right: true}, {head: "share", right: true}, {head: "total", right: true}, {head: "line"}, {head: "source", wide: true}}, rows)
	p.heading("Top functions", "95 % interval of the total's share")
	rows = nil
	for i := range py.Functions[:p.rows(len(py.Functions), 8)] {
		f := &py.Functions[i]
		rows = append(rows, []string{Seconds(f.SelfS), Seconds(f.TotalS), fmt.Sprintf("%.0f–%.0f %%", f.ShareLow*100, f.ShareHigh*100), f.Function, fileLine(f.File, f.Line)})
	}
	p.table([]column{{head: "own", right: true}, {head: "total", right: true}, {head: "share", right: true}, {head: "function", left: true}, {head: "file", wide: true, left: true}}, rows)
	if p.opt.Verbose || p.opt.All {
		p.line("  asked for %.0f samples a second, got %.1f; %s samples, %s late, %s failed", py.AskedHz, py.AchievedHz, Count(int64(py.Samples)), Count(py.Late), Count(py.Failed))
		for _, q := range py.Processes {
			p.line("  pid %-8d %-9s rank %-3s %8s samples, %4s on a CPU  %s", q.PID, q.Role, rankText(q.Rank), Count(int64(q.Samples)), Percent(q.CPUPart), q.Command)
		}
	}
}

// fileLine is a place as editors open it; files of other profilers do not tell every line.
func fileLine(file string, line int) string {
	if line <= 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

func (p *printer) calls() {
	p.lineTimes()
	if len(p.r.Calls) == 0 {
		return
	}
	p.heading("Calls", "exact counts; times include what counting cost")
	var rows [][]string
	for i := range p.r.Calls[:p.rows(len(p.r.Calls), 12)] {
		c := &p.r.Calls[i]
		rows = append(rows, []string{Seconds(c.SelfS), Seconds(c.TotalS), Count(c.Hits), c.Function, fmt.Sprintf("%s:%d", c.File, c.Line)})
	}
	p.table([]column{{head: "own", right: true}, {head: "total", right: true}, {head: "calls", right: true}, {head: "function", left: true}, {head: "file", wide: true, left: true}}, rows)
}

// lineTimes are exact times by line.
func (p *printer) lineTimes() {
	if len(p.r.Lines) == 0 {
		return
	}
	total := 0.0
	for i := range p.r.Lines {
		total += p.r.Lines[i].SelfS
	}
	p.heading("Lines", fmt.Sprintf("%s in the measured functions, calls included", Seconds(total)))
	var rows [][]string
	for i := range p.r.Lines[:p.rows(len(p.r.Lines), 12)] {
		l := &p.r.Lines[i]
		rows = append(rows, []string{Seconds(l.SelfS), Percent(l.SelfS / max(total, 1e-9)), Count(l.Hits), Milliseconds(l.SelfS * 1e3 / float64(max(l.Hits, 1))), l.Function, fmt.Sprintf("%s:%d", l.File, l.Line)})
	}
	p.table([]column{{head: "time", right: true}, {head: "share", right: true}, {head: "hits", right: true}, {head: "per hit", right: true}, {head: "function"}, {head: "line", wide: true, left: true}}, rows)
}
