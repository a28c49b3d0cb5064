package criticalpath

import (
	"slices"

	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
)

// RankSpan is a stretch of the critical path of a job: on which of the traces it lay. Its start is on the first trace's clock,
// its lane, event and name are those of its own trace.
type RankSpan struct {
	Span
	Trace int
}

// RanksPath is the critical path over several ranks. It leaves a rank where a collective waited for another one.
type RanksPath struct {
	From, To model.Time
	Spans    []RankSpan // in order of time, without holes
	Kinds    [numPathKinds]model.Dur
	Ranks    []model.Dur // by trace
}

// OverRanks is CriticalPath for the ranks of one job, in a window on the first trace's clock. A collective that began
// on another rank later than here is followed only back to that beginning; the path then goes on with what kept the other rank.
func OverRanks(traces []*model.Trace, s *model.Strings, from, to model.Time) *RanksPath {
	r := newRanksWalk(traces, s, from, to)
	lane, at := r.begin()
	events := 0
	for _, t := range traces {
		events += t.Events.Len()
	}
	for steps := 0; lane != model.NoLane && at > r.walk().path.From && steps < 4*events+16; steps++ {
		switch {
		case r.walk().t.Lanes[lane].Kind == model.LaneThread:
			lane, at = r.walk().thread(lane, at)
		case r.follow(lane, at):
			lane, at = r.lane, r.at
		default:
			lane, at = r.walk().device(lane, at)
		}
		r.collect()
	}
	if len(r.walks) > 0 && at > r.walk().path.From {
		r.walk().put(Unknown, r.walk().path.From, at, lane, model.NoEvent)
		r.collect()
	}
	slices.Reverse(r.path.Spans)
	return &r.path
}

type ranksWalk struct {
	walks  []*pathWalk
	clocks []collectives.Clock
	calls  []collectives.Matched
	callOf []map[model.EventID]int32 // by trace: the matched call of a row
	path   RanksPath
	at     model.Time // where follow goes on
	lane   model.LaneID
	trace  int
}

func newRanksWalk(traces []*model.Trace, s *model.Strings, from, to model.Time) *ranksWalk {
	r := &ranksWalk{path: RanksPath{From: from, To: to, Spans: []RankSpan{}, Ranks: make([]model.Dur, len(traces))}}
	parser := collectives.NewParser(s)
	lists := make([][]collectives.Collective, len(traces))
	for i, t := range traces {
		for _, w := range device.Timelines(t, s) {
			lists[i] = append(lists[i], collectives.OnDevice(w, parser)...)
		}
	}
	r.calls = collectives.Match(lists)
	r.clocks = collectives.AlignClocks(collectives.Numbers(traces), r.calls)
	for i, t := range traces {
		offset := model.Time(r.clocks[i].Offset)
		r.walks = append(r.walks, newPathWalk(t, s, from+offset, to+offset))
		r.callOf = append(r.callOf, map[model.EventID]int32{})
	}
	for k, m := range r.calls {
		for i := range m {
			r.callOf[i][m[i].Row] = int32(k)
		}
	}
	return r
}

func (r *ranksWalk) walk() *pathWalk { return r.walks[r.trace] }

// begin is on the rank whose last event of the window ended last.
func (r *ranksWalk) begin() (model.LaneID, model.Time) {
	best, lane, at := -1, model.NoLane, r.path.From
	for i, w := range r.walks {
		l, end := w.begin()
		w.path.Spans, w.path.Kinds = w.path.Spans[:0], [numPathKinds]model.Dur{}
		if base := end - model.Time(r.clocks[i].Offset); l != model.NoLane && (best < 0 || base > at) {
			best, lane, at = i, l, base
		}
	}
	if best < 0 {
		r.trace = 0
		return model.NoLane, r.path.To
	}
	r.trace = best
	at += model.Time(r.clocks[best].Offset)
	w := r.walk()
	w.put(Host, at, w.path.To, lane, model.NoEvent)
	r.collect()
	return lane, at
}

// collect moves the spans that the current walk has put to the job's path.
func (r *ranksWalk) collect() {
	w := r.walk()
	for _, span := range w.path.Spans {
		span.Start -= model.Time(r.clocks[r.trace].Offset)
		r.path.Spans = append(r.path.Spans, RankSpan{span, r.trace})
		r.path.Kinds[span.Kind] += span.Dur
		r.path.Ranks[r.trace] += span.Dur
	}
	w.path.Spans = w.path.Spans[:0]
}

// follow goes to another rank if the device row at hand is a collective that waited for it.
func (r *ranksWalk) follow(lane model.LaneID, at model.Time) bool {
	w := r.walk()
	id := w.current(lane, at)
	if id == model.NoEvent {
		return false
	}
	k, ok := r.callOf[r.trace][id]
	if !ok {
		return false
	}
	last, late := collectives.LastStart(r.calls[k], r.clocks)
	here := last + model.Time(r.clocks[r.trace].Offset)
	if late == r.trace || here <= w.t.Events.Start[id] || here >= at || here <= w.path.From {
		return false
	}
	if end := w.t.Events.End(id); end < at {
		w.put(KernelGap, max(end, here), at, lane, model.NoEvent)
		at = max(end, here)
	}
	w.put(Communication, here, at, lane, id)
	w.row = model.NoEvent
	r.collect()
	r.trace = late
	row := r.calls[k][late].Row
	r.lane, r.at = r.walk().before(row, last+model.Time(r.clocks[late].Offset))
	return true
}
