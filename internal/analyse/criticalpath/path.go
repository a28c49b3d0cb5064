package criticalpath

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Kind is what the program did during a part of its critical path.
type Kind uint8

// Kinds of parts of a critical path.
const (
	Compute       Kind = iota // kernels
	Communication             // collectives
	Copy                      // copies and sets
	KernelGap                 // between two pieces of device work that were queued in time
	Launch                    // from the launching call to the start of the work
	Op                        // operators on a CPU thread
	Input                     // a DataLoader's __next__
	Host                      // a CPU thread between operators: Python, or code that the profiler does not see
	Sync                      // from the end of the awaited device work to the return of the waiting call
	Unknown
	numPathKinds
)

var pathNames = [numPathKinds]string{"compute", "communication", "copy", "kernel gap", "launch", "cpu op", "input", "host",
	"sync return", "unknown"}

func (k Kind) String() string { return pathNames[min(k, numPathKinds-1)] }

// Span is a stretch of the critical path.
type Span struct {
	Kind  Kind
	Start model.Time
	Dur   model.Dur
	Lane  model.LaneID
	Event model.EventID // NoEvent for gaps
	Name  model.Str     // the event's; 0 for gaps
}

// Path is the chain of waits that ends with the last event of a window: each span began when the next earlier one ended,
// because of it. The spans follow one another without holes and sum to To − From.
type Path struct {
	From, To model.Time
	Spans    []Span // in order of time
	Kinds    [numPathKinds]model.Dur
}

// Of walks back from the last event of a window of a trace (the whole trace: From, To) to its beginning. Device work
// goes back to whatever ended last before it of its launching call, the work before it on its stream and the work it was
// told to wait for; a thread goes back to device work that it waited for, or to the thread that it waited for.
func Of(t *model.Trace, s *model.Strings, from, to model.Time) *Path {
	w := newPathWalk(t, s, from, to)
	lane, at := w.begin()
	for steps := 0; at > from && lane != model.NoLane && steps < 4*t.Events.Len()+16; steps++ {
		if t.Lanes[lane].Kind == model.LaneStream {
			lane, at = w.device(lane, at)
		} else {
			lane, at = w.thread(lane, at)
		}
	}
	if at > from {
		w.put(Unknown, from, at, lane, model.NoEvent)
	}
	slices.Reverse(w.path.Spans)
	return &w.path
}

// pathWalk is the state of one walk.
type pathWalk struct {
	t       *model.Trace
	s       *model.Strings
	path    Path
	work    []*device.Timeline
	calls   map[model.LaneID]*device.LaunchLane
	tops    map[model.LaneID][]model.EventID // operators and DataLoader waits that no operator encloses
	streams []model.LaneID
	byEnd   []model.EventID // device rows by end
	main    model.LaneID    // the thread that drives the program
	waits   map[model.LaneID][]streamWait
	row     model.EventID // the device row to continue from, if known
}

func newPathWalk(t *model.Trace, s *model.Strings, from, to model.Time) *pathWalk {
	w := &pathWalk{t: t, s: s, path: Path{From: from, To: to, Spans: []Span{}}, work: device.Timelines(t, s),
		calls: map[model.LaneID]*device.LaunchLane{}, tops: map[model.LaneID][]model.EventID{}, main: model.NoLane, row: model.NoEvent}
	most := 0
	for i := range t.Lanes {
		if lane := model.LaneID(i); t.Lanes[i].Kind == model.LaneThread {
			tops := w.topLevel(lane)
			if len(tops) > 0 {
				w.tops[lane] = tops
			}
			weight := len(tops)
			if w.drives(lane) {
				weight += t.Events.Len()
			}
			if weight > most {
				w.main, most = lane, weight
			}
		} else {
			w.streams = append(w.streams, lane)
		}
	}
	for _, work := range w.work {
		w.byEnd = append(w.byEnd, work.Rows...)
	}
	ev := &t.Events
	slices.SortFunc(w.byEnd, func(a, b model.EventID) int { return cmp.Compare(ev.End(a), ev.End(b)) })
	w.readWaits()
	return w
}

// drives says whether a thread holds the steps' annotations.
func (w *pathWalk) drives(lane model.LaneID) bool {
	ev := &w.t.Events
	for id := w.t.Lanes[lane].FirstEvent; id < w.t.Lanes[lane].EndEvent; id++ {
		if ev.Kind[id] == model.KindAnnotation && naming.ClassifyEvent(w.s.Text(ev.Name[id])) == naming.EventStep {
			return true
		}
	}
	return false
}

// topLevel lists a thread's outermost operators, runtime calls outside operators, and DataLoader waits, which do not overlap.
func (w *pathWalk) topLevel(lane model.LaneID) []model.EventID {
	ev := &w.t.Events
	var out []model.EventID
	end := model.Time(-1 << 62)
	for id := w.t.Lanes[lane].FirstEvent; id < w.t.Lanes[lane].EndEvent; id++ {
		k := ev.Kind[id]
		if k != model.KindOp && k != model.KindRuntime && (k != model.KindAnnotation || !naming.IsDataLoader(w.s.Text(ev.Name[id]))) {
			continue
		}
		if ev.Start[id] >= end {
			out = append(out, id)
			end = ev.End(id)
		}
	}
	return out
}

// begin is where the walk starts: the event of the window that ends last.
func (w *pathWalk) begin() (model.LaneID, model.Time) {
	ev := &w.t.Events
	best, at := model.NoLane, w.path.From
	consider := func(id model.EventID) {
		if end := min(ev.End(id), w.path.To); ev.Start[id] < w.path.To && end > at {
			best, at = ev.Lane[id], end
		}
	}
	for lane := range w.t.Lanes {
		tops := w.tops[model.LaneID(lane)]
		for i := len(tops) - 1; i >= 0 && ev.End(tops[i]) > at; i-- {
			consider(tops[i])
		}
	}
	for _, id := range w.byEnd {
		consider(id)
	}
	if best == model.NoLane {
		return best, w.path.To
	}
	if at < w.path.To { // the window's end belongs to a thread that did nothing visible any more
		lane := w.main
		if lane == model.NoLane {
			lane = best
		}
		w.put(Host, at, w.path.To, lane, model.NoEvent)
	}
	return best, at
}

// put adds a span, cut to the window; spans come latest first.
func (w *pathWalk) put(kind Kind, from, to model.Time, lane model.LaneID, id model.EventID) {
	from = max(from, w.path.From)
	if to <= from {
		return
	}
	span := Span{Kind: kind, Start: from, Dur: to.Sub(from), Lane: lane, Event: id}
	if id != model.NoEvent {
		span.Name = w.t.Events.Name[id]
	}
	w.path.Spans = append(w.path.Spans, span)
	w.path.Kinds[kind] += span.Dur
}
