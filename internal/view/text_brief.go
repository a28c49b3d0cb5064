package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
	"slices"
	"strings"
)

// The default report of a program is one screen: the verdict, where the step goes, the findings, what measuring cost. Every other
// section is one line there, its best row, and one flag away, but for what had to be asked for when the program was measured.

// mostLines is how long that report is at most, in lines, without what was asked for.
const mostLines = 60

// brief says whether the default report is written: nothing was asked for, and the account of a step says where time goes. Without
// one, as of most files of other tools, the tables are what there is to see.
func (p *printer) brief() bool {
	return !p.opt.All && !p.asked() && p.opt.SortBy == "" && p.opt.RowLimit == 0 && len(p.r.Breakdown) > 0
}

// lines is how many lines have been written.
func (p *printer) lines() int { return strings.Count(p.out.String(), "\n") }

// further names the sections that the default report leaves out, each with its best row, and commands for other tools.
func (p *printer) further(left []Section) {
	var rows [][2]string
	for _, s := range left {
		if s.best == nil {
			continue
		}
		if text := s.best(p); text != "" {
			rows = append(rows, [2]string{s.Name, text})
		}
	}
	if len(rows)+len(p.r.Next) == 0 {
		return
	}
	p.heading("Look further", "with --section NAME, or --all")
	for _, row := range rows {
		p.line("  %s  %s", pad(row[0], widestName(rows)), row[1])
	}
	for _, command := range p.r.Next[min(1, len(p.r.Next)):] {
		p.wrap("  ", "    ", command)
	}
}

func widestName(rows [][2]string) int {
	n := 0
	for _, row := range rows {
		n = max(n, units.TextWidth(row[0]))
	}
	return n
}

// reserve is how many lines of the default report come after the findings.
func (p *printer) reserve() int {
	below := &printer{r: p.r, opt: p.opt, width: p.width}
	below.cost()
	below.files()
	for _, s := range p.leftOut() {
		if s.best != nil && s.best(below) != "" {
			below.line("%s", s.Name)
		}
	}
	return below.lines() + 2 + len(p.r.Next)
}

// leftOut are the sections that the default report names only.
func (p *printer) leftOut() []Section {
	return slices.DeleteFunc(Sections(), func(s Section) bool { return s.lead || s.extra })
}

// briefEnvironment is what of the environment decides how fast a program is, as far as one line can hold it.
func (p *printer) briefEnvironment() []string {
	e := &p.r.Environment
	var out []string
	if e.Torch != "" {
		out = append(out, "PyTorch "+e.Torch)
	}
	if e.Python != "" {
		out = append(out, "Python "+e.Python)
	}
	var machine []string
	p.machine(&machine)
	for _, text := range machine {
		if strings.Contains(text, "cores") || strings.HasPrefix(text, "throttled") || strings.HasPrefix(text, "load") {
			out = append(out, text)
		}
	}
	if n, ok := e.Threads["torch.get_num_threads"]; ok {
		out = append(out, "torch.get_num_threads="+n)
	}
	return out
}

// bestGPU sums up what the first device did in the traced steps; without those, from its first to its last work.
func bestGPU(p *printer) string {
	rows := p.steadyGPUs()
	if len(rows) == 0 {
		return ""
	}
	sum := report.GPURow{Rank: rows[0].Rank, Device: rows[0].Device}
	all := 0.0
	for _, g := range rows {
		if g.Device == sum.Device && report.RankText(g.Rank) == report.RankText(sum.Rank) {
			all += max(g.SpanUs, g.StepsUs)
			sum.SpanUs, sum.ComputeUs, sum.Steps = sum.SpanUs+g.SpanUs, sum.ComputeUs+g.ComputeUs, sum.Steps+g.Steps
			sum.IdleByCause = append(sum.IdleByCause, g.IdleByCause...)
		}
	}
	if all <= 0 {
		return ""
	}
	text := fmt.Sprintf("device %d computes %s of %s", sum.Device, units.Percent(sum.ComputeUs/all), units.Milliseconds(all/1e3))
	if sum.Steps > 0 {
		text += " in " + units.Counted(sum.Steps, "traced step")
	}
	if late := all - sum.SpanUs; late > 0 { // of the steps, before its first and after its last work
		sum.IdleByCause = append(sum.IdleByCause, report.IdleRow{Cause: "no work seen", Us: late})
	}
	sum.SpanUs = all // shares of one whole
	if why := idleText(&sum); why != "" {
		text += ", idle because of " + why
	}
	return text
}

// steadyGPUs are the rows of shown ranks without those of traces that cover no step, where others do: the first one is most often of a part
// of the warm-up, in which a device does next to nothing.
func (p *printer) steadyGPUs() []*report.GPURow {
	var all, steady []*report.GPURow
	for i := range p.r.GPU {
		if g := &p.r.GPU[i]; p.rankShown(g.Rank) {
			if all = append(all, g); g.Steps > 0 {
				steady = append(steady, g)
			}
		}
	}
	if len(steady) == 0 {
		return all
	}
	return steady
}

// firstShown is the first row of a rank that is shown; nil without one.
func firstShown[R any](p *printer, rows []R, rank func(*R) *int) *R {
	for i := range rows {
		if p.rankShown(rank(&rows[i])) {
			return &rows[i]
		}
	}
	return nil
}

func bestPath(p *printer) string {
	if len(p.r.CriticalPath) == 0 {
		return ""
	}
	c := &p.r.CriticalPath[0]
	return fmt.Sprintf("%s, %s of one traced step", c.Kind, units.Percent(c.Share))
}

func bestOperator(p *printer) string {
	rows, key, _ := p.sortedOperators()
	if len(rows) == 0 {
		return ""
	}
	all := 0.0
	for i := range rows {
		all += key(&rows[i])
	}
	return fmt.Sprintf("%s %s, %s of %d names", opName(&rows[0]), units.Milliseconds(key(&rows[0])/1e3),
		units.Percent(key(&rows[0])/max(all, 1e-9)), len(rows))
}

func bestKernel(p *printer) string {
	if len(p.r.Kernels) == 0 {
		return ""
	}
	all := 0.0
	for i := range p.r.Kernels {
		all += p.r.Kernels[i].DeviceUs
	}
	k := &p.r.Kernels[0]
	return fmt.Sprintf("%s %s, %s of %d names", report.ShortKernel(k.Name), units.Milliseconds(k.DeviceUs/1e3),
		units.Percent(k.DeviceUs/max(all, 1e-9)), len(p.r.Kernels))
}

func bestLine(p *printer) string {
	py := p.r.Python
	if py == nil || len(py.Lines) == 0 {
		return ""
	}
	l := &py.Lines[0]
	return fmt.Sprintf("%s:%d %s, %s: %s", report.Base(l.File), l.Line, units.Seconds(l.SelfS),
		units.Percent(l.SelfS/max(py.ScopeS, 1e-9)), l.Source)
}

func bestAction(p *printer) string {
	if len(p.r.Actions) == 0 {
		return ""
	}
	a := &p.r.Actions[0]
	return fmt.Sprintf("%s %s in %s calls", a.Name, units.Seconds(a.SelfS), units.Count(a.Count))
}

func bestLoader(p *printer) string {
	if len(p.r.Loaders) == 0 {
		return ""
	}
	l := &p.r.Loaders[0]
	return fmt.Sprintf("%s, %s: a batch takes %s to fetch and is waited for %s", l.Dataset, units.Counted(l.Workers, "worker"),
		units.Milliseconds(l.FetchMs), units.Milliseconds(l.WaitMs))
}

func bestStep(p *printer) string {
	if len(p.r.Steps) == 0 {
		return ""
	}
	s := &p.r.Steps[0]
	q := timed(s)
	text := fmt.Sprintf("%s %s, median %s", units.Count(int64(s.Count)), stepKindName(s), units.Milliseconds(q.MedianMs))
	if q.P10Ms != nil && q.P90Ms != nil {
		text += fmt.Sprintf(" (%s for the middle 80 %%)", units.Range(*q.P10Ms, *q.P90Ms, units.Milliseconds))
	}
	return text
}

func bestRank(p *printer) string {
	if len(p.r.Ranks) == 0 {
		return ""
	}
	late := &p.r.Ranks[0]
	for i := range p.r.Ranks {
		if r := &p.r.Ranks[i]; report.ValueOr(r.LateMs, 0) > report.ValueOr(late.LateMs, 0) {
			late = r
		}
	}
	if report.ValueOr(late.LateMs, 0) <= 0 {
		return units.Counted(len(p.r.Ranks), "rank")
	}
	return fmt.Sprintf("%s; rank %d works %s a step longer than the mean", units.Counted(len(p.r.Ranks), "rank"), late.Rank,
		units.Milliseconds(*late.LateMs))
}

func bestCollective(p *printer) string {
	c := firstShown(p, p.r.Communication, func(c *report.CommRow) *int { return c.Rank })
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s %s in %s calls", c.Op, units.Milliseconds(c.DeviceUs/1e3), units.Count(c.Count))
}

// SavingText says what a fix saves, with its range.
func SavingText(s *report.Saving) string {
	if s.StepMs != nil {
		return fmt.Sprintf("%s a step (best guess %s); %s of this run", units.Range(s.StepMs.Low, s.StepMs.High, units.Milliseconds),
			units.Milliseconds(s.StepMs.Mid), units.Range(s.RunS.Low, s.RunS.High, units.Seconds))
	}
	return fmt.Sprintf("%s of this run (best guess %s)", units.Range(s.RunS.Low, s.RunS.High, units.Seconds), units.Seconds(s.RunS.Mid))
}

// InOrderText says what is left to save once the findings above are fixed.
func InOrderText(s *report.Saving) string {
	if *s.InOrderMs <= 0 {
		return "after the fixes above: nothing more"
	}
	return fmt.Sprintf("after the fixes above: %s a step, which leaves %s", units.Milliseconds(*s.InOrderMs), units.Milliseconds(*s.LeftMs))
}
