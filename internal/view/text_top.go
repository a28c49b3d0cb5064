package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// verdict writes the first lines, which must be enough for somebody in a hurry: cause, place, saving and the next command.
func (p *printer) verdict() {
	r := p.r
	p.out.WriteString(p.paint(bold, "bottleneck") + "  " + p.title() + "\n\n")
	colour := yellow
	i := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Counts() })
	if i < 0 {
		colour = green
	}
	p.wrapStyled(colour, "  ", "  ", units.UpperFirst(r.Verdict.Sentence))
	if i >= 0 {
		f := &r.Findings[i]
		if f.Where.File != "" && f.Where.Source != "" {
			p.line("    %d │ %s", f.Where.Line, f.Where.Source)
		}
		fix, _, _ := strings.Cut(f.Fix.Text, ". ")
		p.wrap("  Fix: ", "       ", units.Clip(strings.TrimSuffix(fix, "."), 3*p.width-30)+".")
		if text, a := changeText(&f.Fix), f.Fix.Action; text != "" && (a == nil || a.Saving == nil) { // else it saves something else
			p.wrap("  Change: ", "          ", units.Clip(text, 2*p.width-24))
		}
	}
	if c := r.Verdict.Confidence; c.Level != "" {
		p.wrap("  Confidence: ", "              ", c.Text())
	}
	if len(r.Next) > 0 {
		p.wrap("  Next: ", "        ", r.Next[0])
	}
}

// title is the report's title within the width that is left beside the tool's name.
func (p *printer) title() string {
	name, ending := titleParts(p.r)
	return units.Clip(name, p.width-12-units.TextWidth(ending)) + ending
}

// Title is the command (or what was read), how long it ran and how it ended.
func Title(r *report.Report) string {
	name, ending := titleParts(r)
	return name + ending
}

func titleParts(r *report.Report) (name, ending string) {
	switch {
	case r.Run != nil:
		if r.Run.WallS > 0 {
			ending = ", " + units.Seconds(r.Run.WallS)
		}
		switch {
		case r.Growing:
			ending += ", still running"
		case r.Run.Signal != nil:
			ending += ", ended by " + *r.Run.Signal
		case r.Run.ExitCode != 0:
			ending += fmt.Sprintf(", exit code %d", r.Run.ExitCode)
		}
		return commandText(r.Run.Command), ending
	case len(r.Inputs) == 1:
		return report.Base(r.Inputs[0].Path), ""
	case len(r.Inputs) > 1:
		return fmt.Sprintf("%d files, the first %s", len(r.Inputs), report.Base(r.Inputs[0].Path)), ""
	}
	return "", ""
}

// commandText is a command as its user thinks of it: without the interpreter and its path.
func commandText(command []string) string {
	if len(command) > 1 && strings.HasPrefix(report.Base(command[0]), "python") {
		command = command[1:]
	}
	if len(command) == 0 {
		return ""
	}
	if command[0] == "-m" {
		return "python " + strings.Join(command, " ")
	}
	return strings.Join(append([]string{report.Base(command[0])}, command[1:]...), " ")
}

func (p *printer) environment() {
	e := &p.r.Environment
	var soft, mach []string
	add := func(list *[]string, format string, args ...any) { *list = append(*list, fmt.Sprintf(format, args...)) }
	if e.Torch != "" {
		add(&soft, "PyTorch %s", e.Torch)
	}
	if e.Python != "" {
		add(&soft, "Python %s", e.Python)
	}
	if e.CUDA != "" {
		add(&soft, "CUDA %s", e.CUDA)
	}
	if e.HIP != "" {
		add(&soft, "HIP %s", e.HIP)
	}
	if e.OS != "" {
		add(&soft, "%s", e.OS)
	}
	p.machine(&mach)
	if len(soft)+len(mach) == 0 && len(e.Missing) == 0 {
		return
	}
	p.heading("Environment", "")
	if p.brief() {
		soft, mach = p.briefEnvironment(), nil
	}
	if len(soft) > 0 {
		p.wrap("  ", "  ", strings.Join(soft, " · "))
	}
	if len(mach) > 0 {
		p.wrap("  ", "  ", strings.Join(mach, " · "))
	}
	for _, g := range e.GPUs {
		p.wrap("  ", "    ", fmt.Sprintf("GPU %d: %s", g.Index, GPUText(&g)))
	}
	for _, m := range e.Missing {
		p.wrap("  ! ", "    ", m)
	}
	if p.r.Run != nil {
		for _, n := range p.r.Run.Notes {
			p.wrap("  ! ", "    ", n)
		}
	}
}

func (p *printer) machine(out *[]string) {
	e := &p.r.Environment
	add := func(format string, args ...any) { *out = append(*out, fmt.Sprintf(format, args...)) }
	if e.CPUs > 0 {
		s := fmt.Sprintf("%d cores", e.CPUs)
		if n := len(e.Affinity); n > 0 && n < e.CPUs {
			s += fmt.Sprintf(", bound to %d", n)
		}
		if e.CPUQuota != nil {
			s += fmt.Sprintf(", quota %.3g", *e.CPUQuota)
		}
		add("%s", s)
	}
	if e.CPUModel != "" {
		add("%s", e.CPUModel)
	}
	if e.ThrottledSeconds != nil && *e.ThrottledSeconds > 0 {
		add("throttled for %s", units.Seconds(*e.ThrottledSeconds))
	}
	if e.MemoryBytes != nil {
		add("memory %s", units.Bytes(float64(*e.MemoryBytes)))
	}
	if e.SHMBytes != nil {
		add("/dev/shm %s", units.Bytes(float64(*e.SHMBytes)))
	}
	if e.Libc != "" {
		add("%s", e.Libc)
	}
	if e.HugePages != "" {
		add("huge pages: %s", e.HugePages)
	}
	for _, k := range sortedKeys(e.Threads) {
		add("%s=%s", k, e.Threads[k])
	}
	if e.LoadBefore != nil && *e.LoadBefore >= 0.2 {
		add("load of other programs before the run %.2g per core", *e.LoadBefore)
	}
}

// GPUText describes a device.
func GPUText(g *report.GPU) string {
	s := cmp.Or(g.Name, "name not recorded")
	if g.MemoryBytes > 0 {
		s += ", " + units.Bytes(float64(g.MemoryBytes))
	}
	if g.ComputeCapability != "" {
		s += ", compute capability " + g.ComputeCapability
	}
	if g.ClockMHz != nil && g.MaxClockMHz != nil {
		s += fmt.Sprintf(", clock %.0f of %.0f MHz", *g.ClockMHz, *g.MaxClockMHz)
	}
	if g.UsedByOthers != nil && *g.UsedByOthers > 0.01 {
		s += ", used by others " + units.Percent(*g.UsedByOthers)
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (p *printer) packages() {
	if len(p.r.Environment.Packages) == 0 {
		return
	}
	p.heading("Packages", "")
	var names []string
	for _, k := range p.r.Environment.Packages {
		names = append(names, k.Name+" "+k.Version)
	}
	p.wrap("  ", "  ", strings.Join(names, " · "))
}

// breakdown shows the parts of the step as bars.
func (p *printer) breakdown() {
	a := p.r.Account
	if len(p.r.Breakdown) == 0 || a == nil {
		return
	}
	what := "Where the step goes"
	if a.Unit != "step" {
		what = "Where the run goes"
	} else if a.Kind != "" {
		what = "Where the " + a.Kind + " step goes"
	}
	p.heading(what, fmt.Sprintf("%s, %s; %s", units.Milliseconds(a.TotalMs), a.Process, a.Basis))
	p.bars(p.r.Breakdown)
	for _, n := range a.Notes {
		p.wrap("  ! ", "    ", n)
	}
	for _, k := range p.r.Kinds {
		p.heading("Where the "+k.Kind+" step goes", units.Milliseconds(k.TotalMs)+"; "+k.Basis)
		p.bars(k.Parts)
	}
}

// mostlySteady is the share of steps from which the default report has no room for what a run does beside them.
const mostlySteady = 0.8

// wholeRun writes the parts of a run; the default report only does where a good part of it is no steps.
func (p *printer) wholeRun() {
	if p.r.Run == nil || len(p.r.Run.Parts) == 0 {
		return
	}
	if p.brief() && p.r.Run.Steady != nil && *p.r.Run.Steady >= mostlySteady {
		return
	}
	p.heading("The whole run", units.Seconds(p.r.Run.WallS))
	p.bars(p.r.Run.Parts)
}

// bars writes the parts of a step, with what the larger ones are made of.
func (p *printer) bars(parts []report.Part) {
	for _, part := range parts {
		if part.Share < 0.0005 && part.Part != "unknown" {
			continue
		}
		p.bar("  ", part)
		for i, sub := range part.Of {
			if sub.Share < 0.01 || i >= 6 && !p.opt.All || p.brief() && (i >= 4 || sub.Share < 0.02) {
				continue
			}
			p.bar("    ", sub)
		}
	}
}

func (p *printer) bar(indent string, part report.Part) {
	const name = 26
	width := max(p.width-len(indent)-name-22, 10)
	if p.opt.Verbose {
		width = max(width-16, 10)
	}
	width = min(width, 50)
	n := int(part.Share*float64(width) + 0.5)
	if n == 0 && part.Share > 0 {
		n = 1
	}
	n = min(n, width)
	colour := blue
	if indent != "  " {
		colour = dim
	}
	if part.Share < 5e-6 {
		part.Share, part.Ms, n = 0, 0, 0
	}
	line := fmt.Sprintf("%s%s%9s %7s  ", indent, pad(units.Clip(part.Part, name-len(indent)+1), name-len(indent)+2),
		units.Milliseconds(part.Ms), units.Percent(part.Share))
	p.out.WriteString(line + p.paint(colour, strings.Repeat("█", n)))
	if p.opt.Verbose && part.Basis != "" {
		p.out.WriteString(strings.Repeat(" ", width-n+1) + p.paint(dim, part.Basis))
	}
	p.out.WriteByte('\n')
}

func (p *printer) findings() {
	if len(p.r.Findings) == 0 {
		if p.asked() {
			p.heading("Findings", "")
			p.line("  none")
		}
		return
	}
	p.heading("Findings", "savings are estimates; the first fix can change the others")
	if p.brief() {
		p.briefFindings()
		return
	}
	for i := range p.r.Findings {
		if i >= p.rows(len(p.r.Findings), 8) {
			p.line("  %d more with --all", len(p.r.Findings)-i)
			break
		}
		p.finding(i+1, &p.r.Findings[i])
	}
}

// briefFindings writes the first finding in full, the others as long as the report fits its length, and of the rest a line each.
func (p *printer) briefFindings() {
	most := mostLines - p.reserve()
	for i := range p.r.Findings {
		f := &p.r.Findings[i]
		rest := len(p.r.Findings) - i - 1
		full := &printer{r: p.r, opt: p.opt, width: p.width}
		full.finding(i+1, f)
		switch {
		case i == 0 || p.lines()+full.lines()+2*rest <= most:
			p.out.WriteString(full.out.String())
		case p.lines()+2*rest+2 <= most || rest == 0:
			p.shortFinding(i+1, f)
		default:
			p.line("  %d more with --section findings", rest+1)
			return
		}
	}
}

// shortFinding is a finding in a line or two: what, where, and what it saves.
func (p *printer) shortFinding(n int, f *report.Finding) {
	text := units.UpperFirst(f.Title) + at(f.Where)
	if f.Saving != nil {
		text += fmt.Sprintf("; saves %s of this run", units.Range(f.Saving.RunS.Low, f.Saving.RunS.High, units.Seconds))
	}
	p.wrap(fmt.Sprintf("%2d. ", n), "    ", text)
}

func (p *printer) finding(n int, f *report.Finding) {
	name := f.Cause
	if f.Sub != "" {
		name += "/" + f.Sub
	}
	lead := fmt.Sprintf("%2d. ", n)
	p.wrapStyled(bold, lead, "    ", units.UpperFirst(f.Title)+"  ["+name+"]")
	p.place(f.Where)
	if s := f.Saving; s != nil {
		p.wrap("      saves     ", "                ", SavingText(s))
		if n > 1 && s.InOrderMs != nil {
			p.wrap("                ", "                ", InOrderText(s))
		}
	}
	for _, e := range f.Evidence {
		p.wrap("      evidence  ", "                ", e.Text)
	}
	if f.Because != nil {
		p.wrap("      because   ", "                ", f.Because.Title+at(f.Because.Where))
	}
	if f.Fix.Text != "" {
		p.wrap("      fix       ", "                ", f.Fix.Text)
	}
	switch text := changeText(&f.Fix); {
	case f.Fix.Was != "" && f.Fix.Where != nil:
		p.line("      change    %s:%d", report.Base(f.Fix.Where.File), f.Fix.Where.Line)
		p.wrap("                - ", "                  ", f.Fix.Was)
		p.wrap("                + ", "                  ", f.Fix.Change)
	case f.Fix.Action != nil && f.Fix.Action.Before != "" && f.Fix.Where != nil:
		p.line("      change    %s:%d", report.Base(f.Fix.Where.File), f.Fix.Where.Line)
		p.wrap("                + ", "                  ", f.Fix.Change)
		p.wrap("                  ", "                  ", f.Fix.Action.Before)
	case text != "":
		p.wrap("      change    ", "                ", text)
	}
	if f.Caveat != "" {
		p.wrap("      but       ", "                ", f.Caveat)
	}
	if f.Confidence != nil && f.Confidence.Level != "" {
		p.wrap("      basis     ", "                ", f.Confidence.Text())
	}
}

// changeText is a fix's change and the line that it is made at; "" where it has none.
func changeText(f *report.Fix) string {
	if f.Change == "" || f.Where == nil {
		return f.Change
	}
	return fmt.Sprintf("%s   (%s:%d)", f.Change, report.Base(f.Where.File), f.Where.Line)
}

func at(w report.Where) string {
	if s := report.AtPlace(w); s != "" {
		return ": " + s
	}
	return ""
}

func (p *printer) place(w report.Where) {
	switch {
	case w.File != "":
		text := fmt.Sprintf("%s:%d", units.ClipLeft(w.File, p.width-36), w.Line)
		if w.Function != "" {
			text += "  " + w.Function
		}
		if w.Rank != nil {
			text += fmt.Sprintf("  (rank %d)", *w.Rank)
		}
		if w.Process != "" {
			text += "  (" + w.Process + ")"
		}
		p.wrap("      where     ", "                ", text)
		if w.Source != "" {
			p.line("                %s", w.Source)
		}
	case w.Op != "":
		p.line("      where     %s", w.Op)
	case w.Rank != nil:
		p.line("      where     rank %d", *w.Rank)
	}
}
