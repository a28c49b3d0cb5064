package python

import (
	"cmp"
	"regexp"
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

// FindGC names the garbage collector, as far as it runs in steady work: collections while modules are imported or code is compiled are
// part of the start, wherever in the run they come, and nothing that freezes objects later would spare them.
func FindGC(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	t, n, longest := 0.0, 0, 0.0
	full := 0
	spared := collectionsOfStart(c)
	from, until := c.AfterWarmup(), c.LastStep()
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; collection(c, sp) && sp.Start >= from && sp.Start < until && !spared(sp) {
			t += float64(sp.End - sp.Start)
			longest = max(longest, float64(sp.End-sp.Start))
			n++
			if sp.Value >= 2 {
				full++
			}
		}
	}
	if t == 0 {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.GC, Where: finding.Nowhere(), Confidence: c.ExactBasis(n)},
		finding.Parts{account.PartGC: min(c.B.Part(account.PartGC), t)})
	c.OfRun(&f, t, price.GC)
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part == account.PartGC && c.C.Info(c.P.Samples.Stack[a.Index]).Acts&code.ActImport == 0
	})
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		f.Where = c.Where(sp)
	}
	f.Title = wording.Say("gc.title", wording.Share("share", f.Share))
	f.Evidence = []wording.Text{
		wording.Say("gc.collections", wording.Time("time", t), wording.Count("n", n), wording.Time("longest", longest),
			wording.Count("full", full)),
	}
	f.Fix.Advice = []wording.Text{wording.Say("gc.fix")}
	f.Fix.Action = finding.NewLine("gc.collect(); gc.freeze()")
	if pysource.CollectsGarbage(f.Where.Source) {
		f.Fix = finding.Fix{Advice: []wording.Text{wording.Say("gc.fix-line")}}
		leaveCollecting(&f.Finding)
	}
	f.Caveat = []wording.Text{wording.Say("gc.caveat")}
	return []finding.Draft{f}
}

// collects matches a statement that does nothing but ask for a collection; it may follow the head of a block in its line.
var collects = regexp.MustCompile(
	`^((?:(?:if|elif|else|for|while|with|try|except|finally)\b[^#'"]*:\s*)?)(?:gc\.)?collect\([012]?\)(\s*(?:#.*)?)$`)

// leaveCollecting takes the place's collection out, where it is a statement of its own: nothing is computed with what it gives.
func leaveCollecting(f *finding.Finding) {
	if code := strings.TrimSpace(f.Where.Source); f.Where.File != "" && collects.MatchString(code) {
		f.Fix.Action.Edit(finding.UserLine{File: f.Where.File, Line: f.Where.Line, Text: code}, collects.ReplaceAllString(code, "${1}pass$2"))
	}
}

// collection says that a span is a garbage collection of the driving thread.
func collection(c *facts.Facts, sp *model.Span) bool {
	return sp.Kind == model.SpanGC && sp.Thread == c.B.Thread && sp.End > sp.Start
}

// collectionsOfStart gives a test whether a collection belongs to a compilation or an import: by the spans of both, and by the
// driving thread's sample next to it, for modules that others import are no spans.
func collectionsOfStart(c *facts.Facts) func(*model.Span) bool {
	compiling, importing := c.Compiling(), c.Importing()
	samples := importSamples(c)
	return func(sp *model.Span) bool {
		if facts.Inside(compiling, sp.Start) || facts.Inside(importing, sp.Start) {
			return true
		}
		const near = 20_000_000 // ns: two samples
		best, imports := model.Time(near), false
		i, _ := slices.BinarySearchFunc(samples, sp.Start, func(s importSample, t model.Time) int { return cmp.Compare(s.at, t) })
		for k := max(i-1, 0); k < len(samples) && samples[k].at < sp.End+near; k++ {
			if away := max(sp.Start-samples[k].at, samples[k].at-sp.End, 0); away < best {
				best, imports = away, samples[k].imports
			}
		}
		return imports
	}
}

// importSample is an instant at which the driving thread was seen, and whether it imported something.
type importSample struct {
	at      model.Time
	imports bool
}

// importSamples are the driving thread's samples, in order; none where no collection would ask for them.
func importSamples(c *facts.Facts) []importSample {
	if !slices.ContainsFunc(c.P.Spans, func(sp model.Span) bool { return collection(c, &sp) }) {
		return nil
	}
	sm := &c.P.Samples
	var out []importSample
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) == c.B.Thread {
			out = append(out, importSample{sm.Time[i], c.C.Info(sm.Stack[i]).Acts&code.ActImport != 0})
		}
	}
	return out
}
