package analyse

import (
	"cmp"
	"slices"

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
	Where     Where // of the launch after which most of the time passes
	ApartAt   Where // of the longest stretch apart: the user's line there, as far as the trace has Python calls
	longest   model.Dur
	launch    model.EventID // that ended the longest stretch apart
	middle    model.Time    // of that stretch
	whereTime []model.Dur   // by number of a place
}

// callStretch is the longest time between two operators that is still the price of calling them from Python: with module
// hooks and wrappers 20 to 100 µs.
const callStretch = 150 * 1000

// HostGaps splits a trace's idle time of the cause IdleHost, over all its devices.
func (work *Work) HostGaps() HostGap {
	var g HostGap
	for _, w := range work.list {
		g.launch = model.NoEvent
		if w.hostGaps(&g); g.launch != model.NoEvent {
			g.ApartAt = w.lineAt(g.launch, g.middle)
		}
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
func (g *HostGap) places(work *Work) map[Where]model.Dur {
	out := map[Where]model.Dur{}
	for n, d := range g.whereTime {
		if d > 0 {
			where := work.list[0].lines.places[n]
			where.Module = ""
			out[where] += d
		}
	}
	return out
}

func (w *deviceWork) hostGaps(g *HostGap) {
	ev := &w.trace.Events
	operators := map[model.LaneID]stats.Set{}
	w.eachGap(w.sets().busy, func(from, to model.Time, row model.EventID) {
		launch := ev.Link[row]
		if launch == model.NoEvent || ev.Start[launch] <= from {
			return
		}
		lane := ev.Lane[launch]
		called := min(ev.Start[launch], to)
		if cause, _ := w.hostCause(w.launching(lane), from, called); cause == IdleHost {
			ops, known := operators[lane]
			if !known {
				ops = w.operatorsOf(lane)
				operators[lane] = ops
			}
			w.splitGap(g, ops, launch, from, called)
		}
	})
}

// operatorsOf is the time in which a thread is inside an operator.
func (w *deviceWork) operatorsOf(lane model.LaneID) stats.Set {
	ev := &w.trace.Events
	var all stats.Set
	for id := w.trace.Lanes[lane].FirstEvent; id < w.trace.Lanes[lane].EndEvent; id++ {
		if k := ev.Kind[id]; k == model.KindOp || k == model.KindRuntime {
			all = all.Push(interval(ev, id))
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

func (w *deviceWork) splitGap(g *HostGap, ops stats.Set, launch model.EventID, from, to model.Time) {
	g.Gaps++
	bare := func(from, to int64) { // a stretch without operators
		switch d := model.Dur(max(to-from, 0)); {
		case d <= callStretch:
			g.Between += d
		default:
			g.Apart += d
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
	where := int(w.lines.place(launch))
	if where >= len(g.whereTime) {
		g.whereTime = append(g.whereTime, make([]model.Dur, where+1-len(g.whereTime))...)
	}
	g.whereTime[where] += to.Sub(from)
}

// lineAt is the user's line that a launching thread was in at an instant, by its Python calls; else that of the launch.
func (w *deviceWork) lineAt(launch model.EventID, at model.Time) Where {
	ev := &w.trace.Events
	best := model.NoEvent
	lane := &w.trace.Lanes[ev.Lane[launch]]
	for id := lane.FirstEvent; id < lane.EndEvent && ev.Start[id] <= at; id++ {
		if ev.Kind[id] == model.KindPython && ev.End(id) > at {
			best = id
		}
	}
	if best == model.NoEvent {
		return w.lines.of(launch)
	}
	return w.lines.of(best)
}
