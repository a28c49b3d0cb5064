package report

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/analyse/criticalpath"
	"bottleneck/internal/model"
)

// maxPathSpans is the number of spans that the document keeps of each kind on the critical path.
const maxPathSpans = 20

// maxClockError is how uncertain the ranks' clocks may be, as a share of the window, for a path that goes from one to another.
const maxClockError = 0.01

// PathSpan is a span of a critical path and the trace it is in.
type PathSpan struct {
	criticalpath.Span
	Trace *model.Trace
}

// Critical is the critical path of one step. Over is the path over several ranks; nil where it is of one trace.
type Critical struct {
	From  model.Time
	Spans []PathSpan
	Over  *criticalpath.RanksPath
}

// CriticalOf is the path that a report is of: that of the first steady step of the first trace that has device work, since each step has
// its own path. With the traces of several ranks whose collectives can be matched it goes over all of them. nil where there is none.
func CriticalOf(traces []*model.Trace, s *model.Strings) *Critical {
	traces = withDevice(traces)
	if len(traces) == 0 {
		return nil
	}
	first := traces[0]
	from, to := first.From, first.To
	for _, st := range first.Steps {
		if !st.Warmup && st.End > st.Start {
			from, to = st.Start, st.End
			break
		}
	}
	if c := criticalOverRanks(traces, s, from, to); c != nil {
		return c
	}
	path := criticalpath.Of(first, s, from, to)
	if path == nil {
		return nil
	}
	c := &Critical{From: from, Spans: make([]PathSpan, len(path.Spans))}
	for i, sp := range path.Spans {
		c.Spans[i] = PathSpan{sp, first}
	}
	return c
}

func withDevice(traces []*model.Trace) []*model.Trace {
	return slices.DeleteFunc(slices.Clone(traces), func(t *model.Trace) bool { return !t.Features.Device })
}

// criticalOverRanks is the path of several ranks; nil where their clocks have nothing in common, as for the traces of one
// rank, or could not be aligned well enough.
func criticalOverRanks(traces []*model.Trace, s *model.Strings, from, to model.Time) *Critical {
	if !distinctRanks(traces) {
		return nil
	}
	for _, c := range collectives.Clocks(traces, s)[1:] {
		if c.Matched == 0 || c.Error < 0 || float64(c.Error) > maxClockError*float64(to-from) {
			return nil
		}
	}
	path := criticalpath.OverRanks(traces, s, from, to)
	if path == nil || len(path.Spans) == 0 {
		return nil
	}
	c := &Critical{From: from, Spans: make([]PathSpan, len(path.Spans)), Over: path}
	for i, sp := range path.Spans {
		c.Spans[i] = PathSpan{sp.Span, traces[sp.Trace]}
	}
	return c
}

// criticalPath fills the rows of the path.
func (b *Builder) criticalPath(traces []*model.Trace) {
	c := CriticalOf(traces, b.S.Strings)
	if c == nil {
		return
	}
	b.pathRows(c.Spans, c.From, c.Over != nil)
	if c.Over == nil {
		return
	}
	traces = withDevice(traces)
	for i, d := range c.Over.Ranks {
		if d > 0 {
			b.R.CriticalRanks = append(b.R.CriticalRanks, RankShare{traces[i].Rank, us(d),
				float64(d) / float64(max(c.Over.To-c.Over.From, 1))})
		}
	}
	slices.SortStableFunc(b.R.CriticalRanks, func(x, y RankShare) int { return cmp.Compare(y.Us, x.Us) })
}

// distinctRanks says whether there are several traces, each of a rank of its own.
func distinctRanks(traces []*model.Trace) bool {
	seen := map[int]bool{}
	for _, t := range traces {
		if t.Rank < 0 || seen[t.Rank] {
			return false
		}
		seen[t.Rank] = true
	}
	return len(traces) > 1
}

// pathRows sums spans by kind, most time first, and keeps the longest of each.
func (b *Builder) pathRows(spans []PathSpan, from model.Time, ranks bool) {
	byKind := map[criticalpath.Kind][]PathSpan{}
	sums, total := map[criticalpath.Kind]model.Dur{}, model.Dur(0)
	var kinds []criticalpath.Kind
	for _, sp := range spans {
		if sp.Dur <= 0 {
			continue
		}
		if byKind[sp.Kind] == nil {
			kinds = append(kinds, sp.Kind)
		}
		byKind[sp.Kind] = append(byKind[sp.Kind], sp)
		sums[sp.Kind] += sp.Dur
		total += sp.Dur
	}
	slices.SortFunc(kinds, func(x, y criticalpath.Kind) int { return cmp.Or(cmp.Compare(sums[y], sums[x]), cmp.Compare(x, y)) })
	for _, k := range kinds {
		row := CriticalRow{Kind: k.String(), Us: us(sums[k]), Share: float64(sums[k]) / float64(total), Spans: []CriticalSpan{}}
		list := byKind[k]
		slices.SortStableFunc(list, func(x, y PathSpan) int { return cmp.Compare(y.Dur, x.Dur) })
		for _, sp := range list[:min(len(list), maxPathSpans)] {
			span := CriticalSpan{Name: b.S.Strings.Text(sp.Name), StartUs: us(sp.Start.Sub(from)), Us: us(sp.Dur),
				Lane: laneName(b.S, sp.Trace, sp.Lane)}
			if ranks {
				span.Rank = RankPtr(sp.Trace.Rank)
			}
			row.Spans = append(row.Spans, span)
		}
		b.R.CriticalPath = append(b.R.CriticalPath, row)
	}
}

// rankClocks puts how the ranks' clocks were aligned into the ranks' rows; traces from elsewhere get their rows here.
func (b *Builder) rankClocks() {
	traces := slices.DeleteFunc(slices.Clone(b.S.Traces), func(t *model.Trace) bool { return t.Rank < 0 })
	if !distinctRanks(traces) || b.merged != nil && len(traces) < len(b.S.Traces) {
		return
	}
	if len(b.R.Ranks) == 0 {
		b.R.Ranks = b.traceRanks(traces)
	}
	for _, c := range b.clocks(traces) {
		at := slices.IndexFunc(b.R.Ranks, func(r Rank) bool { return r.Rank == c.Rank })
		if at >= 0 && c.Error >= 0 {
			b.R.Ranks[at].Clock = &Clock{OffsetUs: us(c.Offset), ErrorUs: us(c.Error), Collectives: c.Matched}
		}
	}
}

// clocks are of traces that each have a rank; merged ones have no others.
func (b *Builder) clocks(traces []*model.Trace) []collectives.Clock {
	if b.merged != nil {
		return collectives.ClocksOf(b.merged.calls)
	}
	return collectives.Clocks(traces, b.S.Strings)
}

// traceRanks are rows of ranks that only traces know; waits are the time in collectives before the last rank began them.
func (b *Builder) traceRanks(traces []*model.Trace) []Rank {
	waits := map[int]float64{}
	for _, c := range b.R.Communication {
		if c.Rank != nil && c.WaitUs != nil {
			waits[*c.Rank] += *c.WaitUs
		}
	}
	rows := []Rank{}
	for _, t := range traces {
		row := Rank{Rank: t.Rank, Host: t.Header.Host}
		var ms []float64
		for _, st := range t.Steps {
			if !st.Warmup && st.End > st.Start {
				ms = append(ms, float64(st.End-st.Start)/1e6)
			}
		}
		row.Steps = len(ms)
		if len(ms) > 0 {
			row.MedianMs = quantiles(ms).MedianMs
			if w, known := waits[t.Rank]; known {
				row.WaitsMs = ptr(w / 1e3 / float64(len(t.Steps)))
			}
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(x, y Rank) int { return cmp.Compare(x.Rank, y.Rank) })
	return rows
}
