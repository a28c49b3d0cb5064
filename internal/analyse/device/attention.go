package device

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/attention"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Attention is device work of attention that operators write out one by one: without the matrix products, which every form of it computes.
type Attention struct {
	Written     int64 // attentions of forward passes
	Kernels     int64
	Dur         model.Dur // added up
	Elementwise model.Dur // of it, in kernels of that class
	Elements    int64     // of the largest matrix of weights; 0 where the trace holds no shapes
	Where       code.Where
}

// writtenOut has the attentions of a trace, and the numbers of their backward passes.
type writtenOut struct {
	ev     *model.Events
	texts  *model.Strings
	spans  map[model.LaneID][]attention.Written
	passes map[int64]bool
}

// Attention finds it by the order of operators: a trace needs neither shapes nor stacks. Backward passes are found where operators have
// numbers.
func (work *Work) Attention() (out Attention) {
	w := writtenOut{&work.trace.Events, work.texts, map[model.LaneID][]attention.Written{}, map[int64]bool{}}
	if len(work.list) == 0 || !w.find(work.trace) {
		return out
	}
	longest := model.Time(0)
	for lane := range work.trace.Lanes {
		for _, s := range w.spans[model.LaneID(lane)] {
			out.Written++
			out.Elements = max(out.Elements, s.Elements)
			if d := w.ev.End(s.Last) - w.ev.Start[s.First]; d > longest {
				longest, out.Where = d, work.list[0].lines.Of(s.First)
			}
		}
	}
	for _, line := range work.list {
		for _, id := range line.Rows {
			class := line.Classes.Of(w.ev, id)
			if !class.Compute() || class == naming.ClassMatmul || !w.holds(w.ev.Op[id]) {
				continue
			}
			out.Kernels++
			out.Dur += w.ev.Dur[id]
			if class == naming.ClassElementwise {
				out.Elementwise += w.ev.Dur[id]
			}
		}
	}
	return out
}

// find fills in the attentions of all threads; false without any.
func (w *writtenOut) find(t *model.Trace) bool {
	for lane := range t.Lanes {
		finder, until := attention.NewFinder(w.ev, w.texts), model.Time(0)
		for id := t.Lanes[lane].FirstEvent; id < t.Lanes[lane].EndEvent; id++ {
			if w.ev.Kind[id] == model.KindOp && w.ev.Start[id] >= until {
				until = w.ev.End(id)
				finder.Add(id)
			}
		}
		if found := finder.Found(); len(found) > 0 {
			w.spans[model.LaneID(lane)] = found
			for i := range found {
				found[i].AddPasses(w.ev, w.passes)
			}
		}
	}
	return len(w.spans) > 0
}

// holds says that an operator belongs to an attention's forward or backward pass.
func (w *writtenOut) holds(op model.EventID) bool {
	outermost := model.NoEvent
	for at := op; at != model.NoEvent; at = w.ev.Parent[at] {
		if number, ok := attention.Pass(w.ev, w.texts, at); ok {
			return w.passes[number]
		}
		if w.ev.Kind[at] == model.KindOp {
			outermost = at
		}
	}
	if outermost == model.NoEvent {
		return false
	}
	spans := w.spans[w.ev.Lane[outermost]]
	i, _ := slices.BinarySearchFunc(spans, outermost, func(s attention.Written, id model.EventID) int { return cmp.Compare(s.Last, id) })
	return i < len(spans) && spans[i].First <= outermost
}
