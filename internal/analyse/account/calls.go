package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// usualEventCost is what recording one event takes in ns where nothing ran untraced that could be compared with it (measured: 300 to 800).
const usualEventCost = 500

// maxTops bounds the operators that are kept one by one.
const maxTops = 500_000

// TopOp is an operator that no other one encloses. Small says that it is dispatch more than arithmetic: it is short, or most of its kind
// are and it was interrupted.
type TopOp struct {
	times.Interval
	Small bool
	key   topKey
}

// callGap is the longest time between two operators, in ns, in which the interpreter does no more than calling the next one.
const callGap = 60_000

// callsAround is how far around an instant Calling looks, ns.
const callsAround = 5_000_000

// Calling says whether, around an instant of a traced stretch, the thread spends at least half of the time inside small operators and
// on its way from one to the next; traced is false where no operators were recorded around it. What lies at the instant
// itself does not count: taking a sample can stop the thread right there.
func (o *OpAccount) Calling(t model.Time) (calling, traced bool) {
	s := slices.IndexFunc(o.Slices, func(s times.Interval) bool { return s.Start <= t && t < s.End })
	if s < 0 {
		return false, false
	}
	from, to := max(o.Slices[s].Start, t-callsAround), min(o.Slices[s].End, t+callsAround)
	i, _ := slices.BinarySearchFunc(o.Tops, from, func(op TopOp, t model.Time) int { return cmp.Compare(op.Start, t) })
	spent, all := model.Time(0), model.Time(0)
	for ; i+1 < len(o.Tops) && o.Tops[i+1].Start < to; i++ {
		op, next := &o.Tops[i], &o.Tops[i+1]
		if op.Start <= t && t < next.Start {
			continue
		}
		all += next.Start - op.Start
		if op.Small {
			spent += op.End - op.Start
		}
		if gap := next.Start - op.End; gap <= callGap && (op.Small || next.Small) {
			spent += gap
		}
	}
	return all > 0 && 2*spent >= all, all > 0
}

// keepTop notes the outermost operator that has just been closed.
func (a *opSums) keepTop(small bool) {
	if a.keep && len(a.list) < maxTops {
		a.list = append(a.list, TopOp{times.Interval{Start: a.topUntil - model.Time(a.topDur), End: a.topUntil}, small, a.topKey})
	}
}

// oneByOne gives the account its operators and traced stretches.
func (o *OpAccount) oneByOne(a *opSums, steps []TracedStep) {
	slices.SortFunc(a.list, func(x, y TopOp) int { return cmp.Compare(x.Start, y.Start) })
	for i := range a.list {
		a.list[i].Small = a.list[i].Small || a.tops[a.list[i].key].isSmall()
	}
	o.Tops = a.list
	if !a.keep {
		return
	}
	for _, st := range steps {
		o.Slices = append(o.Slices, st.Interval)
	}
	slices.SortFunc(o.Slices, func(x, y times.Interval) int { return cmp.Compare(x.Start, y.Start) })
}

// SmallAt says whether an instant lies in an operator that no other one encloses, and whether that one is small.
func (o *OpAccount) SmallAt(t model.Time) (small, inside bool) {
	i, found := slices.BinarySearchFunc(o.Tops, t, func(op TopOp, t model.Time) int { return cmp.Compare(op.Start, t) })
	if !found {
		i--
	}
	if i < 0 || t >= o.Tops[i].End {
		return false, false
	}
	return o.Tops[i].Small, true
}

// withoutSteps completes the account of a run without steps: the share of recording in its operators' time.
func (o *OpAccount) withoutSteps(traced float64) (base float64) {
	if o.Events > 0 {
		o.CostPer = min(usualEventCost, 0.5*traced/o.Events)
	}
	return traced - o.CostPer*o.Events
}
