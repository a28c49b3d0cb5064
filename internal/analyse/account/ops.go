package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// OpAccount is what the traced steps say of the driving thread's operators, with the tracing cost taken out.
type OpAccount struct {
	Steps     int     // traced steps that were used
	Parts     bool    // none was traced to its end: numbers per step are those of parts, as if all of a step were like them
	Share     float64 // of a step inside operators, after correction
	Time      float64 // ns of operators per step, after correction
	Events    float64 // events per step on the driving thread
	Top       float64 // operators per step that no other operator encloses
	Rate      float64 // the same per ns of traced time
	Small     float64 // those of them that consist of pieces shorter than smallOp
	SmallTime float64 // ns per step in small operators, after correction
	SmallLeft float64 // what of the small operators' traced time the correction leaves, 0..1
	// OptimizerTime and OptimizerSmall are what of Time and SmallTime lies in the optimizer's step, OptimizerTop how many of Top do.
	OptimizerTime, OptimizerSmall, OptimizerTop float64
	// BackwardTime, BackwardSmall and BackwardTop are the same of the backward pass.
	BackwardTime, BackwardSmall, BackwardTop float64
	CostPer                                  float64 // ns that tracing costs per event
	Distortion                               float64 // traced ÷ baseline mean step; 0 unknown
	Kinds                                    []KindTime
	// OptimizerMost is the share of the optimizer's operators' time in the costliest one of them, 0..1: near 1 it is no chain.
	OptimizerMost float64
	// OptimizerMakes is the share of that time in operators that make a new tensor instead of changing one in place, 0..1.
	OptimizerMakes float64
	// Tops are the outermost operators, by start, and Slices the traced steps or, without steps, stretches; nil where nothing sampled them.
	Tops   []TopOp
	Slices []times.Interval
	// OnHost is the time per step in ns, after correction, of outermost operators that hand a device nothing though the process uses one:
	// they compute on the CPU. Short ones are dispatch, wherever they compute, and not among them.
	OnHost float64
	// Names are operators by self time per step, most first.
	Names []OpTime
}

// OpTime is one operator's self time per step.
type OpTime struct {
	Name  model.Str
	Time  float64 // ns
	Count float64
}

// smallOp is the length under which an operator is mostly dispatch: PyTorch spends 1 to 10 µs on one before any arithmetic.
const smallOp = 30e3

// launchWaits is the share of an operator's time in calls that wait for a device from which it is a wait, not dispatch: a guess.
const launchWaits = 0.5

// maxEventCost bounds the calibrated tracing cost of one event (measured: 0.3 to 0.8 µs), so that a machine that other
// programs slow down while a step is traced cannot explain all small operators away.
const maxEventCost = 1.2e3

// maxLaunchCost is the same where a device's runtime is recorded as well: a guess, twice what was seen on an H100 (3.3 µs).
const maxLaunchCost = 6e3

// split divides a part's time by the kinds of the traced steps.
func (o *OpAccount) split(time float64) []KindTime {
	sum := 0.0
	for _, k := range o.Kinds {
		sum += k.Time
	}
	if sum <= 0 {
		return nil
	}
	out := make([]KindTime, len(o.Kinds))
	for i, k := range o.Kinds {
		out[i] = KindTime{k.Kind, time * k.Time / sum}
	}
	return out
}

// TracedStep is a step of the accounted kind that a trace covers.
type TracedStep struct {
	times.Interval
	Trace *model.Trace
}

// traceOps measures operators in the traced steps of the accounted process; nil where no trace covers one.
func traceOps(s *model.Session, b *Breakdown) *OpAccount {
	steps, parts := tracedOrParts(s, b)
	if len(steps) == 0 {
		return nil
	}
	acc := opSums{kinds: map[naming.OpKind]float64{}, names: map[model.Str]*OpTime{}, tops: map[topKey]*topSum{},
		kindOf: map[model.Str]naming.OpKind{}, optimizer: map[model.Str]float64{}, strings: s.Strings, keep: b.Process.Samples.Len() > 0,
		calls: naming.NewCallClasses(s.Strings)}
	acc.fetches = fetchesOf(b)
	traced := 0.0
	for _, st := range steps {
		if lane := laneOf(st.Trace, b.Thread); lane >= 0 {
			acc.step(st.Trace, lane, st.Interval)
			traced += st.Dur()
		}
	}
	if acc.steps == 0 || traced == 0 {
		return nil
	}
	n, base, cost := float64(acc.steps), b.Mean(), float64(usualEventCost)
	if parts {
		if base <= 0 {
			return nil
		}
		if n = max(traced-cost*acc.events, 0.1*traced) / base; n > float64(acc.steps) {
			// Recording what a device is given takes longer than other events do.
			n, cost = float64(acc.steps), (traced-base*float64(acc.steps))/max(acc.events, 1)
			if acc.launches == 0 || cost > maxLaunchCost {
				return nil
			}
		}
	}
	o := &OpAccount{Steps: acc.steps, Parts: parts, Events: acc.events / n, Top: acc.top / n, Small: acc.small / n}
	o.Rate = acc.top / traced
	switch {
	case parts:
		o.CostPer = cost
	case b.PerStep && b.Phase == model.PhaseBaseline && base > 0:
		o.Distortion = traced / n / base
		if o.Events > 0 {
			o.CostPer = min(max((traced/n-base)/o.Events, 0), maxEventCost)
		}
	case !b.PerStep && acc.keep:
		base = o.withoutSteps(traced / n)
	default:
		base = traced / n
	}
	o.Time, o.SmallTime, _ = acc.smallSums(n, o.CostPer, func(topKey) bool { return true })
	o.OptimizerTime, o.OptimizerSmall, o.OptimizerTop = acc.smallSums(n, o.CostPer, func(k topKey) bool { return k.optimizer })
	o.BackwardTime, o.BackwardSmall, o.BackwardTop = acc.smallSums(n, o.CostPer, func(k topKey) bool {
		return naming.IsBackward(s.Strings.Text(k.name))
	})
	_, uncorrected, _ := acc.smallSums(n, 0, func(topKey) bool { return true })
	o.SmallLeft = o.SmallTime / max(uncorrected, 1)
	if acc.launches > 0 {
		o.OnHost = acc.hostSum(n, o.CostPer)
	}
	o.Share = min(o.Time/base, 1)
	if !parts {
		o.oneByOne(&acc, steps)
	}
	acc.finish(o, n)
	return o
}

// fetchesOf are the waits for data of the accounted thread: a loader without workers fetches in them.
func fetchesOf(b *Breakdown) []times.Interval {
	var out []times.Interval
	for i := range b.Process.Spans {
		if sp := &b.Process.Spans[i]; sp.Kind == model.SpanDataWait && sp.Thread == b.Thread && sp.End > sp.Start {
			out = append(out, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	slices.SortFunc(out, func(x, y times.Interval) int { return cmp.Compare(x.Start, y.Start) })
	return times.Disjoint(out)
}

// TracedSteps are the steps of the accounted kind that a trace covers.
func TracedSteps(s *model.Session, b *Breakdown) []TracedStep {
	var out []TracedStep
	for _, t := range s.Traces {
		if t.Process < 0 || t.Process >= len(s.Processes) || s.Processes[t.Process] != b.Process {
			continue
		}
		if !b.PerStep {
			if t.To > t.From && !b.unseen {
				out = append(out, TracedStep{times.Interval{Start: t.From, End: t.To}, t})
			}
			continue
		}
		for i := range b.Process.Steps {
			st := &b.Process.Steps[i]
			if st.Kind == b.Kind && (st.Phase == model.PhaseTrace || st.Phase == model.PhaseDetail) && Covers(t, st) {
				out = append(out, TracedStep{times.Interval{Start: st.Start, End: st.End}, t})
			}
		}
	}
	return out
}

// tracedOrParts are the traced steps, or where none was traced whole the parts of steps that were.
func tracedOrParts(s *model.Session, b *Breakdown) (list []TracedStep, parts bool) {
	if list = TracedSteps(s, b); len(list) > 0 {
		return list, false
	}
	return tracedParts(s, b), true
}

// tracedParts are the parts of steps of the accounted kind that windows recorded which had to be cut.
func tracedParts(s *model.Session, b *Breakdown) []TracedStep {
	var out []TracedStep
	for _, t := range s.Traces {
		own := t.Process >= 0 && t.Process < len(s.Processes) && s.Processes[t.Process] == b.Process
		if !own || !b.PerStep || b.Phase != model.PhaseBaseline {
			continue
		}
		for i := range b.Process.Steps {
			st := &b.Process.Steps[i]
			from, to := max(st.Start, t.From), min(st.End, t.To)
			if st.Kind == b.Kind && st.Phase != model.PhaseWarmup && from < to {
				out = append(out, TracedStep{times.Interval{Start: from, End: to}, t})
			}
		}
	}
	return out
}

// Covers says that a trace recorded a step: its first event may come some time after the step's start and its last before the end.
func Covers(t *model.Trace, st *model.Step) bool {
	length := st.End - st.Start
	return length > 0 && 2*(min(st.End, t.To)-max(st.Start, t.From)) > length
}

// laneOf is the CPU lane of a native thread, -1 where the trace has none.
func laneOf(t *model.Trace, thread int) model.LaneID {
	for i := range t.Lanes {
		if l := &t.Lanes[i]; l.Kind == model.LaneThread && l.Thread == int64(thread) {
			return model.LaneID(i)
		}
	}
	return model.NoLane
}

// opSums accumulates over traced steps.
type opSums struct {
	steps             int
	events, top       float64
	small             float64
	tops              map[topKey]*topSum
	topKey            topKey // of the current outermost operator
	kinds             map[naming.OpKind]float64
	names             map[model.Str]*OpTime
	kindOf            map[model.Str]naming.OpKind
	optimizer         map[model.Str]float64 // self time of operators in the optimizer
	strings           *model.Strings
	backwardEnd       model.Time // in this step: what an optimizer's closure ran before is no optimizer work
	topUntil          model.Time
	topDur            float64
	topFirst, topLast model.EventID // events of the current outermost operator
	self              map[model.EventID]float64
	fetches           []times.Interval // waits for data, whose operators belong to the fetch; sorted, disjoint
	topEvents         float64
	calls             *naming.CallClasses
	topLaunches       float64 // calls in the current outermost operator that hand a device work
	topWaits          float64 // ns in it of calls that wait for a device
	launches          float64
	keep              bool    // outermost operators are listed: samples can be told by them
	list              []TopOp // in order within each lane of a trace
}

// step adds the operators of one lane in one step. Events of a lane are sorted by start, the longest first, so that an
// operator that begins before the last outermost one ends lies inside it.
func (a *opSums) step(t *model.Trace, lane model.LaneID, w times.Interval) {
	a.steps++
	ev := &t.Events
	first, end := int(t.Lanes[lane].FirstEvent), int(t.Lanes[lane].EndEvent)
	if first < 0 || end > ev.Len() || first > end {
		return
	}
	skip, _ := slices.BinarySearchFunc(ev.Start[first:end], w.Start, func(x, y model.Time) int { return cmp.Compare(x, y) })
	a.topUntil, a.topDur, a.topEvents, a.topLaunches, a.topWaits = 0, 0, 0, 0, 0
	a.backwardEnd = 0
	for i := first + skip; i < end && ev.Start[i] < w.End; i++ {
		if ev.Kind[i] == model.KindOp && naming.IsBackward(a.strings.Text(ev.Name[i])) {
			a.backwardEnd = max(a.backwardEnd, ev.End(model.EventID(i)))
		}
	}
	self := map[model.EventID]float64{}
	a.self, a.topFirst = self, model.NoEvent
	for i := first + skip; i < end && ev.Start[i] < w.End; i++ {
		id := model.EventID(i)
		a.events++
		switch {
		case ev.Kind[i] == model.KindRuntime && ev.Start[i] < a.topUntil:
			a.call(ev, id)
		case ev.Kind[i] == model.KindOp && times.Within(a.fetches, ev.Start[i]) < 0:
			a.op(ev, id, self)
			a.topLast = id
		}
	}
	a.flushTop()
	for id, t := range self {
		a.named(ev, id, max(t, 0))
	}
}

// call takes in a call of a device's runtime within the current outermost operator.
func (a *opSums) call(ev *model.Events, id model.EventID) {
	switch class := a.calls.Of(ev.Name[id]); {
	case class == naming.CallBlocks, ev.Dur[id] >= longLaunch:
		a.topWaits += float64(ev.Dur[id])
		fallthrough
	case class == naming.CallLaunches, class == naming.CallCopies:
		a.topLaunches++
	}
}

func (a *opSums) op(ev *model.Events, id model.EventID, self map[model.EventID]float64) {
	dur := float64(ev.Dur[id])
	self[id] += dur
	if ev.Start[id] >= a.topUntil {
		a.flushTop()
		a.topUntil, a.topDur, a.topEvents = ev.End(id), dur, 1
		a.topKey = topKey{ev.Name[id], ev.Start[id] >= a.backwardEnd && inOptimizer(ev, id, a.strings)}
		a.topFirst = id
		a.top++
		return
	}
	a.topEvents++
	for p := ev.Parent[id]; p >= 0; p = ev.Parent[p] {
		if ev.Kind[p] == model.KindOp {
			self[p] -= dur
			return
		}
		if ev.Parent[p] == p {
			return
		}
	}
}

// flushTop closes the current outermost operator.
func (a *opSums) flushTop() {
	if a.topEvents == 0 {
		return
	}
	t := a.tops[a.topKey]
	if t == nil {
		t = &topSum{}
		a.tops[a.topKey] = t
	}
	sum := topSum{count: 1, time: a.topDur, events: a.topEvents}
	// What hands a device work is dispatch, however long that takes: nothing is computed meanwhile.
	small := a.longestPiece() < smallOp || a.topLaunches > 0 && a.topWaits < launchWaits*a.topDur
	if !small && a.topLaunches == 0 {
		sum.host = a.topDur
	}
	a.launches += a.topLaunches
	t.add(sum)
	if small {
		t.small++
		a.small++
	}
	a.keepTop(small)
	a.topEvents, a.topLaunches, a.topWaits = 0, 0, 0
}

// longestPiece is the longest self time inside the current outermost operator: one that consists of small ones alone, such as a cell
// of a recurrent network or a node of the backward pass, is dispatch like them.
func (a *opSums) longestPiece() float64 {
	longest := 0.0
	for id := a.topFirst; id <= a.topLast; id++ {
		longest = max(longest, a.self[id])
	}
	return longest
}
