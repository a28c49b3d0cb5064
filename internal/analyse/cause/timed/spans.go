package timed

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
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

// spanGroups sums the driving thread's spans of a kind after a time and, where there are steps, before the end of the last, by line, most
// first: what comes later is done once, however many steps there were. Of files it is what savedParts leaves.
func spanGroups(c *facts.Facts, kind model.SpanKind, after model.Time) []spanGroup {
	type key struct {
		file, name model.Str
		line       int32
	}
	index := map[key]int{}
	var out []spanGroup
	until := c.LastStep()
	var left map[int]float64
	if kind == model.SpanIO {
		_, left = savedParts(c)
	}
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
		part, less := left[i]
		if !less {
			part = 1
		}
		d := float64(sp.End-sp.Start) * part
		out[j].time += d
		out[j].count++
		out[j].longest = max(out[j].longest, d)
		if sp.Detail != 0 {
			out[j].detail = sp.Detail
		}
		if kind == model.SpanIO && c.InWindows(sp.Start) {
			out[j].inWindows += c.InSteps(sp.Start, sp.End) * part
		}
	}
	slices.SortStableFunc(out, func(a, b spanGroup) int { return cmp.Compare(b.time, a.time) })
	return out
}

// compiledLate is the time in ns of compilations after the warm-up that do not come again: where each place has only one, such as the
// first validation's, or where all of them, one for each shape that there is, end before half of the steps have run. They are first
// steps that come late. again says that they go on, or went on until PyTorch gave a place up.
func compiledLate(c *facts.Facts) (t float64, again bool) {
	seen := map[compiledPlace]int{}
	for _, g := range spanGroups(c, model.SpanCompile, c.AfterWarmup()) {
		at := compiledPlace{g.file, g.line}
		t += g.time
		seen[at] += g.count // spans of one place have names of their own
		again = again || seen[at] > 1
	}
	return t, again && (!compiledEarly(c) || mostCompiled(c) >= recompileLimit)
}

// recompileLimit is how often PyTorch compiles one function before it leaves it to the interpreter (torch._dynamo.config.recompile_limit,
// cache_size_limit before PyTorch 2.6): from there on no compilation is seen, and no gain of one either.
const recompileLimit = 8

// mostCompiled is how often the place that was compiled most often was, over the whole run.
func mostCompiled(c *facts.Facts) int {
	seen, most := map[compiledPlace]int{}, 0
	for _, g := range spanGroups(c, model.SpanCompile, 0) {
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
func compiledEarly(c *facts.Facts) bool {
	last, steps, later := model.Time(0), 0, 0
	for _, iv := range c.Compiling() {
		last = max(last, iv.End)
	}
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.Kind == c.B.Kind && st.Start >= c.AfterWarmup() {
			steps++
			later += finding.Btoi(st.Start >= last)
		}
	}
	return steps > 1 && 2*later >= steps
}

// FindCompile names compilation after the warm-up that comes again.
func FindCompile(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	groups := spanGroups(c, model.SpanCompile, c.AfterWarmup())
	if len(groups) == 0 {
		return nil
	}
	if _, again := compiledLate(c); !again && c.B.PerStep {
		return nil // findWarmup counts it
	}
	total, n := 0.0, 0
	for _, g := range groups {
		total += g.time
		n += g.count
	}
	g := groups[0]
	f := finding.NewDraft(finding.Finding{Cause: finding.Compile, Where: c.At(g.file, g.line), Confidence: c.ExactBasis(n)},
		finding.Parts{account.PartCompile: c.B.Part(account.PartCompile)})
	c.OfRun(&f, total, price.Recompile)
	if f.Where.File == "" {
		chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
			return a.Part == account.PartCompile
		})
		if sp, ok := facts.Hottest(chains, c.Drivers); ok {
			f.Where = c.Where(sp)
		}
	}
	f.Title = wording.Say("compile.title", wording.Share("share", f.Share))
	f.Evidence = []wording.Text{wording.Say("compile.took", wording.Time("time", total), wording.Count("n", n))}
	if d := c.Text(g.detail); d != "" {
		f.Evidence = append(f.Evidence, wording.Say("compile.reason", wording.Named("reason", finding.Cut(d, 300))))
	}
	if most := mostCompiled(c); most >= recompileLimit {
		f.Evidence = append(f.Evidence, wording.Say("compile.gave-up", wording.Count("n", most), wording.Count("limit", recompileLimit)))
	}
	f.Fix.Advice = []wording.Text{wording.Say("compile.fix-inputs")}
	f.Fix.Action = finding.SetArguments("torch.compile", finding.Argument{Name: "dynamic", Value: "True"})
	f.Caveat = []wording.Text{wording.Say("compile.caveat-dynamic")}
	return []finding.Draft{f}
}

// maxIOFindings bounds how many places of exact spans one report names for this cause.
const maxIOFindings = 3

// FindIO names files and networks inside the loop: exact spans where the agent saw them, samples elsewhere.
func FindIO(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	var out []finding.Draft
	for _, g := range spanGroups(c, model.SpanIO, c.FirstStep()) {
		f := finding.NewDraft(finding.Finding{Cause: finding.IO, Sub: ioSub(c.Text(g.name)), Where: c.At(g.file, g.line),
			Confidence: c.ExactBasis(g.count)},
			finding.Parts{account.PartIO: g.inWindows})
		c.OfRun(&f, g.time, ioPrice(f.Sub))
		f.Evidence = []wording.Text{ioCalls(c, g)}
		// A checkpoint of several files is one thing to do less often.
		if i := slices.IndexFunc(out, func(o finding.Draft) bool { return o.Sub == f.Sub && nearby(o.Where, f.Where) }); i >= 0 {
			out[i].Join(f)
			ioWords(&out[i].Finding)
		} else if len(out) < maxIOFindings {
			ioWords(&f.Finding)
			out = append(out, f)
		}
	}
	for _, f := range sampledIO(c) {
		if i := slices.IndexFunc(out, func(g finding.Draft) bool { return nearby(g.Where, f.Where) }); i >= 0 {
			out[i].Join(f)
			ioWords(&out[i].Finding)
			continue
		}
		out = append(out, f)
	}
	return out
}

// ioCalls says how long the calls of a group took.
func ioCalls(c *facts.Facts, g spanGroup) wording.Text {
	facts := []wording.Fact{wording.Time("time", g.time), wording.Count("n", g.count), wording.Time("longest", g.longest)}
	if name := c.Text(g.name); name != "" {
		return wording.Say("io.calls", append(facts, wording.Named("name", name))...)
	}
	return wording.Say("io.accesses", facts...)
}

// nearby says that two places belong to the same few lines of one file.
func nearby(a, b finding.Where) bool {
	d := a.Line - b.Line
	return a.File != "" && a.File == b.File && d >= -6 && d <= 6
}

// sampledIO names the user's lines in whose calls the step's thread reads or writes, as samples saw it outside of exact spans: spans
// hold the long calls only, a line that writes thousands of short ones shows in samples. After the first come lines beside it of the same
// kind: who writes less there writes less here.
func sampledIO(c *facts.Facts) (out []finding.Draft) {
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part == account.PartIO && !a.Exact
	})
	for len(out) < maxIOFindings {
		sp, ok := facts.Hottest(chains, c.Drivers)
		if !ok || c.Share(sp.Unit) < finding.Floor/3 || sp.Samples < facts.MinSamples {
			break
		}
		f := sampledAt(c, sp)
		if len(out) > 0 && (f.Sub != out[0].Sub || !nearby(f.Where, out[0].Where)) {
			break
		}
		out = append(out, f)
		held := map[int]bool{}
		for _, m := range sp.Members {
			held[m] = true
		}
		chains = slices.DeleteFunc(chains, func(ch facts.Chain) bool { return held[ch.Index] })
	}
	return out
}

// sampledAt is one of sampledIO's lines.
func sampledAt(c *facts.Facts, sp facts.Spot) finding.Draft {
	acts := code.Activity(0)
	for _, m := range sp.Members {
		acts |= c.C.Info(c.P.Samples.Stack[c.B.Samples[m].Index]).Acts
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.IO, Where: c.Where(sp), Share: c.Share(sp.Unit), Confidence: c.Basis(sp.Samples)},
		finding.Parts{account.PartIO: sp.Unit})
	f.Sub = sampledSub(acts, f.Where.Source)
	t := c.PerStep(sp.Unit)
	f.Step = f.By(ioPrice(f.Sub)).Times(t)
	f.Run = c.OverRun(f.Step)
	f.Evidence = []wording.Text{wording.Say("io.sampled", wording.Time("time", t), c.Said())}
	ioWords(&f.Finding)
	c.Grows(&f.Finding, sp.Members)
	c.AtLoop(&f.Finding, sp.Members)
	return f
}

func sampledSub(acts code.Activity, source string) string {
	switch {
	case acts&code.ActCheckpoint != 0:
		return "checkpoint"
	case acts&code.ActNetwork != 0:
		return "network"
	case acts&code.ActLogging != 0 || pysource.Does(source, func(c pysource.Call) bool { return c.Writes() || c.OfLog() }):
		return "logging"
	}
	return "read"
}

func ioSub(name string) string {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "save") || strings.Contains(name, "checkpoint"):
		return "checkpoint"
	case strings.Contains(name, "write") || strings.Contains(name, "log") || strings.Contains(name, "flush") ||
		strings.Contains(name, "sync"):
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

func ioWords(f *finding.Finding) {
	texts := ioTexts[f.Sub]
	f.Title = wording.Say(texts.title, wording.Share("share", f.Share))
	f.Fix.Advice = []wording.Text{wording.Say(texts.fix)}
	f.Caveat = []wording.Text{wording.Say("io.caveat-disk")}
	if f.Sub == "network" {
		f.Caveat = []wording.Text{wording.Say("io.caveat-network")}
	}
}
