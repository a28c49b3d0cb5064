package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// spanPart tells which part an exact span of the driving thread is; ok is false for spans that describe but do not
// explain (regions, actions, optimizer.step, fetches, which lie inside a data wait).
func spanPart(k model.SpanKind) (part PartID, ok bool) {
	switch k {
	case model.SpanDataWait, model.SpanFetch:
		return PartDataWait, true
	case model.SpanGC:
		return PartGC, true
	case model.SpanCompile:
		return PartCompile, true
	case model.SpanIO:
		return PartIO, true
	case model.SpanImport:
		return PartImport, true
	case model.SpanProfiler:
		return PartProfiler, true
	}
	return PartUnknown, false
}

// exact is the part of the windows that spans explain: disjoint stretches, each with its part.
type exact struct {
	spans []exactSpan // sorted, disjoint
	time  [numParts]float64
	cover []bool // by sample of the process: inside one of the stretches
}

type exactSpan struct {
	times.Interval
	part PartID
}

func (e *exact) total() float64 {
	sum := 0.0
	for _, t := range e.time {
		sum += t
	}
	return sum
}

func (e *exact) covers(sample int) bool { return sample < len(e.cover) && e.cover[sample] }

// part of an instant; ok is false where no span explains it.
func (e *exact) part(t model.Time) (PartID, bool) {
	i, found := slices.BinarySearchFunc(e.spans, t, func(s exactSpan, t model.Time) int { return cmp.Compare(s.Start, t) })
	if !found {
		i--
	}
	if i >= 0 && t < e.spans[i].End {
		return e.spans[i].part, true
	}
	return PartUnknown, false
}

// exactSpans lays the driving thread's spans over the windows. Where spans lie in each other the inner one wins (a
// collection during a data wait is GC), so that no time is claimed twice.
func exactSpans(b *Breakdown, p *model.Process) exact {
	var in []exactSpan
	for i := range p.Spans {
		sp := &p.Spans[i]
		part, ok := spanPart(sp.Kind)
		if !ok || sp.End <= sp.Start || sp.Thread != b.Thread && sp.Thread != 0 {
			continue
		}
		in = append(in, exactSpan{times.Interval{Start: sp.Start, End: sp.End}, part})
	}
	e := exact{spans: clipSpans(flatten(in), b.Windows)}
	for _, s := range e.spans {
		e.time[s.part] += s.Dur()
	}
	return e
}

// flatten makes nested spans disjoint, the innermost winning. Partly overlapping ones (damaged data) are cut.
func flatten(in []exactSpan) []exactSpan {
	slices.SortStableFunc(in, func(a, b exactSpan) int {
		if c := cmp.Compare(a.Start, b.Start); c != 0 {
			return c
		}
		return cmp.Compare(b.End, a.End)
	})
	var out, stack []exactSpan
	emit := func(from, to model.Time, part PartID) {
		if to <= from {
			return
		}
		if n := len(out); n > 0 && out[n-1].part == part && out[n-1].End == from {
			out[n-1].End = to
			return
		}
		out = append(out, exactSpan{times.Interval{Start: from, End: to}, part})
	}
	var at model.Time
	popUntil := func(t model.Time) {
		for len(stack) > 0 && stack[len(stack)-1].End <= t {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			emit(max(at, top.Start), top.End, top.part)
			at = max(at, top.End)
		}
	}
	for _, s := range in {
		popUntil(s.Start)
		if n := len(stack); n > 0 {
			emit(max(at, stack[n-1].Start), s.Start, stack[n-1].part)
			s.End = min(s.End, stack[n-1].End)
		}
		at = max(at, s.Start)
		stack = append(stack, s)
	}
	popUntil(1<<63 - 1)
	return out
}

// clipSpans keeps what lies in the windows; both are sorted and disjoint.
func clipSpans(spans []exactSpan, windows []times.Interval) []exactSpan {
	var out []exactSpan
	w := 0
	for _, s := range spans {
		for w < len(windows) && windows[w].End <= s.Start {
			w++
		}
		for k := w; k < len(windows) && windows[k].Start < s.End; k++ {
			cut := times.Interval{Start: max(s.Start, windows[k].Start), End: min(s.End, windows[k].End)}
			if cut.End > cut.Start {
				out = append(out, exactSpan{cut, s.part})
			}
		}
	}
	return out
}
