package device

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// HostGap is the time in which a device idled because the thread that launches its work was not fast enough (IdleHost),
// split by what that thread did in it.
type HostGap struct {
	Operators model.Dur // inside operators: preparing and calling them
	Between   model.Dur // between two of them, for less than a call of an operator's worth of Python
	Apart     model.Dur // in longer stretches without any operator: Python of the program's own
	Gaps      int
	ApartGaps int        // stretches apart
	Slow      Slow       // single calls that took long; their time is in Operators as well, as far as it is in operators
	Where     code.Where // of the launch after which most of the time passes
	ApartAt   code.Where // of the longest stretch apart: the user's line there, as far as the trace has Python calls
	longest   model.Dur
	launch    model.EventID // that ended the longest stretch apart
	middle    model.Time    // of that stretch
	whereTime []model.Dur   // by number of a place
}

// Slow is the part of a device's idle time that single operators and launching calls took a millisecond or more of: they compute on the
// CPU, or load and choose kernels, as at their first use. Preparing a launch takes some ten microseconds.
type Slow struct {
	Operators model.Dur // in operators, before a launch
	OnCPU     model.Dur // the part of Operators in such as call nothing of the device: they compute on the CPU
	Stalled   model.Dur // the part of Operators in such as are usually short: the thread stood still within them
	Names     int       // of such operators
	Planned   model.Dur // the part of Operators in attention for which cuDNN makes a plan
	Plans     int       // that are made so, at least so many of one operator
	Launches  model.Dur // in launching calls
	Calls     int
	At        code.Where // of the name with most time
	Longest   model.Dur
	byName    map[model.Str]*slowName
	last      model.EventID // the operator that was asked for its calls last
	lastCalls bool
	lastStall bool
	lastPlans bool
	plans     map[model.Str]int  // by operator
	stalls    map[model.Str]bool // names of operators in which the thread stood still
}

// slowName is the time of the slow calls of one name, and the longest of them.
type slowName struct {
	sum, longest model.Dur
	id           model.EventID
}

// slowCallTime is the time from which a single call is slow.
const slowCallTime = 1000 * 1000

// callStretch is the longest time between two operators that is still the price of calling them from Python: with module
// hooks and wrappers 20 to 100 µs.
const callStretch = 150 * 1000

// HostGaps splits a trace's idle time of the cause IdleHost, over all its devices.
func (work *Work) HostGaps() HostGap {
	g := HostGap{Slow: Slow{last: model.NoEvent}}
	for _, w := range work.list {
		g.launch = model.NoEvent
		if w.hostGaps(&g); g.launch != model.NoEvent {
			g.ApartAt = w.lineAt(g.launch, g.middle)
		}
	}
	if len(work.list) > 0 {
		g.Slow.settle(work.list[0])
	}
	most := model.Dur(0)
	for where, d := range g.places(work) {
		if d > most || d == most && (where.File < g.Where.File || where.File == g.Where.File && where.Op < g.Where.Op) {
			g.Where, most = where, d
		}
	}
	g.whereTime = nil
	return g
}

// places is the time by place: a line is one place, whichever module runs it.
func (g *HostGap) places(work *Work) map[code.Where]model.Dur {
	out := map[code.Where]model.Dur{}
	for n, d := range g.whereTime {
		if d > 0 {
			where := work.list[0].lines.Places[n]
			where.Module = ""
			out[where] += d
		}
	}
	return out
}

func (w *Timeline) hostGaps(g *HostGap) {
	ev := &w.Trace.Events
	operators := map[model.LaneID]stats.Set{}
	outermost := map[model.LaneID][]model.EventID{}
	w.resetWaits(readHostGaps)
	w.eachGap(w.Sets().busy, func(from, to model.Time, row model.EventID) {
		launch := ev.Link[row]
		if launch == model.NoEvent {
			return
		}
		called := min(max(ev.Start[launch], from), to)
		if d := min(ev.End(launch), to).Sub(called); d >= slowCallTime {
			g.Slow.Launches += d
			g.Slow.add(ev, launch, d)
		}
		if called == from {
			return
		}
		lane := ev.Lane[launch]
		cause, _, until := w.hostCause(w.launching(lane), readHostGaps, from, called)
		if cause != IdleHost {
			from = until
		}
		if from >= called {
			return
		}
		ops, known := operators[lane]
		if !known {
			ops = w.operatorsOf(lane)
			operators[lane] = ops
		}
		w.splitGap(g, ops, launch, from, called)
		if called.Sub(from) >= slowCallTime {
			if outermost[lane] == nil {
				outermost[lane] = w.outermostOf(lane)
			}
			w.slowOperators(g, outermost[lane], from, called)
		}
	})
}

// slowOperators books the operators (of one thread, sorted, disjoint) of which a millisecond or more lies in a gap.
func (w *Timeline) slowOperators(g *HostGap, ops []model.EventID, from, to model.Time) {
	ev := &w.Trace.Events
	at, _ := slices.BinarySearchFunc(ops, from, func(id model.EventID, t model.Time) int { return cmp.Compare(ev.End(id), t+1) })
	for _, id := range ops[at:] {
		if ev.Start[id] >= to {
			return
		}
		if d := min(ev.End(id), to).Sub(max(ev.Start[id], from)); d >= slowCallTime {
			g.Slow.Operators += d
			if id != g.Slow.last { // an operator may lie in many gaps
				g.Slow.last, g.Slow.lastCalls = id, w.callsDevice(id)
				g.Slow.inside(w, id)
			}
			if g.Slow.lastStall {
				g.Slow.Stalled += d
			}
			if g.Slow.lastPlans {
				g.Slow.Planned += d
			}
			if !g.Slow.lastCalls {
				g.Slow.OnCPU += d
			}
			g.Slow.add(ev, id, d)
		}
	}
}

// inside looks at what takes an operator so long: a plan, or nothing of its own.
func (s *Slow) inside(w *Timeline, id model.EventID) {
	in := w.mostOf(id)
	name := w.Trace.Events.Name[in]
	s.lastPlans = naming.PlansAttention(w.texts.Text(name))
	s.lastStall = !s.lastPlans && w.stallsIn(in)
	switch {
	case s.lastPlans && s.plans == nil:
		s.plans = map[model.Str]int{name: 1}
	case s.lastPlans:
		s.plans[name]++
	case s.lastStall && s.stalls == nil:
		s.stalls = map[model.Str]bool{name: true}
	case s.lastStall:
		s.stalls[name] = true
	}
}

// callsDevice says whether an operator makes a call of the device's runtime.
func (w *Timeline) callsDevice(id model.EventID) bool {
	ev := &w.Trace.Events
	for end := ev.End(id); id < w.Trace.Lanes[ev.Lane[id]].EndEvent && ev.Start[id] < end; id++ {
		if ev.Kind[id] == model.KindRuntime {
			return true
		}
	}
	return false
}

// Limits of stalls: an operator is usually short where so many calls before it, with the same shapes, took at most such a part of its
// time. Only so many events before it are looked at.
const (
	stallPart  = 0.05
	stallCalls = 2
	stallReach = 20_000
)

// mostOf is the innermost operator or call with nearly all of an operator's time; attention that cuDNN plans counts as one.
func (w *Timeline) mostOf(id model.EventID) model.EventID {
	ev := &w.Trace.Events
	lane := &w.Trace.Lanes[ev.Lane[id]]
	most := id
	for in, end := id+1, ev.End(id); in < lane.EndEvent && ev.Start[in] < end; in++ {
		if k := ev.Kind[in]; (k == model.KindOp || k == model.KindRuntime) && float64(ev.Dur[in]) >= 0.8*float64(ev.Dur[most]) {
			if most = in; k == model.KindOp && naming.PlansAttention(w.texts.Text(ev.Name[in])) {
				break
			}
		}
	}
	return most
}

// stallsIn says that calls of an operator just before one were so much shorter that what it does cannot be the reason. The first calls of
// an operator are slow without that: they load and choose kernels.
func (w *Timeline) stallsIn(most model.EventID) bool {
	ev := &w.Trace.Events
	lane := &w.Trace.Lanes[ev.Lane[most]]
	if ev.Kind[most] != model.KindOp {
		return false
	}
	short := 0
	for before := most - 1; before >= max(lane.FirstEvent, most-stallReach) && short < stallCalls; before-- {
		if ev.Kind[before] == model.KindOp && ev.Name[before] == ev.Name[most] && w.shapesOf(before) == w.shapesOf(most) &&
			float64(ev.Dur[before]) <= stallPart*float64(ev.Dur[most]) {
			short++
		}
	}
	return short == stallCalls
}

// shapesOf are an operator's recorded input shapes, 0 without.
func (w *Timeline) shapesOf(op model.EventID) model.Str {
	ev := &w.Trace.Events
	if ev.Detail[op] < 0 {
		return 0
	}
	return ev.OpArgsOf(ev.Detail[op]).Shapes
}

// Captures is how often a trace begins to capture a graph of device work.
func (work *Work) Captures() (n int) {
	ev := &work.trace.Events
	captures := map[model.Str]bool{}
	for i, kind := range ev.Kind {
		if kind != model.KindRuntime {
			continue
		}
		is, known := captures[ev.Name[i]]
		if !known {
			is = strings.Contains(work.texts.Text(ev.Name[i]), "StreamBeginCapture")
			captures[ev.Name[i]] = is
		}
		if is {
			n++
		}
	}
	return n
}

// outermostOf are a thread's operators and calls that no other one encloses.
func (w *Timeline) outermostOf(lane model.LaneID) []model.EventID {
	ev := &w.Trace.Events
	out := []model.EventID{}
	end := model.Time(0)
	for id := w.Trace.Lanes[lane].FirstEvent; id < w.Trace.Lanes[lane].EndEvent; id++ {
		if k := ev.Kind[id]; (k == model.KindOp || k == model.KindRuntime) && (len(out) == 0 || ev.Start[id] >= end) {
			out = append(out, id)
			end = ev.End(id)
		}
	}
	return out
}

func (s *Slow) add(ev *model.Events, id model.EventID, d model.Dur) {
	if s.byName == nil {
		s.byName = map[model.Str]*slowName{}
	}
	n := s.byName[ev.Name[id]]
	if n == nil {
		n = &slowName{id: id}
		s.byName[ev.Name[id]] = n
	}
	s.Calls++
	n.sum += d
	if d > n.longest {
		n.longest, n.id = d, id
	}
}

// settle names the place of the calls with most time.
func (s *Slow) settle(w *Timeline) {
	var best *slowName
	for _, n := range s.byName {
		if best == nil || n.sum > best.sum || n.sum == best.sum && n.id < best.id {
			best = n
		}
	}
	if best != nil {
		s.At, s.Longest = w.lines.Of(best.id), best.longest
		if s.At.Op == "" {
			s.At.Op = w.texts.Text(w.Trace.Events.Name[best.id])
		}
	}
	s.byName = nil
	s.Names, s.stalls = len(s.stalls), nil
	for _, n := range s.plans {
		s.Plans = max(s.Plans, n)
	}
	s.plans = nil
}

// operatorsOf is the time in which a thread is inside an operator.
func (w *Timeline) operatorsOf(lane model.LaneID) stats.Set {
	ev := &w.Trace.Events
	var all stats.Set
	for id := w.Trace.Lanes[lane].FirstEvent; id < w.Trace.Lanes[lane].EndEvent; id++ {
		if k := ev.Kind[id]; k == model.KindOp || k == model.KindRuntime {
			all = all.Push(times.OfEvent(ev, id))
		}
	}
	return all
}

// around are the parts of a set that reach into an interval: a gap is short and a thread's operators are many.
func around(set stats.Set, in stats.Interval) stats.Set {
	from, _ := slices.BinarySearchFunc(set, in.From, func(i stats.Interval, at int64) int { return cmp.Compare(i.To, at) })
	to, _ := slices.BinarySearchFunc(set, in.To, func(i stats.Interval, at int64) int { return cmp.Compare(i.From, at) })
	return set[from:max(from, to)]
}

func (w *Timeline) splitGap(g *HostGap, ops stats.Set, launch model.EventID, from, to model.Time) {
	g.Gaps++
	bare := func(from, to int64) { // a stretch without operators
		switch d := model.Dur(max(to-from, 0)); {
		case d <= callStretch:
			g.Between += d
		default:
			g.Apart += d
			g.ApartGaps++
			if d > g.longest {
				g.longest, g.launch, g.middle = d, launch, model.Time(from)+model.Time(d/2)
			}
		}
	}
	at := int64(from)
	for _, op := range around(ops, stats.Interval{From: int64(from), To: int64(to)}) {
		begin, end := max(op.From, int64(from)), min(op.To, int64(to))
		bare(at, begin)
		g.Operators += model.Dur(end - begin)
		at = end
	}
	bare(at, int64(to))
	where := int(w.lines.Number(launch))
	if where >= len(g.whereTime) {
		g.whereTime = append(g.whereTime, make([]model.Dur, where+1-len(g.whereTime))...)
	}
	g.whereTime[where] += to.Sub(from)
}

// lineAt is the user's line that a launching thread was in at an instant, by its Python calls; else that of the launch.
func (w *Timeline) lineAt(launch model.EventID, at model.Time) code.Where {
	ev := &w.Trace.Events
	best := model.NoEvent
	lane := &w.Trace.Lanes[ev.Lane[launch]]
	for id := lane.FirstEvent; id < lane.EndEvent && ev.Start[id] <= at; id++ {
		if ev.Kind[id] == model.KindPython && ev.End(id) > at {
			best = id
		}
	}
	if best == model.NoEvent {
		return w.lines.Of(launch)
	}
	return w.lines.Of(best)
}
