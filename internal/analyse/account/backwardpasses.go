package account

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// Backward is what traced steps spend on going backward through a graph again: several passes begin at one output, in one direction, as
// they do where the gradient for each input is asked for apart. One pass gives them all. All numbers are means per traced step.
type Backward struct {
	Passes, Again float64          // backward passes; of them, those that one before from the same output could have served
	Time          float64          // ns of operators that need not run: in these passes, and in passes through the graphs that they made
	All           float64          // ns of all outermost operators and nodes
	Kernels       float64          // ns of kernels that Time's nodes launch
	AllKernels    float64          // ns of all kernels, collectives left out
	Spans         []times.Interval // passes from an output from which more than one begins
}

// nodeKey names a node of the graph: autograd numbers nodes by the thread that makes them.
type nodeKey struct {
	thread   int32
	sequence int64
}

// backwardNode is a function of the graph as a pass calls it.
type backwardNode struct {
	id    model.EventID
	key   nodeKey
	again float64 // the part of it that need not be computed, 0..1
	// gradients are those of parameters that come of it at once; added are those of them that are added to an earlier pass's.
	gradients, added int
}

// backwardPass is one call of autograd's engine.
type backwardPass struct {
	root    nodeKey // the first node that is no mere sum: u.sum() is a new node each time, and leads to the same one
	name    string  // of the root
	outputs int     // of the operator that the root belongs to; 0 where that is not known
	ones    bool    // what goes backward from the root is ones, as from a loss: any two such passes could be one
	nodes   []backwardNode
}

// BackwardAgain finds passes that go backward through a graph again; nil where no traced step holds any.
func BackwardAgain(s *model.Session, b *Breakdown) *Backward {
	out, n := &Backward{}, 0
	classes := naming.NewKernelClasses(s.Strings)
	for _, st := range TracedSteps(s, b) {
		lane := laneOf(st.Trace, b.Thread)
		if lane < 0 {
			continue
		}
		n++
		w := backwardStep{s: s, st: st, lane: lane, ev: &st.Trace.Events}
		w.collect()
		w.judge(out)
		w.add(out, classes)
	}
	if out.Again == 0 {
		return nil
	}
	for _, of := range []*float64{&out.Passes, &out.Again, &out.Time, &out.All, &out.Kernels, &out.AllKernels} {
		*of /= float64(n)
	}
	return out
}

// backwardStep goes through the passes of one traced step.
type backwardStep struct {
	s      *model.Session
	st     TracedStep
	ev     *model.Events
	lane   model.LaneID // of the thread that drives the step; with a device, autograd's own thread calls the nodes
	passes []backwardPass
	calls  []model.EventID // outermost operators between passes
	all    float64
}

// sequenceOf is the number of an operator's or a node's detail, -1 without one.
func sequenceOf(ev *model.Events, id model.EventID) (number int64, thread int32) {
	if d := ev.Detail[id]; ev.Kind[id] == model.KindOp && d >= 0 && int(d) < len(ev.OpDetails) {
		return ev.OpDetails[d].Sequence, ev.OpDetails[d].FwdThread
	}
	return -1, 0
}

// collect finds the step's passes. The driving thread waits for a pass to end, and calls no operator meanwhile: one of its operators
// between two nodes parts two passes. So does the node at which the pass began, since a pass calls no node twice.
func (w *backwardStep) collect() {
	var outermost []model.EventID
	for i := range w.st.Trace.Lanes {
		until, driving := model.Time(0), model.LaneID(i) == w.lane
		w.st.eachRow(model.LaneID(i), func(ev *model.Events, id model.EventID) bool {
			// In traces that count whole microseconds, the end of an operator may come before what it called last.
			inside := ev.Start[id] < until || ev.Start[id] == until && ev.Dur[id] == 0
			if ev.Kind[id] != model.KindOp || inside {
				return true
			}
			if driving || naming.IsBackward(w.s.Strings.Text(ev.Name[id])) {
				until = ev.End(id)
				outermost = append(outermost, id)
			}
			return true
		})
	}
	slices.SortFunc(outermost, func(x, y model.EventID) int {
		return cmp.Or(cmp.Compare(w.ev.Start[x], w.ev.Start[y]), cmp.Compare(x, y))
	})
	before, open, began := "", false, nodeKey{}
	for _, id := range outermost {
		w.all += float64(w.ev.Dur[id])
		name := w.s.Strings.Text(w.ev.Name[id])
		if !naming.IsBackward(name) {
			if open = false; name != comparesSizes {
				before = name
			}
			w.calls = append(w.calls, id)
			continue
		}
		node := backwardNode{id: id}
		node.key.sequence, node.key.thread = sequenceOf(w.ev, id)
		if node.key.sequence < 0 { // a gradient that is handed to who asked for it, or added to a parameter's
			if open {
				p := &w.passes[len(w.passes)-1]
				p.nodes[len(p.nodes)-1].takes(w.gradient(id))
			}
			continue
		}
		if !open || node.key == began {
			ones := makesOnes(before)
			if open {
				ones = w.passes[len(w.passes)-1].ones
			}
			w.passes = append(w.passes, backwardPass{ones: ones})
			open, began = true, node.key
		}
		p := &w.passes[len(w.passes)-1]
		p.nodes = append(p.nodes, node)
		if of := nodeName(name); p.name == "" && !onlySums(of) {
			p.root, p.name, p.outputs = node.key, of, w.outputsOf(id, of)
		}
	}
}

// comparesSizes is what autograd itself calls before a pass (PyTorch 1.13) with the gradient that it is given.
const comparesSizes = "aten::is_same_size"

// makesOnes says that an operator makes what goes backward from a loss, or from an output each of whose elements counts the same.
func makesOnes(name string) bool { return name == "aten::ones_like" || name == "aten::ones" }

// nodeName is the name of the function that the engine records.
func nodeName(event string) string {
	return strings.TrimPrefix(strings.TrimPrefix(event, naming.EngineNode), ": ")
}

// onlySums says that a node hands the same gradient to all elements.
func onlySums(node string) bool {
	return strings.HasPrefix(node, "SumBackward") || strings.HasPrefix(node, "MeanBackward")
}

// severalOutputs begin the names of nodes of operators with several outputs. Passes from two of these begin at the same node.
var severalOutputs = []string{"Split", "Unbind", "UnsafeSplit", "ConvolutionBackwardBackward", "VarMean", "StdMean", "Aminmax", "Frexp",
	"Foreach", "CudnnRnn", "MkldnnRnn", "MiopenRnn", "ThnnFused", "MpsLstm", "Lstm", "Svd", "Eig", "Qr", "Slogdet", "LinalgSvd", "LinalgEig",
	"LinalgQr", "LinalgLu", "LinalgSlogdet", "LinalgSolve", "LinalgInvEx", "LinalgCholesky", "LinalgLstsq"}

// outputsOf is the number of outputs of the operator that a node belongs to, 0 where it is not known: a pass from one of several parts of a
// tensor fills the others' gradients with zeros.
func (w *backwardStep) outputsOf(id model.EventID, node string) int {
	if node == "" || node[len(node)-1] < '0' || node[len(node)-1] > '9' {
		return 0 // the program's own function, or a compiled one
	}
	if !slices.ContainsFunc(severalOutputs, func(begin string) bool { return strings.HasPrefix(node, begin) }) {
		return 1
	}
	zeros := 0
	if strings.HasPrefix(node, "Split") || strings.HasPrefix(node, "Unbind") {
		for in := id + 1; int(in) < w.ev.Len() && w.ev.Lane[in] == w.ev.Lane[id] && w.ev.Start[in] < w.ev.End(id); in++ {
			if w.s.Strings.Text(w.ev.Name[in]) == "aten::zeros" {
				zeros++
			}
		}
	}
	if zeros == 0 {
		return 0
	}
	return zeros + 1
}

// judge marks what need not be computed, and counts the passes.
func (w *backwardStep) judge(out *Backward) {
	groups := map[nodeKey][]int{}
	for i := range w.passes {
		if p := &w.passes[i]; p.ones && p.outputs > 0 {
			groups[p.root] = append(groups[p.root], i)
		}
	}
	most := 0 // passes from an output of which it is known that they are its own
	for root := range groups {
		if members := groups[root]; w.passes[members[0]].outputs == 1 {
			most = max(most, len(members))
		}
	}
	out.Passes += float64(len(w.passes))
	group, needed := make([]nodeKey, len(w.passes)), map[nodeKey]int{}
	for root, members := range groups {
		// Of an operator with several outputs, each has at most as many passes as an output that has a node of its own; where none has
		// several, all outputs count.
		n := min(w.passes[members[0]].outputs, len(members))
		if n > 1 && most > 1 {
			n = min(n, (len(members)+most-1)/most)
		}
		if n == len(members) {
			continue
		}
		needed[root] = n
		out.Again += float64(len(members) - n)
		for _, m := range members {
			group[m] = root
			out.Spans = append(out.Spans, w.span(&w.passes[m]))
		}
	}
	if len(needed) > 0 {
		w.repeated(group, needed)
		w.throughCopies(group, needed)
	}
}

// span is from a pass's first node to its last.
func (w *backwardStep) span(p *backwardPass) times.Interval {
	return times.Interval{Start: w.ev.Start[p.nodes[0].id], End: w.ev.End(p.nodes[len(p.nodes)-1].id)}
}

// repeated marks nodes that several passes of a group call: one pass calls each node once. group is the root that each pass shares with
// others, and needed how many of a root's passes must stay.
func (w *backwardStep) repeated(group []nodeKey, needed map[nodeKey]int) {
	calls := map[[2]nodeKey]int{}
	each := func(f func(of [2]nodeKey, n *backwardNode)) {
		for i := range w.passes {
			for k := range w.passes[i].nodes {
				if n := &w.passes[i].nodes[k]; needed[group[i]] > 0 {
					f([2]nodeKey{group[i], n.key}, n)
				}
			}
		}
	}
	each(func(of [2]nodeKey, _ *backwardNode) { calls[of]++ })
	each(func(of [2]nodeKey, n *backwardNode) {
		n.again = max(float64(calls[of]-needed[of[0]]), 0) / float64(calls[of])
	})
}

// throughCopies marks nodes of passes through the graphs that several passes of a group made, as the loss's does where gradients are part
// of it (create_graph). Had one pass made them, there would be one graph to go through. A pass through one of these graphs stays.
func (w *backwardStep) throughCopies(group []nodeKey, needed map[nodeKey]int) {
	made := w.makers()
	main := w.passes[0].nodes[0].key.thread // a step goes forward before it goes backward
	maker := func(key nodeKey) (pass int, ok bool) {
		pass, ok = made[madeKey{key.thread == main, key.sequence}]
		return pass, ok && pass >= 0 && needed[group[pass]] > 0
	}
	for i := range w.passes {
		copies := map[nodeKey]map[int]bool{}
		for _, n := range w.passes[i].nodes {
			if pass, ok := maker(n.key); ok && pass < i {
				if copies[group[pass]] == nil {
					copies[group[pass]] = map[int]bool{}
				}
				copies[group[pass]][pass] = true
			}
		}
		for k := range w.passes[i].nodes {
			n := &w.passes[i].nodes[k]
			pass, ok := maker(n.key)
			if !ok || pass >= i {
				continue
			}
			several := float64(len(copies[group[pass]]))
			n.again = 1 - (1-n.again)*min(float64(needed[group[pass]])/several, 1)
		}
	}
}

// madeKey is a node by who made it: the driving thread, or autograd's own.
type madeKey struct {
	driving  bool
	sequence int64
}

// makers are the passes in which nodes were made, -1 for those that were made outside. The operator that made a node is the last one that
// carries its number: others only saw the counter at that value.
func (w *backwardStep) makers() map[madeKey]int {
	made := map[madeKey]int{}
	for i := range w.st.Trace.Lanes {
		driving, pass := model.LaneID(i) == w.lane, 0
		w.st.eachRow(model.LaneID(i), func(ev *model.Events, id model.EventID) bool {
			number, forward := sequenceOf(ev, id)
			if number < 0 || forward != 0 {
				return true
			}
			for pass < len(w.passes) && w.span(&w.passes[pass]).End <= ev.Start[id] {
				pass++
			}
			key := madeKey{driving, number}
			if made[key] = -1; pass < len(w.passes) && ev.Start[id] >= w.span(&w.passes[pass]).Start {
				made[key] = pass
			}
			return true
		})
	}
	return made
}

// add adds up the step's times.
func (w *backwardStep) add(out *Backward, classes *naming.KernelClasses) {
	out.All += w.all
	var marked []backwardNode
	for i := range w.passes {
		for _, n := range w.passes[i].nodes {
			if n.again > 0 {
				out.Time += n.again * float64(w.ev.Dur[n.id])
				marked = append(marked, n)
			}
		}
	}
	slices.SortFunc(marked, func(x, y backwardNode) int { return cmp.Compare(w.ev.Start[x.id], w.ev.Start[y.id]) })
	w.st.EachKernel(classes, func(ev *model.Events, id, call model.EventID) {
		out.AllKernels += float64(ev.Dur[id])
		i, found := slices.BinarySearchFunc(marked, ev.Start[call], func(n backwardNode, at model.Time) int {
			return cmp.Compare(ev.Start[n.id], at)
		})
		if !found {
			i--
		}
		if i >= 0 && ev.Lane[marked[i].id] == ev.Lane[call] && ev.Start[call] < ev.End(marked[i].id) {
			out.Kernels += marked[i].again * float64(ev.Dur[id])
		}
	})
}
