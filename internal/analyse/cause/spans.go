package cause

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// spanGroup is the spans of one kind that one line caused.
type spanGroup struct {
	file, name, detail model.Str
	line               int32
	time               float64 // ns
	inWindows          float64 // ns inside accounted steps
	count              int
	longest            float64
}

// spanGroups sums the driving thread's spans of a kind after a time and, where there are steps, before the end of the last, by line, most first:
// what comes later is done once, however many steps there were.
func (c *Facts) spanGroups(kind model.SpanKind, after model.Time) []spanGroup {
	type key struct {
		file, name model.Str
		line       int32
	}
	index := map[key]int{}
	var out []spanGroup
	until := c.lastStep()
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if sp.Kind != kind || sp.End <= sp.Start || sp.Start < after || sp.Start >= until || sp.Thread != c.B.Thread && sp.Thread != 0 {
			continue
		}
		k := key{sp.File, sp.Name, sp.Line}
		if kind == model.SpanGC {
			k.name = 0
		}
		j, ok := index[k]
		if !ok {
			j = len(out)
			index[k] = j
			out = append(out, spanGroup{file: sp.File, line: sp.Line, name: sp.Name, detail: sp.Detail})
		}
		d := float64(sp.End - sp.Start)
		out[j].time += d
		out[j].count++
		out[j].longest = max(out[j].longest, d)
		if sp.Detail != 0 {
			out[j].detail = sp.Detail
		}
		if kind == model.SpanIO && c.inWindows(sp.Start) {
			out[j].inWindows += c.inSteps(sp.Start, sp.End)
		}
	}
	slices.SortStableFunc(out, func(a, b spanGroup) int { return cmp.Compare(b.time, a.time) })
	return out
}

// ofRun makes the numbers of a finding whose exact spans may lie between steps as well: over the run, and spread over its steps.
func (c *Facts) ofRun(f *Draft, t float64, row price.Row) {
	f.Run = f.by(row).Times(t)
	f.Step = f.Run.Scale(1 / float64(max(c.Steps, 1)))
	if c.Steady > 0 {
		f.Share = t / c.Steady
	}
}

func (c *Facts) spanWhere(g spanGroup) Where {
	w := nowhere()
	if g.file != 0 {
		w.File, w.Line = c.text(g.file), int(g.line)
		w.Source = c.source(w.File, w.Line)
	}
	return w
}

// compiling is the time in which torch.compile works, sorted.
func (c *Facts) compiling() []analyse.Interval {
	var out []analyse.Interval
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; sp.Kind == model.SpanCompile && sp.End > sp.Start {
			out = append(out, analyse.Interval{Start: sp.Start, End: sp.End})
		}
	}
	return merged(out)
}

// compiledLate is the time in ns of compilations after the warm-up that do not come again: where each place has only one, such as the
// first validation's, or where all of them, one for each shape that there is, end before half of the steps have run. They are first
// steps that come late. again says that they go on, or went on until PyTorch gave a place up.
func (c *Facts) compiledLate() (t float64, again bool) {
	seen := map[compiledPlace]int{}
	for _, g := range c.spanGroups(model.SpanCompile, c.afterWarmup()) {
		at := compiledPlace{g.file, g.line}
		t += g.time
		seen[at] += g.count // spans of one place have names of their own
		again = again || seen[at] > 1
	}
	return t, again && (!c.compiledEarly() || c.mostCompiled() >= recompileLimit)
}

// recompileLimit is how often PyTorch compiles one function before it leaves it to the interpreter (torch._dynamo.config.recompile_limit,
// cache_size_limit before PyTorch 2.6): from there on no compilation is seen, and no gain of one either.
const recompileLimit = 8

// mostCompiled is how often the place that was compiled most often was, over the whole run.
func (c *Facts) mostCompiled() int {
	seen, most := map[compiledPlace]int{}, 0
	for _, g := range c.spanGroups(model.SpanCompile, 0) {
		at := compiledPlace{g.file, g.line}
		seen[at] += g.count
		most = max(most, seen[at])
	}
	return most
}

// compiledPlace is a line that something was compiled for.
type compiledPlace struct {
	file model.Str
	line int32
}

// compiledEarly says that at least half of the steps after the warm-up began when the last compilation had ended.
func (c *Facts) compiledEarly() bool {
	last, steps, later := model.Time(0), 0, 0
	for _, iv := range c.compiling() {
		last = max(last, iv.End)
	}
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.Kind == c.B.Kind && st.Start >= c.afterWarmup() {
			steps++
			later += btoi(st.Start >= last)
		}
	}
	return steps > 1 && 2*later >= steps
}

// findCompile names compilation after the warm-up that comes again.
func findCompile(c *Facts, _ Ledger) []Draft {
	groups := c.spanGroups(model.SpanCompile, c.afterWarmup())
	if len(groups) == 0 {
		return nil
	}
	if _, again := c.compiledLate(); !again && c.B.PerStep {
		return nil // findWarmup counts it
	}
	total, n := 0.0, 0
	for _, g := range groups {
		total += g.time
		n += g.count
	}
	g := groups[0]
	f := draft(Finding{Cause: Compile, Where: c.spanWhere(g), Confidence: c.exactBasis(n)},
		Parts{analyse.PartCompile: c.B.Part(analyse.PartCompile)})
	c.ofRun(&f, total, price.Recompile)
	if f.Where.File == "" {
		chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part == analyse.PartCompile })
		if sp, ok := hottest(chains, c.drivers); ok {
			f.Where = c.where(sp)
		}
	}
	f.Title = wording.Say("compile.title", wording.Share("share", f.Share))
	f.Evidence = []wording.Text{wording.Say("compile.took", wording.Time("time", total), wording.Count("n", n))}
	if d := c.text(g.detail); d != "" {
		f.Evidence = append(f.Evidence, wording.Say("compile.reason", wording.Named("reason", cut(d, 300))))
	}
	if most := c.mostCompiled(); most >= recompileLimit {
		f.Evidence = append(f.Evidence, wording.Say("compile.gave-up", wording.Count("n", most), wording.Count("limit", recompileLimit)))
	}
	f.Fix.Advice = []wording.Text{wording.Say("compile.fix-inputs")}
	f.Fix.Action = setArguments("torch.compile", Argument{Name: "dynamic", Value: "True"})
	f.Caveat = []wording.Text{wording.Say("compile.caveat-dynamic")}
	return []Draft{f}
}

func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// maxIOFindings bounds how many places of exact spans one report names for this cause.
const maxIOFindings = 3

// findIO names files and networks inside the loop: exact spans where the agent saw them, samples elsewhere.
func findIO(c *Facts, _ Ledger) []Draft {
	var out []Draft
	for _, g := range c.spanGroups(model.SpanIO, c.firstStep()) {
		f := draft(Finding{Cause: IO, Sub: ioSub(c.text(g.name)), Where: c.spanWhere(g), Confidence: c.exactBasis(g.count)},
			Parts{analyse.PartIO: g.inWindows})
		c.ofRun(&f, g.time, ioPrice(f.Sub))
		f.Evidence = []wording.Text{c.ioCalls(g)}
		// A checkpoint of several files is one thing to do less often.
		if i := slices.IndexFunc(out, func(o Draft) bool { return o.Sub == f.Sub && nearby(o.Where, f.Where) }); i >= 0 {
			out[i].join(f)
			ioWords(&out[i].Finding)
		} else if len(out) < maxIOFindings {
			ioWords(&f.Finding)
			out = append(out, f)
		}
	}
	for _, f := range c.sampledIO() {
		if i := slices.IndexFunc(out, func(g Draft) bool { return nearby(g.Where, f.Where) }); i >= 0 {
			out[i].join(f)
			ioWords(&out[i].Finding)
			continue
		}
		out = append(out, f)
	}
	return out
}

// ioCalls says how long the calls of a group took.
func (c *Facts) ioCalls(g spanGroup) wording.Text {
	facts := []wording.Fact{wording.Time("time", g.time), wording.Count("n", g.count), wording.Time("longest", g.longest)}
	if name := c.text(g.name); name != "" {
		return wording.Say("io.calls", append(facts, wording.Named("name", name))...)
	}
	return wording.Say("io.accesses", facts...)
}

// nearby says that two places belong to the same few lines of one file.
func nearby(a, b Where) bool {
	d := a.Line - b.Line
	return a.File != "" && a.File == b.File && d >= -6 && d <= 6
}

// join adds another finding of the same thing, such as the fsync after a torch.save.
func (f *Draft) join(g Draft) {
	f.Share += g.Share
	f.Step, f.Run = f.Step.Add(g.Step), f.Run.Add(g.Run)
	f.Evidence = append(f.Evidence, wording.Say("io.also", wording.With("what", g.Evidence[0]), wording.Named("at", place(g.Where))))
	for part, t := range g.Claim.Parts {
		f.Claim.Parts[part] += t
	}
}

// sampledIO names the user's line in whose calls the step's thread reads or writes, as samples saw it outside of exact spans: spans
// hold the long calls only, a line that writes thousands of short ones shows in samples.
func (c *Facts) sampledIO() []Draft {
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part == analyse.PartIO && !a.Exact })
	sp, ok := hottest(chains, c.drivers)
	if !ok || c.share(sp.unit) < Floor/3 || sp.samples < minSamples {
		return nil
	}
	acts := analyse.Activity(0)
	for _, m := range sp.members {
		acts |= c.C.Info(c.P.Samples.Stack[c.B.Samples[m].Index]).Acts
	}
	f := draft(Finding{Cause: IO, Where: c.where(sp), Share: c.share(sp.unit), Confidence: c.basis(sp.samples)},
		Parts{analyse.PartIO: sp.unit})
	f.Sub = sampledSub(acts, f.Where.Source)
	t := c.perStep(sp.unit)
	f.Step = f.by(ioPrice(f.Sub)).Times(t)
	f.Run = c.overRun(f.Step)
	f.Evidence = []wording.Text{wording.Say("io.sampled", wording.Time("time", t), c.unit())}
	ioWords(&f.Finding)
	c.grows(&f.Finding, sp.members)
	c.atLoop(&f.Finding, sp.members)
	return []Draft{f}
}

func sampledSub(acts analyse.Activity, source string) string {
	switch {
	case acts&analyse.ActCheckpoint != 0:
		return "checkpoint"
	case acts&analyse.ActNetwork != 0:
		return "network"
	case acts&analyse.ActLogging != 0 || does(source, func(c call) bool { return c.writes() || c.ofLog() }):
		return "logging"
	}
	return "read"
}

func ioSub(name string) string {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "save") || strings.Contains(name, "checkpoint"):
		return "checkpoint"
	case strings.Contains(name, "write") || strings.Contains(name, "log") || strings.Contains(name, "flush") || strings.Contains(name, "sync"):
		return "logging"
	case strings.Contains(name, "http") || strings.Contains(name, "socket") || strings.Contains(name, "url"):
		return "network"
	}
	return "read"
}

// ioPrice is what usually remains to be saved: a checkpoint can be written aside or rarely, logging can be batched.
func ioPrice(sub string) price.Row {
	if sub == "checkpoint" {
		return price.Checkpoint
	}
	return price.Files
}

// ioTexts are title and fix of what reads or writes, by sub.
var ioTexts = map[string]struct{ title, fix string }{
	"checkpoint": {"io.title-checkpoint", "io.fix-checkpoint"},
	"logging":    {"io.title-logging", "io.fix-logging"},
	"read":       {"io.title-read", "io.fix-read"},
	"network":    {"io.title-network", "io.fix-network"},
}

func ioWords(f *Finding) {
	texts := ioTexts[f.Sub]
	f.Title = wording.Say(texts.title, wording.Share("share", f.Share))
	f.Fix.Advice = []wording.Text{wording.Say(texts.fix)}
	f.Caveat = []wording.Text{wording.Say("io.caveat-disk")}
	if f.Sub == "network" {
		f.Caveat = []wording.Text{wording.Say("io.caveat-network")}
	}
}
