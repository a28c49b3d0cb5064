package replay

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// liveBuilder makes the graph of a live session's unprofiled steps: the driving thread with its parts, the DataLoader's
// workers, and the queue between them.
type liveBuilder struct {
	g       *Graph
	s       *model.Session
	b       *account.Breakdown
	p       *model.Process
	waits   []dataWait
	kinds   []segment // how time that is no data wait is split
	hand    int64     // ns from the end of a fetch to the return of the wait for it
	ready   int64     // ns that a wait takes when its batch is ready
	workers int       // asked for; 0: as recorded
}

// segment is the share of one part of the account.
type segment struct {
	kind  Kind
	cat   uint8
	share float64
}

// dataWait is one __next__ of a DataLoader in the driving thread.
type dataWait struct {
	start, end int64
	loader     int32 // the agent's number
	batch      int64
	epoch      int
	fetch      *fetch // what it waited for, nil unknown
	node, join int32  // its nodes; join -1 where it waited for no worker
}

// fetch is one batch as a worker prepared it, or the driving process itself.
type fetch struct {
	process    *model.Process
	start, end int64
}

// maxLiveSteps bounds how many unprofiled steps are replayed: the last ones.
const maxLiveSteps = 4000

// FromSteps makes the graph of an account's steps. workers is the number of DataLoader workers to assume, 0: as recorded,
// NoWorkers: none. nil without an account. The run is one step where there are none.
func FromSteps(s *model.Session, b *account.Breakdown, workers int) *Graph {
	if b == nil || b.Process == nil || len(b.Windows) == 0 {
		return nil
	}
	windows := b.Windows[max(0, len(b.Windows)-maxLiveSteps):]
	g := &Graph{texts: s.Strings, origin: windows[0].Start, categories: []string{""}, account: true}
	l := &liveBuilder{g: g, s: s, b: b, p: b.Process, workers: workers}
	l.readWaits()
	l.match()
	l.cut(windows)
	if workers != 0 && l.asRecorded() {
		l.workers = 0
	}
	l.measure()
	l.split()
	l.drive(windows)
	l.work()
	g.close()
	return g
}

func (l *liveBuilder) at(t model.Time) int64 { return int64(t.Sub(l.g.origin)) }

// measure finds the constants of the hand-over: how long a wait lasts when its batch is ready, and how long after the end of
// a fetch one returns that had to wait.
func (l *liveBuilder) measure() {
	var hand, ready []int64
	for i := range l.waits {
		switch w := &l.waits[i]; {
		case w.fetch == nil || w.fetch.process == l.p:
		case w.fetch.end > w.start:
			hand = append(hand, max(w.end-w.fetch.end, 0))
		default:
			ready = append(ready, w.end-w.start)
		}
	}
	const usual = 500_000
	l.ready = min(median(ready, usual/2), 5_000_000)
	l.hand = min(median(hand, usual), 20_000_000)
	if len(hand) == 0 && len(ready) > 0 {
		l.hand = l.ready
	}
}

// split turns the account's parts into shares of the time that is no data wait.
func (l *liveBuilder) split() {
	total := 0.0
	add := func(kind Kind, name string, t float64) {
		if t > 0 {
			l.kinds = append(l.kinds, segment{kind, l.g.category(name), t})
			total += t
		}
	}
	for i := range l.b.Parts {
		p := &l.b.Parts[i]
		switch p.ID {
		case account.PartDataWait:
		case account.PartPython:
			add(Host, "", p.Time)
		case account.PartOps:
			for _, k := range p.Kinds {
				add(Op, string(k.Kind), k.Time)
			}
			if len(p.Kinds) == 0 {
				add(Op, "", p.Time)
			}
		default:
			add(Other, p.ID.String(), p.Time)
		}
	}
	if total == 0 {
		add(Other, account.PartUnknown.String(), 1)
	}
	for i := range l.kinds {
		l.kinds[i].share /= total
	}
}

// drive makes the driving thread's nodes: steps, and what lies between them.
func (l *liveBuilder) drive(windows []times.Interval) {
	l.g.lanes = append(l.g.lanes, laneNode(-1, model.NoLane, 0, l.p.Rank))
	between := l.g.category("between the steps")
	now, next, last := int64(0), 0, int32(-1)
	until := func(to int64, inStep bool) {
		for next < len(l.waits) && l.waits[next].start < to {
			w := &l.waits[next]
			next++
			last = l.rest(last, now, w.start, inStep, between)
			last = l.wait(last, w, min(w.end, to))
			now = max(now, w.end)
		}
		last = l.rest(last, now, to, inStep, between)
		now = max(now, to)
	}
	numbers := map[model.Time]int64{}
	for i := range l.p.Steps {
		numbers[l.p.Steps[i].Start] = l.p.Steps[i].Number
	}
	for _, w := range windows {
		from, to := l.at(w.Start), l.at(w.End)
		until(from, false)
		win := window{number: numbers[w.Start], from: last, fromAt: from, toAt: to, tail: -1, start: from, end: to}
		until(to, true)
		win.to = last
		l.g.windows = append(l.g.windows, win)
	}
	l.g.lanes[0].end = int32(len(l.g.nodes))
}

// rest makes the nodes of a stretch without data wait.
func (l *liveBuilder) rest(last int32, from, to int64, inStep bool, between uint8) int32 {
	if to <= from {
		return last
	}
	if !inStep {
		return l.g.add(node{at: from, dur: to - from, event: model.NoEvent, prev: last, kind: Other, cat: between})
	}
	at := from
	for i, k := range l.kinds {
		dur := int64(k.share * float64(to-from))
		if i == len(l.kinds)-1 {
			dur = to - at
		}
		last = l.g.add(node{at: at, dur: dur, event: model.NoEvent, prev: last, kind: k.kind, cat: k.cat})
		at += dur
	}
	return last
}

// wait makes the nodes of one wait for data. Without workers the fetch lies in it; else it returns when the worker is done.
func (l *liveBuilder) wait(last int32, w *dataWait, end int64) int32 {
	before := last
	own := w.end - w.start
	add := func(kind Kind, dur int64) {
		last = l.g.add(node{at: w.start, dur: dur, event: model.NoEvent, prev: last, kind: kind})
	}
	switch inside := w.fetch != nil && w.fetch.process == l.p; {
	case w.fetch == nil:
		add(Input, own)
	case inside && l.workers <= 0, !inside && l.workers < 0:
		dur := w.fetch.end - w.fetch.start
		if inside {
			dur = min(dur, own)
			add(Input, own-dur)
		} else {
			add(Input, 0)
		}
		add(Fetch, dur)
		l.g.nodes[last].at = end - dur
	default:
		if inside || w.fetch.end+l.hand > w.start {
			own = min(l.ready, own)
		}
		add(Input, own)
		w.node = last
		last = l.g.add(node{at: w.end, event: model.NoEvent, prev: last, kind: Join})
		w.join = last
		return last
	}
	w.node = before
	return last
}
