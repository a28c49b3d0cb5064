package account

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// topKey groups outermost operators: what the optimizer calls is told apart from the same operators elsewhere.
type topKey struct {
	name      model.Str
	optimizer bool
}

// compare orders groups by their names, those of the optimizer behind.
func (k topKey) compare(o topKey) int {
	if c := cmp.Compare(k.name, o.name); c != 0 || k.optimizer == o.optimizer {
		return c
	}
	if k.optimizer {
		return 1
	}
	return -1
}

// topSum is the outermost operators of one group; host is the time of those that compute on the CPU.
type topSum struct{ count, small, host, time, events float64 }

// isSmall says that operators of a group are small as a rule.
func (t *topSum) isSmall() bool { return t.small >= 0.8*t.count }

func (t *topSum) add(u topSum) {
	t.count += u.count
	t.small += u.small
	t.host += u.host
	t.time += u.time
	t.events += u.events
}

// leastLeft is the share of a group's traced time that is never taken for the cost of tracing: the cost is a mean over all events, and
// what other programs slow down while a step is traced is in it, so that the cheapest operators would be left with nothing.
const leastLeft = 0.25

// corrected is the time per step without the cost of tracing its events. An event's own cost falls half before and half after its time
// stamps: an outermost operator keeps half of it outside.
func (t topSum) corrected(steps, costPer float64) float64 {
	return max(t.time-costPer*(t.events-t.count/2), leastLeft*t.time) / steps
}

// smallSums adds up chosen groups of operators: their corrected time per step, that of small ones, and their number. Small are those
// that are small as a rule: of a group of which four fifths of the calls are small, the others were interrupted, and their time is
// the price of small operators on that machine as well.
func (a *opSums) smallSums(steps, costPer float64, of func(topKey) bool) (all, small, count float64) {
	keys := slices.SortedFunc(maps.Keys(a.tops), topKey.compare) // sums of floats depend on their order
	for _, key := range keys {
		t := a.tops[key]
		if !of(key) {
			continue
		}
		corrected := t.corrected(steps, costPer)
		all += corrected
		count += t.count / steps
		if t.isSmall() {
			small += corrected
		}
	}
	return all, small, count
}

// hostSum is the time per step of operators that compute on the CPU, after correction.
func (a *opSums) hostSum(steps, costPer float64) (sum float64) {
	for _, key := range slices.SortedFunc(maps.Keys(a.tops), topKey.compare) {
		if t := a.tops[key]; t.host > 0 {
			sum += t.corrected(steps, costPer) * t.host / t.time
		}
	}
	return sum
}

func (a *opSums) named(ev *model.Events, id model.EventID, self float64) {
	name := ev.Name[id]
	o := a.names[name]
	if o == nil {
		o = &OpTime{Name: name}
		a.names[name] = o
	}
	o.Time += self
	o.Count++
	kind, ok := a.kindOf[name]
	if !ok {
		kind = naming.OpKindOf(a.strings.Text(name))
		a.kindOf[name] = kind
	}
	if ev.Start[id] >= a.backwardEnd && inOptimizer(ev, id, a.strings) {
		kind = naming.OpOptimizer
		a.optimizer[name] += self
	}
	a.kinds[kind] += self
}

// inOptimizer says that an annotation of an optimizer's step encloses the operator.
func inOptimizer(ev *model.Events, id model.EventID, s *model.Strings) bool {
	for p, n := ev.Parent[id], 0; p >= 0 && n < 200; p, n = ev.Parent[p], n+1 {
		if ev.Kind[p] == model.KindAnnotation && strings.HasPrefix(s.Text(ev.Name[p]), "Optimizer.step") {
			return true
		}
	}
	return false
}

// finish turns sums into means per step.
func (a *opSums) finish(o *OpAccount, n float64) {
	for kind, t := range stats.InOrder(a.kinds) {
		if t > 0 {
			o.Kinds = append(o.Kinds, KindTime{kind, t / n})
		}
	}
	all := 0.0
	for name, t := range stats.InOrder(a.optimizer) {
		all += t
		if !strings.HasSuffix(a.strings.Text(name), "_") {
			o.OptimizerMakes += t
		}
		o.OptimizerMost = max(o.OptimizerMost, t)
	}
	o.OptimizerMost /= max(all, 1)
	o.OptimizerMakes /= max(all, 1)
	slices.SortStableFunc(o.Kinds, func(x, y KindTime) int { return cmp.Compare(y.Time, x.Time) })
	for _, t := range a.names {
		o.Names = append(o.Names, OpTime{t.Name, t.Time / n, t.Count / n})
	}
	slices.SortFunc(o.Names, func(x, y OpTime) int {
		if c := cmp.Compare(y.Time, x.Time); c != 0 {
			return c
		}
		return cmp.Compare(x.Name, y.Name)
	})
}
