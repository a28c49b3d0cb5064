package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"bottleneck/internal/model"
	"bottleneck/internal/report"
)

// Timeline is what there is to see over time. Times are microseconds from its start. The boxes come tile by tile.
type Timeline struct {
	SpanUs float64 `json:"span_us"`
	Levels int     `json:"levels"` // tiles of level n are span ÷ 2ⁿ wide; the deepest level is Levels − 1
	Lanes  []Lane  `json:"lanes"`
	Steps  []Mark  `json:"steps"`
	Events int64   `json:"events"` // boxes of the deepest level
	Path   bool    `json:"path"`   // there is a critical path
	Shared bool    `json:"shared"` // there are collective calls that all ranks hold
}

// Lane is one thread, stream or process, some rows high: a row's boxes do not overlap.
type Lane struct {
	Group string `json:"group"` // the process or rank that it belongs to
	Name  string `json:"name"`
	Kind  string `json:"kind"` // thread, stream, process
	Rows  int    `json:"rows"`
}

// Mark is a named stretch on the ruler.
type Mark struct {
	Name    string  `json:"name"`
	StartUs float64 `json:"start_us"`
	Us      float64 `json:"us"`
}

// box is an event as the timeline has it, in nanoseconds of the session clock.
type box struct {
	start, end model.Time
	name       model.Str
}

// lane is a stretch of a lane with its boxes: event numbers of a trace, or boxes of its own. A thread that several traces of a process
// saw, one after the other, is one lane of several stretches.
type lane struct {
	Lane
	shown  int // row of timeline.shown
	trace  *model.Trace
	id     model.LaneID
	events [][]model.EventID // by row, in order of time
	boxes  [][]box           // instead, where there is no trace
}

// timeline is the prepared form that tiles are cut from.
type timeline struct {
	s        *model.Session
	from, to model.Time
	lanes    []lane // in the order of shown
	shown    []Lane
	index    map[laneKey]int // row of lanes
	steps    []box
	events   int64
	// What follows is made when it is first asked for.
	path   func() *Critical
	pairs  func() map[eventKey]pairOf
	shared func() *Shared
}

// laneKey is a lane of a trace.
type laneKey struct {
	trace *model.Trace
	id    model.LaneID
}

// maxLaneRows bounds a lane's rows: calls nested deeper are left out.
const maxLaneRows = 1000

// newTimeline takes in all traces and processes of a session; nil where nothing has a time.
func newTimeline(s *model.Session) *timeline {
	t := &timeline{s: s, from: math.MaxInt64, to: math.MinInt64, index: map[laneKey]int{}}
	for _, p := range s.Processes {
		t.process(p)
	}
	for _, trace := range s.Traces {
		t.trace(trace)
	}
	if t.events == 0 || t.to <= t.from {
		return nil
	}
	t.order()
	t.path, t.pairs, t.shared = sync.OnceValue(t.critical), sync.OnceValue(t.passes), sync.OnceValue(t.sharedCalls)
	return t
}

// order puts the lanes of a process together, and stretches of one thread into one lane.
func (t *timeline) order() {
	groups := map[string]int{}
	for i := range t.lanes {
		if _, known := groups[t.lanes[i].Group]; !known {
			groups[t.lanes[i].Group] = len(groups)
		}
	}
	slices.SortStableFunc(t.lanes, func(a, b lane) int { return cmp.Compare(groups[a.Group], groups[b.Group]) })
	known := map[Lane]int{} // without the number of rows
	for i := range t.lanes {
		l := &t.lanes[i]
		key := l.Lane
		key.Rows = 0
		at, is := known[key]
		if !is || !t.follows(at, l) {
			at = len(t.shown)
			known[key] = at
			t.shown = append(t.shown, l.Lane)
		}
		l.shown, t.shown[at].Rows = at, max(t.shown[at].Rows, l.Rows)
	}
	slices.SortStableFunc(t.lanes, func(a, b lane) int { return cmp.Compare(a.shown, b.shown) })
	for i := range t.lanes {
		if l := &t.lanes[i]; l.trace != nil {
			t.index[laneKey{l.trace, l.id}] = i
		}
	}
}

// follows says whether a stretch comes from another trace than those that a lane has, and after them.
func (t *timeline) follows(shown int, l *lane) bool {
	for i := range t.lanes {
		other := &t.lanes[i]
		if other == l {
			return true
		}
		if other.shown == shown && other.Group == l.Group && other.Name == l.Name &&
			(l.trace == nil || other.trace == l.trace || other.trace.To > l.trace.From) {
			return false
		}
	}
	return true
}

// spanNames are words for what the agent saw; regions and actions have names of their own.
var spanNames = map[model.SpanKind]string{
	model.SpanDataWait: "data wait", model.SpanFetch: "fetch", model.SpanGC: "garbage collection", model.SpanCompile: "compile",
	model.SpanImport: "import", model.SpanIO: "input and output", model.SpanOptimizer: "optimizer",
	model.SpanProfiler: "profiler of bottleneck",
}

// process adds what the agent saw in a process: its steps, and waits, fetches, collections and the like.
func (t *timeline) process(p *model.Process) {
	steps, spans := []box{}, []box{}
	for i := range p.Steps {
		st := &p.Steps[i]
		steps = append(steps, box{st.Start, st.End, st.Kind})
	}
	for i := range p.Spans {
		sp := &p.Spans[i]
		name := t.s.Strings.Text(sp.Name)
		if kind := spanNames[sp.Kind]; kind != "" && name != "" {
			name = kind + ": " + name
		} else {
			name = cmp.Or(name, kind, "other")
		}
		spans = append(spans, box{sp.Start, sp.End, t.s.Strings.Intern(name)})
	}
	if t.steps == nil && p.Role != model.RoleWorker {
		t.steps = steps
	}
	t.add(lane{Lane: Lane{Group: processName(p), Name: "steps", Kind: "process"}}, steps)
	t.add(lane{Lane: Lane{Group: processName(p), Name: "waits", Kind: "process"}}, spans)
	t.gil(p)
}

// add adds a lane of boxes, if there are any.
func (t *timeline) add(l lane, boxes []box) {
	slices.SortStableFunc(boxes, func(a, b box) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var rows rowing
	for _, b := range boxes {
		if b.end < b.start {
			continue
		}
		if row, ok := rows.row(b.start, b.end); ok {
			for len(l.boxes) <= row {
				l.boxes = append(l.boxes, nil)
			}
			l.boxes[row] = append(l.boxes[row], b)
			t.saw(b.start, b.end)
		}
	}
	if l.Rows = len(l.boxes); l.Rows > 0 {
		t.lanes = append(t.lanes, l)
	}
}

func (t *timeline) saw(start, end model.Time) {
	t.from, t.to = min(t.from, start), max(t.to, end)
	t.events++
}

// trace adds the lanes of a trace.
func (t *timeline) trace(trace *model.Trace) {
	ev := &trace.Events
	group := "trace"
	if trace.Process >= 0 && trace.Process < len(t.s.Processes) {
		group = processName(t.s.Processes[trace.Process])
	} else if len(t.s.Traces) > 1 {
		group = traceName(trace)
	}
	for i := range trace.Lanes {
		from := &trace.Lanes[i]
		l := lane{Lane: Lane{Group: group, Name: laneName(t.s, from), Kind: "thread"}, trace: trace, id: model.LaneID(i)}
		if from.Kind == model.LaneStream {
			l.Kind = "stream"
		}
		var rows rowing
		for id := from.FirstEvent; id < from.EndEvent; id++ {
			start, end := ev.Start[id], ev.End(id)
			row, ok := rows.row(start, end)
			if !ok || end < start {
				continue
			}
			for len(l.events) <= row {
				l.events = append(l.events, nil)
			}
			l.events[row] = append(l.events[row], id)
			t.saw(start, end)
		}
		if l.Rows = len(l.events); l.Rows > 0 {
			t.lanes = append(t.lanes, l)
		}
	}
	if t.steps == nil {
		for _, st := range trace.Steps {
			t.steps = append(t.steps, box{st.Start, st.End, t.s.Strings.Intern(fmt.Sprint("step ", st.Number))})
		}
	}
}

// rowing finds a row for each box of a lane, in order of time, so that boxes of a row do not overlap and what is within another box
// stands below it.
type rowing struct{ ends []model.Time }

func (r *rowing) row(start, end model.Time) (row int, ok bool) {
	for row = len(r.ends); row > 0 && r.ends[row-1] <= start; row-- {
	}
	if row >= maxLaneRows {
		return 0, false
	}
	r.ends = append(r.ends[:row], end)
	return row, true
}

// levels is how many levels tell events apart that are 0.1 µs long.
func (t *timeline) levels() int {
	n := 1
	for w := float64(t.to - t.from); w > tileBoxes*100 && n < 40; w /= 2 {
		n++
	}
	return n
}

// part is the timeline without its boxes.
func (t *timeline) part(r *report.Report) *Timeline {
	out := &Timeline{Path: len(r.CriticalPath) > 0, Shared: t.shared() != nil, SpanUs: t.us(t.to), Levels: t.levels(), Lanes: []Lane{},
		Steps: []Mark{}, Events: t.events}
	out.Lanes = append(out.Lanes, t.shown...)
	for _, st := range t.steps[:min(len(t.steps), maxMarks)] {
		out.Steps = append(out.Steps, Mark{t.s.Strings.Text(st.name), t.us(st.start), t.us(st.end) - t.us(st.start)})
	}
	return out
}

// maxMarks bounds the ruler's steps.
const maxMarks = 20_000

func (t *timeline) us(at model.Time) float64 { return float64(at-t.from) / 1e3 }
