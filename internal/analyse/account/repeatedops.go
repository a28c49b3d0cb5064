package account

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// RepeatedOp is an operator that traced steps call in turns: with inputs of the same shapes, and the same row of operators from each call
// to the next.
type RepeatedOp struct {
	Name  string
	Row   []string // operators from a call to the next turn's, itself included
	Turns int      // the most in one step
	// Shapes are those of its inputs, as the trace has them.
	Shapes string
	Spans  []times.Interval // of the calls
	// Time is the ns of its calls, all but one turn's of each row, without their backward passes.
	Time float64

	calls []repeatedCall
}

// repeatedCall is one of an operator's calls.
type repeatedCall struct {
	step  int
	id    model.EventID
	again float64 // the part of it that another turn's call could serve, 0..1
}

// RepeatedOps are the operators that traced steps call in turns. Steps without shapes tell nothing.
type RepeatedOps struct {
	Ops   []*RepeatedOp
	Names map[string]bool // of all outermost operators

	s         *model.Session
	b         *Breakdown
	anyValues bool
	steps     []TracedStep
}

const (
	fewestTurns = 3 // fewer are chance
	mostInOne   = 4 // calls of an operator in one turn that are told apart from turns of their own
	longestRow  = 400
)

// Calls is how often each of the traced steps calls an operator in turns, on average.
func (r *RepeatedOps) Calls(op *RepeatedOp) float64 {
	return float64(len(op.calls)) / float64(max(len(r.steps), 1))
}

// InTurns finds the operators that traced steps call in turns: with tensors of the same shapes, and with the same values, or with any.
func InTurns(s *model.Session, b *Breakdown, anyValues bool) *RepeatedOps {
	out := &RepeatedOps{Names: map[string]bool{}, s: s, b: b, anyValues: anyValues}
	byKey := map[string]*RepeatedOp{}
	for _, st := range TracedSteps(s, b) {
		var ids []model.EventID
		shaped := false
		st.EachOp(b.Thread, func(ev *model.Events, id model.EventID, outer bool) {
			if name := s.Strings.Text(ev.Name[id]); outer && !naming.IsBackward(name) {
				out.Names[name] = true
				ids = append(ids, id)
				shaped = shaped || ev.OpArgsOf(ev.Detail[id]).Shapes != 0
			}
		})
		if !shaped {
			continue
		}
		out.steps = append(out.steps, st)
		var passes []model.Time
		st.EachPass(s.Strings, func(ev *model.Events, id model.EventID) { passes = append(passes, ev.Start[id]) })
		slices.Sort(passes)
		out.collect(byKey, ids, passes)
	}
	slices.SortFunc(out.Ops, func(x, y *RepeatedOp) int { return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Name, y.Name)) })
	return out
}

// opKey is what calls of one operator share: its name, and its inputs as far as a trace tells.
type opKey struct{ name, shapes, concrete model.Str }

// collect adds the rows of one step's outermost operators. Between two turns no pass goes backward: weights may change then. passes are the
// times at which the step's passes call a node.
func (r *RepeatedOps) collect(byKey map[string]*RepeatedOp, ids []model.EventID, passes []model.Time) {
	step := len(r.steps) - 1
	ev := &r.steps[step].Trace.Events
	at := map[opKey][]int{}
	var keys []opKey
	for i, id := range ids {
		args := ev.OpArgsOf(ev.Detail[id])
		if args.Shapes == 0 {
			continue
		}
		key := opKey{ev.Name[id], args.Shapes, args.Concrete}
		if r.anyValues {
			key.concrete = 0
		}
		if len(at[key]) == 0 {
			keys = append(keys, key)
		}
		at[key] = append(at[key], i)
	}
	begins := func(x model.Time, id model.EventID) int { return cmp.Compare(x, ev.Start[id]) }
	backward := func(i, j int) bool { // a pass lies between both
		before, _ := slices.BinarySearchFunc(passes, ids[i], begins)
		after, _ := slices.BinarySearchFunc(passes, ids[j], begins)
		return after > before
	}
	same := func(i, j, n int) bool { // the same names in both rows
		for k := range n {
			if ev.Name[ids[i+k]] != ev.Name[ids[j+k]] {
				return false
			}
		}
		return true
	}
	for _, key := range keys {
		places := at[key]
		for from := 0; from+fewestTurns <= len(places); {
			calls, inOne := rowOf(places, from, same, backward)
			if calls == 0 {
				from++
				continue
			}
			first, turns := places[from], calls/inOne
			row := make([]string, places[from+inOne]-first)
			for k := range row {
				row[k] = r.s.Strings.Text(ev.Name[ids[first+k]])
			}
			text := strings.Join(row, " ")
			op := byKey[text]
			if op == nil {
				op = &RepeatedOp{Name: row[0], Row: row, Shapes: r.s.Strings.Text(key.shapes)}
				byKey[text] = op
				r.Ops = append(r.Ops, op)
			}
			again := float64(turns-1) / float64(turns)
			for _, place := range places[from : from+calls] {
				id := ids[place]
				op.calls = append(op.calls, repeatedCall{step, id, again})
				op.Spans = append(op.Spans, times.Interval{Start: ev.Start[id], End: ev.End(id)})
				op.Time += again * float64(ev.Dur[id])
			}
			op.Turns, from = max(op.Turns, turns), from+calls
		}
	}
}

// rowOf is how many calls from one on come in turns, and how many of them one turn makes; 0 where they come in none.
func rowOf(places []int, from int, same func(i, j, n int) bool, backward func(i, j int) bool) (calls, inOne int) {
	for inOne = 1; inOne <= mostInOne && from+inOne < len(places); inOne++ {
		length := places[from+inOne] - places[from]
		if length > longestRow {
			break
		}
		end := from + inOne // the first call that is known to be in the row with the one a turn before it
		for end < len(places) && places[end]-places[end-inOne] == length {
			before := places[end-inOne]
			if backward(before, places[end]) || end >= from+2*inOne && !same(before-length, before, length) {
				break
			}
			end++
		}
		if calls = (end - from) / inOne * inOne; calls/inOne >= fewestTurns {
			return calls, inOne
		}
	}
	return 0, 0
}

// RepeatedCost is what traced steps spend on operators that are called in turns, in all turns but one.
type RepeatedCost struct {
	Time, All           float64 // ns of the driving thread's outermost operators: of these with their backward passes there, and of all
	Kernels, AllKernels float64 // ns of kernels that these and their backward passes launch, and of all
}

// Cost adds up some of the operators.
func (r *RepeatedOps) Cost(of []*RepeatedOp) (out RepeatedCost) {
	again := make([]map[model.EventID]float64, len(r.steps))
	for i := range again {
		again[i] = map[model.EventID]float64{}
	}
	for _, op := range of {
		for _, call := range op.calls {
			again[call.step][call.id] = call.again
		}
	}
	classes := naming.NewKernelClasses(r.s.Strings)
	for i := range r.steps {
		r.addStep(&r.steps[i], again[i], classes, &out)
	}
	return out
}

// markedOp is an operator or a pass of which a part need not run.
type markedOp struct {
	lane  model.LaneID
	id    model.EventID
	again float64
}

// addStep adds one step's. The operator whose backward pass has a number is the last one that carries it: others only saw the counter
// there.
func (r *RepeatedOps) addStep(st *TracedStep, again map[model.EventID]float64, classes *naming.KernelClasses, out *RepeatedCost) {
	var marked []markedOp
	owner, outermost := map[int64]model.EventID{}, model.NoEvent
	st.EachOp(r.b.Thread, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			outermost = id
			out.All += float64(ev.Dur[id])
			if part := again[id]; part > 0 {
				out.Time += part * float64(ev.Dur[id])
				marked = append(marked, markedOp{ev.Lane[id], id, part})
			}
		}
		if number, _ := sequenceOf(ev, id); number >= 0 && !naming.IsBackward(r.s.Strings.Text(ev.Name[outermost])) {
			owner[number] = outermost
		}
	})
	driving := laneOf(st.Trace, r.b.Thread)
	st.EachPass(r.s.Strings, func(ev *model.Events, id model.EventID) {
		number, _ := sequenceOf(ev, id)
		of, known := owner[number]
		if part := again[of]; known && number >= 0 && part > 0 {
			if ev.Lane[id] == driving {
				out.Time += part * float64(ev.Dur[id])
			}
			marked = append(marked, markedOp{ev.Lane[id], id, part})
		}
	})
	ev := &st.Trace.Events
	before := func(x markedOp, lane model.LaneID, at model.Time) int {
		return cmp.Or(cmp.Compare(x.lane, lane), cmp.Compare(ev.Start[x.id], at))
	}
	slices.SortFunc(marked, func(x, y markedOp) int { return before(x, y.lane, ev.Start[y.id]) })
	st.EachKernel(classes, func(ev *model.Events, id, call model.EventID) {
		out.AllKernels += float64(ev.Dur[id])
		i, found := slices.BinarySearchFunc(marked, call, func(x markedOp, call model.EventID) int {
			return before(x, ev.Lane[call], ev.Start[call])
		})
		if !found {
			i--
		}
		if i >= 0 && marked[i].lane == ev.Lane[call] && ev.Start[call] < ev.End(marked[i].id) {
			out.Kernels += marked[i].again * float64(ev.Dur[id])
		}
	})
}
