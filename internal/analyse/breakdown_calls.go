package analyse

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// usualEventCost is what recording one event takes in ns where nothing ran untraced that could be compared with it (measured: 300 to 800).
const usualEventCost = 500

// maxTops bounds the operators that are kept one by one.
const maxTops = 500_000

// TopOp is an operator that no other one encloses. Small says that it is dispatch more than arithmetic.
type TopOp struct {
	Interval
	Small bool
}

// callGap is the longest time between two operators, in ns, in which the interpreter does no more than calling the next one.
const callGap = 60_000

// Calling says whether, at an instant of a traced stretch, the thread is inside a small operator or on its way from one operator to the
// next; traced is false where no operator was recorded around it. It knows only what Tops holds: runs without steps.
func (o *OpAccount) Calling(t model.Time) (calling, traced bool) {
	i, found := slices.BinarySearchFunc(o.Tops, t, func(op TopOp, t model.Time) int { return cmp.Compare(op.Start, t) })
	if !found {
		i--
	}
	if i < 0 || i+1 >= len(o.Tops) {
		return false, false
	}
	before, after := &o.Tops[i], &o.Tops[i+1]
	if t < before.End {
		return before.Small, true
	}
	gap := after.Start - before.End
	if !slices.ContainsFunc(o.Slices, func(s Interval) bool { return s.Start <= before.Start && after.Start < s.End }) {
		return false, false
	}
	return gap <= callGap && (before.Small || after.Small), true
}

// keepTop notes the outermost operator that has just been closed.
func (a *opSums) keepTop(small bool) {
	if a.keep && len(a.list) < maxTops {
		a.list = append(a.list, TopOp{Interval{a.topUntil - model.Time(a.topDur), a.topUntil}, small})
	}
}

// withoutSteps completes the account of a run without steps: its operators one by one, and the share of recording in them.
func (o *OpAccount) withoutSteps(a *opSums, steps []tracedStep, traced float64) (base float64) {
	slices.SortFunc(a.list, func(x, y TopOp) int { return cmp.Compare(x.Start, y.Start) })
	o.Tops = a.list
	for _, st := range steps {
		o.Slices = append(o.Slices, st.Interval)
	}
	if o.Events > 0 {
		o.CostPer = min(usualEventCost, 0.5*traced/o.Events)
	}
	return traced - o.CostPer*o.Events
}
