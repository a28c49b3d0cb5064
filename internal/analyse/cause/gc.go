package cause

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// findGC names the garbage collector, as far as it runs in steady work: collections while modules are imported or code is compiled are
// part of the start, wherever in the run they come, and nothing that freezes objects later would spare them.
func findGC(c *Facts, _ Ledger) []Draft {
	t, n, longest := 0.0, 0, 0.0
	full := 0
	spared := c.collectionsOfStart()
	from, until := c.afterWarmup(), c.lastStep()
	for i := range c.P.Spans {
		if sp := &c.P.Spans[i]; c.collection(sp) && sp.Start >= from && sp.Start < until && !spared(sp) {
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
	f := draft(Finding{Cause: GC, Where: nowhere(), Confidence: c.exactBasis(n)},
		Parts{analyse.PartGC: min(c.B.Part(analyse.PartGC), t)})
	c.ofRun(&f, t, price.GC)
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool {
		return a.Part == analyse.PartGC && c.C.Info(c.P.Samples.Stack[a.Index]).Acts&analyse.ActImport == 0
	})
	if sp, ok := hottest(chains, c.drivers); ok {
		f.Where = c.where(sp)
	}
	f.Title = wording.Say("gc.title", wording.Share("share", f.Share))
	f.Evidence = []wording.Text{
		wording.Say("gc.collections", wording.Time("time", t), wording.Count("n", n), wording.Time("longest", longest),
			wording.Count("full", full)),
	}
	f.Fix.Advice = []wording.Text{wording.Say("gc.fix")}
	f.Fix.Action = insertLine("gc.collect(); gc.freeze()")
	if collectsGarbage(f.Where.Source) {
		f.Fix = Fix{Advice: []wording.Text{wording.Say("gc.fix-line")}}
	}
	f.Caveat = []wording.Text{wording.Say("gc.caveat")}
	return []Draft{f}
}

// collection says that a span is a garbage collection of the driving thread.
func (c *Facts) collection(sp *model.Span) bool {
	return sp.Kind == model.SpanGC && sp.Thread == c.B.Thread && sp.End > sp.Start
}

// collectionsOfStart gives a test whether a collection belongs to a compilation or an import: by the spans of both, and by the
// driving thread's sample next to it, for modules that others import are no spans.
func (c *Facts) collectionsOfStart() func(*model.Span) bool {
	compiling, importing := c.compiling(), c.importing()
	samples := c.importSamples()
	return func(sp *model.Span) bool {
		if inside(compiling, sp.Start) || inside(importing, sp.Start) {
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
func (c *Facts) importSamples() []importSample {
	if !slices.ContainsFunc(c.P.Spans, func(sp model.Span) bool { return c.collection(&sp) }) {
		return nil
	}
	sm := &c.P.Samples
	var out []importSample
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) == c.B.Thread {
			out = append(out, importSample{sm.Time[i], c.C.Info(sm.Stack[i]).Acts&analyse.ActImport != 0})
		}
	}
	return out
}

// importing is the time in which modules are imported, sorted and disjoint.
func (c *Facts) importing() []analyse.Interval {
	var out []analyse.Interval
	for _, list := range [][]model.Span{c.P.Imports, c.P.Spans} {
		for i := range list {
			if sp := &list[i]; sp.Kind == model.SpanImport && sp.End > sp.Start {
				out = append(out, analyse.Interval{Start: sp.Start, End: sp.End})
			}
		}
	}
	return merged(out)
}

// merged joins stretches that overlap, sorted.
func merged(list []analyse.Interval) []analyse.Interval {
	slices.SortFunc(list, func(a, b analyse.Interval) int { return cmp.Compare(a.Start, b.Start) })
	var out []analyse.Interval
	for _, iv := range list {
		if n := len(out); n > 0 && iv.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, iv.End)
		} else {
			out = append(out, iv)
		}
	}
	return out
}
