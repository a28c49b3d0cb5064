package account

import (
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// longLaunch is how long a call that launches work lasts, in ns, from which the device's queue was full and it waits: a guess.
const longLaunch = 100_000

// DeviceBound is the share of the accounted steps in which a device computes, from which it sets their pace: what the program does
// meanwhile is hidden behind it, and a queue that is full only after many steps makes none of the traced ones wait. A guess.
const DeviceBound = 0.8

// DeviceUse is what traced steps tell of the devices that they use. Waits are shares of these steps' time in operators and in calls of the
// device's runtime outside of them, 0..1.
type DeviceUse struct {
	busy float64 // of waits while a device computed
	copy float64 // of waits while a device did nothing but copy
	idle float64 // of waits while none worked: until the work had reached it
	// most is the share of the mean accounted step, 0..1, in which the program can wait for a device that computes: no longer than one did
	// in a traced step, or for what that launched.
	most float64
	// Works is when a device works in traces that hold traced steps; sorted and disjoint.
	Works []times.Interval
	// Computes is what devices compute for a traced step, without collectives, as a share of the mean accounted one, 0..1; 0 where no
	// device was seen to work.
	Computes float64
	// Calls is what a traced step's operators and calls take besides waits, on the driving thread and on those that go backward, in ns,
	// without what tracing them costs.
	Calls float64
	// Pageable is the share of waits for copies that are of pageable memory, and Down of those from the device to the host, 0..1.
	Pageable, Down float64
	// Asks is how often a step calls what returns only when the device is done, and Asking the share of outermost operators that do so and
	// in which the waiting itself is the smaller part, 0..1: the device has nothing left to do, and nothing new to do meanwhile.
	Asks, Asking float64
	// Allocating is the share of calls that take memory from the driver or give it back, while no device computes, 0..1.
	Allocating float64
	// Planning is the share of outermost operators, without waits, in which cuDNN plans attention for shapes that it has no plan for,
	// 0..1, and Plans how many it makes in a traced step.
	Planning, Plans float64
	// Ordering is the same of products that put the entries of a sparse matrix in order, and Ordered how often they do so in a traced
	// step. That they wait for the device there is no question of the program's.
	Ordering, Ordered float64
}

// waitsForDevices finds them in the traced steps of the accounted kind; nothing without work of a device there. A thread that waits for
// a device by asking again and again looks, to samples, as if it computed an operator. While autograd's own thread goes backward for a
// device, the driving one waits for it: what that thread does then counts.
func (b *Breakdown) waitsForDevices(s *model.Session) (out DeviceUse) {
	w := waitCount{s: s}
	works, computed, worked, steps, traced := map[*model.Trace]deviceWork{}, 0.0, 0.0, 0, 0.0
	var all []times.Interval
	list, parts := tracedOrParts(s, b)
	for _, st := range list {
		driver := laneOf(st.Trace, b.Thread)
		if driver < 0 {
			continue
		}
		if _, known := works[st.Trace]; !known {
			works[st.Trace] = workOf(st.Trace, s.Strings)
			all = append(all, works[st.Trace].any...)
		}
		if w.work = works[st.Trace]; len(w.work.any) == 0 {
			continue
		}
		if w.calls == nil {
			w.calls, w.classes = naming.NewCallClasses(s.Strings), naming.NewKernelClasses(s.Strings)
		}
		steps++
		traced += st.Dur()
		own := w.computedFor(st)
		computed += own
		worked += max(own, times.Overlap(w.work.computing, st.Start, st.End))
		for lane := range st.Trace.Lanes {
			if id := model.LaneID(lane); id == driver || w.goesBackward(st, id) {
				w.count(st, id)
			}
		}
	}
	if w.all <= 0 {
		return DeviceUse{}
	}
	out = DeviceUse{busy: min(w.busy/w.all, 1), copy: min(w.copy/w.all, 1), idle: min(w.idle/w.all, 1),
		Asks: w.asks / float64(steps), Asking: min(w.asking/w.all, 1), Pageable: w.pageable / max(w.copy, 1), Down: w.down / max(w.copy, 1),
		Allocating: min(w.allocating/w.all, 1), Plans: w.plans / float64(steps), Ordered: w.ordered / float64(steps)}
	if rest := w.all - w.busy - w.copy - w.idle; rest > 0 {
		cost := usualEventCost * w.events / float64(steps)
		if !parts && b.Mean() > 0 { // what makes traced steps longer than others
			cost = max(cost, min(traced/float64(steps)-b.Mean(), maxLaunchCost*w.events/float64(steps)))
		}
		out.Calls = max(rest/float64(steps)-cost, 0)
		out.Planning, out.Ordering = min(w.planning/rest, 1), min(max(w.ordering/rest, 0), 1)
	}
	out.Works = times.Disjoint(all)
	worked += w.unseen
	out.most = min(worked/traced, 1)
	switch mean := b.Mean(); {
	case parts:
		out.Computes = min(computed/traced, 1)
		out.Asks = w.asks * mean / traced
	case mean > 0:
		out.Computes = min(computed/float64(steps)/mean, 1)
		out.most = min(max(out.most, worked/float64(steps)/mean), 1) // recording lengthens steps, not kernels
	}
	return out
}

// computedFor is how long devices compute what was launched in a step, in ns.
func (w *waitCount) computedFor(st TracedStep) float64 {
	var rows []times.Interval
	st.EachKernel(w.classes, func(ev *model.Events, id, _ model.EventID) {
		rows = append(rows, times.Interval{Start: ev.Start[id], End: ev.End(id)})
	})
	return times.Covered(rows)
}

// waitCount adds up what threads do in traced steps, in ns.
type waitCount struct {
	s                *model.Session
	calls            *naming.CallClasses
	classes          *naming.KernelClasses
	work             deviceWork // of the step's trace
	events           float64    // operators and calls
	all              float64    // outermost operators and calls outside of the DataLoader
	busy, copy, idle float64    // waits in them, by what the device did
	unseen           float64    // of busy: in a full queue, while what worked is in no trace
	pageable, down   float64    // of copy
	allocating       float64    // calls of the driver's allocator while no device computes
	asks, asking     float64    // calls that return when the device is done; outermost operators that are more than waits for it
	plans, planning  float64    // attentions for which cuDNN makes a plan, and what they take beside calls of the device
	ordered          float64    // sparse matrices that a product puts in order
	ordering         float64    // what that takes beside waits
}

// goesBackward says that functions of a backward pass run on a lane in a step.
func (w *waitCount) goesBackward(st TracedStep, lane model.LaneID) (found bool) {
	if st.Trace.Lanes[lane].Kind != model.LaneThread {
		return false
	}
	st.eachRow(lane, func(ev *model.Events, id model.EventID) bool {
		found = found || ev.Kind[id] == model.KindOp && naming.IsBackward(w.s.Strings.Text(ev.Name[id]))
		return !found
	})
	return found
}

func (w *waitCount) count(st TracedStep, lane model.LaneID) {
	until, fetched, ordered, outer, plan := model.Time(0), model.Time(0), model.Time(0), outerOp{}, planOp{}
	st.eachRow(lane, func(ev *model.Events, id model.EventID) bool {
		runtime := ev.Kind[id] == model.KindRuntime
		switch {
		case ev.Start[id] < fetched: // a wait for data has a part of its own
			return true
		case !runtime && naming.IsDataLoader(w.s.Strings.Text(ev.Name[id])):
			fetched = ev.End(id)
			return true
		case (ev.Kind[id] == model.KindOp || runtime) && ev.Start[id] >= until:
			until = ev.End(id)
			w.all += float64(ev.Dur[id])
			w.close(&outer)
			outer = outerOp{time: float64(ev.Dur[id])}
		}
		if runtime {
			w.events++
		}
		if ev.Kind[id] == model.KindOp {
			w.events++
			name := w.s.Strings.Text(ev.Name[id])
			if naming.PlansAttention(name) && ev.Start[id] >= plan.end {
				w.planned(&plan)
				plan = planOp{end: ev.End(id), time: float64(ev.Dur[id])}
			}
			if ordersInProduct(ev, id, name, w.s.Strings) {
				ordered = ev.End(id)
				w.ordered++
				w.ordering += float64(ev.Dur[id])
			}
		}
		if !runtime {
			return true
		}
		if ev.Start[id] < plan.end {
			plan.calls += float64(ev.Dur[id])
		}
		class := w.calls.Of(ev.Name[id])
		switch class {
		case naming.CallBlocks:
			if ev.Start[id] >= ordered {
				outer.asks++
			}
		case naming.CallAllocates:
			w.allocating += float64(ev.Dur[id]) - times.Overlap(w.work.computing, ev.Start[id], ev.End(id))
		}
		if class == naming.CallBlocks || ev.Dur[id] >= longLaunch {
			w.wait(ev, id, class)
			outer.waits += float64(ev.Dur[id])
			if ev.Start[id] < ordered {
				w.ordering -= float64(ev.Dur[id])
			}
		}
		return true
	})
	w.close(&outer)
	w.planned(&plan)
}

// PlanTakes is how long an attention of cuDNN's lasts on the CPU without its calls of the device, in ns, from which it made a plan: 40 to
// 75 ms were seen, and 0.05 to 0.4 ms where it had one (H200, cuDNN 9, PyTorch 2.11).
const PlanTakes = 5_000_000

// planOp is an attention of cuDNN's: where it ends, how long it lasts and how much of that are calls of the device, in ns.
type planOp struct {
	end         model.Time
	time, calls float64
}

// planned counts an attention that is over, if a plan was made for it.
func (w *waitCount) planned(p *planOp) {
	if own := p.time - p.calls; own >= PlanTakes {
		w.plans++
		w.planning += own
	}
}

// ordersInProduct says that an operator puts the entries of a sparse matrix in order within another operator that needs them so: what calls
// the program itself for that is no product.
func ordersInProduct(ev *model.Events, id model.EventID, name string, texts *model.Strings) bool {
	if name != naming.OpOrders {
		return false
	}
	for up := ev.Parent[id]; up != model.NoEvent; up = ev.Parent[up] {
		if ev.Kind[up] == model.KindOp && naming.OpKindOf(texts.Text(ev.Name[up])) == naming.OpMatmul {
			return true
		}
	}
	return false
}

// outerOp is an outermost operator or call: how long it lasts and waits in it, in ns, and how often it asks the device for an answer.
type outerOp struct{ time, waits, asks float64 }

// close counts an outermost operator that is over.
func (w *waitCount) close(o *outerOp) {
	w.asks += o.asks
	if o.asks > 0 && o.waits < launchWaits*o.time {
		w.asking += o.time
	}
}

// wait counts a call that waits for a device. A launch whose kernel is in no trace waited in a full queue: the device worked, unseen.
func (w *waitCount) wait(ev *model.Events, id model.EventID, class naming.CallClass) {
	dur := float64(ev.Dur[id])
	if class == naming.CallLaunches && ev.Link[id] == model.NoEvent {
		w.busy += dur
		w.unseen += dur
		return
	}
	if class == naming.CallAllocates { // what is no computing is the allocator's own
		w.busy += times.Overlap(w.work.computing, ev.Start[id], ev.End(id))
		return
	}
	worked := times.Overlap(w.work.any, ev.Start[id], ev.End(id))
	computed := times.Overlap(w.work.computing, ev.Start[id], ev.End(id))
	w.busy += computed
	w.copy += worked - computed
	w.pageable += min(times.Overlap(w.work.pageable, ev.Start[id], ev.End(id)), worked-computed)
	w.down += min(times.Overlap(w.work.down, ev.Start[id], ev.End(id)), worked-computed)
	w.idle += dur - worked
}

// deviceWork is when any device of a trace works, computes, copies pageable memory, and copies to the host; each sorted and disjoint.
type deviceWork struct{ any, computing, pageable, down []times.Interval }

func workOf(t *model.Trace, s *model.Strings) (work deviceWork) {
	for i := range t.Lanes {
		first, end := laneEvents(t, model.LaneID(i))
		for id := first; id < end; id++ {
			kind := t.Events.Kind[id]
			if !kind.Device() {
				continue
			}
			at := times.Interval{Start: t.Events.Start[id], End: t.Events.End(model.EventID(id))}
			work.any = append(work.any, at)
			if kind == model.KindKernel {
				work.computing = append(work.computing, at)
				continue
			}
			name := s.Text(t.Events.Name[id])
			if naming.IsPageable(name) {
				work.pageable = append(work.pageable, at)
			}
			if naming.CopyDirection(name) == "DtoH" {
				work.down = append(work.down, at)
			}
		}
	}
	return deviceWork{times.Disjoint(work.any), times.Disjoint(work.computing), times.Disjoint(work.pageable), times.Disjoint(work.down)}
}
