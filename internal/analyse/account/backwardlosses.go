package account

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// Losses is what traced steps spend on going backward through one part of a graph for several losses, one after the other. Again counts
// passes that go through what a later one goes through as well, and Spans are theirs.
type Losses struct {
	Backward
	Shared    float64 // nodes in these passes that a later one calls as well
	Gradients float64 // gradients of parameters that come of these nodes at once
	// Thrown are passes of which these gradients are gone before the later pass, though an optimizer has stepped meanwhile; Added are those
	// whose gradients the later pass adds its own to before any optimizer steps. Of others it is not known.
	Thrown, Added float64
}

// BackwardLosses finds passes of different losses that share a part of their graph with its parameters; nil where no traced step holds
// any. A pass that torch.autograd.grad asks for adds nothing to parameters' gradients, and does not count.
func BackwardLosses(s *model.Session, b *Breakdown) *Losses {
	out, n := &Losses{}, 0
	classes := naming.NewKernelClasses(s.Strings)
	for _, st := range TracedSteps(s, b) {
		lane := laneOf(st.Trace, b.Thread)
		if lane < 0 {
			continue
		}
		n++
		w := backwardStep{s: s, st: st, lane: lane, ev: &st.Trace.Events}
		w.collect()
		out.Passes += float64(len(w.passes))
		w.judgeLosses(out)
		w.add(&out.Backward, classes)
	}
	if out.Again == 0 {
		return nil
	}
	for _, of := range []*float64{&out.Passes, &out.Again, &out.Time, &out.All, &out.Kernels, &out.AllKernels, &out.Shared, &out.Gradients,
		&out.Thrown, &out.Added} {
		*of /= float64(n)
	}
	return out
}

// takes notes a gradient that comes of the node at once.
func (n *backwardNode) takes(accumulated, added bool) {
	if accumulated {
		n.gradients++
	}
	if added {
		n.added++
	}
}

// gradient says whether a pass that has come to a parameter accumulates its gradient, and whether there is one that it is added to. The
// engine goes to a parameter right after the node that computes the last part of its gradient.
func (w *backwardStep) gradient(id model.EventID) (accumulated, added bool) {
	for in := id + 1; int(in) < w.ev.Len() && w.ev.Lane[in] == w.ev.Lane[id] && w.ev.Start[in] < w.ev.End(id); in++ {
		switch w.s.Strings.Text(w.ev.Name[in]) {
		case naming.Accumulates:
			accumulated = true
		case "aten::add_", "aten::add":
			added = true
		}
	}
	return accumulated, accumulated && added
}

// sharedPart is what a pass has in common with a later one.
type sharedPart struct {
	nodes            []int   // of the earlier pass
	first, second    float64 // ns in each pass
	gradients, added int     // gradients that the earlier pass accumulates; of the later one's, those that are added to these
	later            int     // gradients that the later pass accumulates
	dense            int     // nodes that compute with weights
}

// numbered is how a step counts its nodes: the number that its first one has, and the next step's first. A step may end between a loss and
// what trains on it, as between a GAN's two networks. A pass at its beginning goes through nodes of the step before then, and as all steps
// are alike, the next step's will go through this one's with as many more.
type numbered struct{ first, next int64 }

// numbers reads the counter from the driving thread's operators, which carry its value where gradients are recorded.
func (w *backwardStep) numbers() (n numbered) {
	n.first = -1
	w.st.eachRow(w.lane, func(ev *model.Events, id model.EventID) bool {
		if number, forward := sequenceOf(ev, id); number >= 0 && forward == 0 {
			if n.first < 0 {
				n.first = number
			}
			n.next = max(n.next, number)
		}
		return true
	})
	return n
}

// shares finds what a pass has in common with a later one, of this step or, with a shift, of the next step.
func (w *backwardStep) shares(i, j int, shift, first int64) (sh sharedPart) {
	theirs := map[nodeKey]*backwardNode{}
	for k := range w.passes[j].nodes {
		n := &w.passes[j].nodes[k]
		if key := n.key; shift == 0 || key.sequence < first {
			key.sequence += shift
			theirs[key] = n
		}
	}
	for k := range w.passes[i].nodes {
		mine := &w.passes[i].nodes[k]
		other := theirs[mine.key]
		if other == nil {
			continue
		}
		name := w.s.Strings.Text(w.ev.Name[mine.id])
		if w.ev.Name[other.id] != w.ev.Name[mine.id] {
			return sharedPart{} // another graph: the steps are not alike
		}
		sh.nodes = append(sh.nodes, k)
		sh.first += float64(w.ev.Dur[mine.id])
		sh.second += float64(w.ev.Dur[other.id])
		sh.gradients, sh.later, sh.added = sh.gradients+mine.gradients, sh.later+other.gradients, sh.added+other.added
		switch {
		case strings.Contains(name, "CompiledFunction"):
			sh.dense += leastDense
		case naming.OpKindOf(name).Dense():
			sh.dense++
		}
	}
	return sh
}

// leastDense is the number of layers that a shared part must have. The second of two keeps its weights for its backward pass: an optimizer
// that stepped them between two passes would make the later one fail. So what it stepped are other weights.
const leastDense = 2

// judgeLosses marks what passes share with later ones, of this step or of the next.
func (w *backwardStep) judgeLosses(out *Losses) {
	if len(w.passes) < 2 {
		return
	}
	w.leaveGradients()
	counts := w.numbers()
	for i := range w.passes {
		if !w.sharesLater(out, i) {
			w.sharesNext(out, counts, i)
		}
	}
}

// sharesNext looks among the passes with which the next step begins.
func (w *backwardStep) sharesNext(out *Losses, counts numbered, i int) {
	between := []times.Interval{{Start: w.span(&w.passes[i]).End, End: w.st.End}, {Start: w.st.Start}}
	for j := range i {
		between[1].End = w.span(&w.passes[j]).Start
		shift := counts.next - counts.first
		sh := w.shares(i, j, shift, counts.first)
		if more := w.shares(i, j, shift+1, counts.first); len(more.nodes) > len(sh.nodes) { // the step's last operator made a node
			sh = more
		}
		if shift > 0 && sh.counts() && w.judgePair(out, i, j, &sh, between) {
			return
		}
	}
}

// sharesLater looks among the step's later passes.
func (w *backwardStep) sharesLater(out *Losses, i int) bool {
	for j := i + 1; j < len(w.passes); j++ {
		if w.passes[i].root == w.passes[j].root {
			continue // one output: BackwardAgain's
		}
		between := []times.Interval{{Start: w.span(&w.passes[i]).End, End: w.span(&w.passes[j]).Start}}
		sh := w.shares(i, j, 0, 0)
		if sh.counts() && w.judgePair(out, i, j, &sh, between) {
			return true
		}
	}
	return false
}

// counts says that both passes accumulate gradients of the shared part's layers.
func (sh *sharedPart) counts() bool {
	return sh.dense >= leastDense && sh.gradients > 0 && sh.later > 0
}

// leaveGradients leaves out passes through what an earlier one made: their losses are made of gradients, as a penalty is.
func (w *backwardStep) leaveGradients() {
	made, main := w.makers(), w.passes[0].nodes[0].key.thread // a step goes forward before it goes backward
	w.passes = slices.DeleteFunc(w.passes, func(p backwardPass) bool {
		return slices.ContainsFunc(p.nodes, func(n backwardNode) bool {
			pass, ok := made[madeKey{n.key.thread == main, n.key.sequence}]
			return ok && pass >= 0
		})
	})
}

// judgePair counts a pass that shares a part with a later one, unless each one's gradients may be wanted apart.
func (w *backwardStep) judgePair(out *Losses, i, j int, sh *sharedPart, between []times.Interval) bool {
	stepped, cleared := w.optimized(between)
	added := 2*sh.added > sh.later
	gone := !added || cleared >= sh.gradients
	if gone && !stepped || w.readers(between[0]) >= sh.gradients {
		return false
	}
	if added && !stepped && !(w.passes[i].ones && w.passes[j].ones) {
		return false // directions of their own: the outputs cannot be added
	}
	weight := min(sh.second/max(sh.first, 1), 1) // either pass may be the one that goes
	switch {
	case gone:
		out.Thrown++
		weight = 1
	case !stepped:
		out.Added++
	}
	for _, k := range sh.nodes {
		w.passes[i].nodes[k].again = weight
	}
	out.Again++
	out.Shared += float64(len(sh.nodes))
	out.Gradients += float64(sh.gradients)
	out.Spans = append(out.Spans, w.span(&w.passes[i]))
	return true
}

// optimized says whether an optimizer stepped in stretches of the step, and how many gradients zero_grad filled with zeros there.
func (w *backwardStep) optimized(between []times.Interval) (stepped bool, cleared int) {
	until := model.Time(0)
	w.st.eachRow(w.lane, func(ev *model.Events, id model.EventID) bool {
		if !slices.ContainsFunc(between, func(iv times.Interval) bool { return iv.Start <= ev.Start[id] && ev.Start[id] < iv.End }) {
			return true
		}
		name := w.s.Strings.Text(ev.Name[id])
		switch {
		case ev.Kind[id] == model.KindAnnotation && strings.HasPrefix(name, "Optimizer.step"):
			stepped = true
		case ev.Kind[id] == model.KindAnnotation && strings.HasPrefix(name, "Optimizer.zero_grad"):
			until = ev.End(id)
		case ev.Kind[id] == model.KindOp && ev.Start[id] < until && name == "aten::zero_":
			cleared++
		}
		return true
	})
	return stepped, cleared
}

// readers are the operators that may keep a pass's gradients for themselves, as methods do that weigh the gradients of several losses: what
// is called after the pass, before a layer or an optimizer's step. Clipping measures and scales gradients, and keeps none.
func (w *backwardStep) readers(after times.Interval) (n int) {
	w.st.eachRow(w.lane, func(ev *model.Events, id model.EventID) bool {
		if ev.Kind[id] == model.KindAnnotation && ev.Start[id] >= after.Start && ev.Start[id] < after.End &&
			strings.HasPrefix(w.s.Strings.Text(ev.Name[id]), "Optimizer.") {
			after.End = ev.Start[id]
		}
		return ev.Start[id] < after.End
	})
	for _, id := range w.calls {
		if w.ev.Start[id] < after.Start {
			continue
		}
		name := w.s.Strings.Text(w.ev.Name[id])
		if w.ev.Start[id] >= after.End || naming.OpKindOf(name).Dense() {
			break
		}
		if name != "aten::mul_" && !strings.Contains(name, "norm") {
			n++
		}
	}
	return n
}
