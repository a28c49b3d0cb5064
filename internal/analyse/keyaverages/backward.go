package keyaverages

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// BackwardPair is an operator of the forward pass and the operator of the backward pass that works out its gradient.
type BackwardPair struct{ Forward, Backward model.EventID }

// laneSequence is where autograd counted: each thread has its own sequence numbers.
type laneSequence struct {
	lane   model.LaneID
	number int64
}

// BackwardPairs are the pairs that torch's own arrows join: of the operators that show a sequence number on a thread, the last that began
// before the backward function which names both is the one that made its node; a node is run once. In order of the backward operators.
func BackwardPairs(t *model.Trace, s *model.Strings) []BackwardPair {
	ev := &t.Events
	ids := sequenced(t, s)
	lanes := forwardLanes(ev, ids)
	made := map[laneSequence]model.EventID{}
	var out []BackwardPair
	for _, id := range ids {
		d := &ev.OpDetails[ev.Detail[id]]
		if d.FwdThread == 0 {
			made[laneSequence{ev.Lane[id], d.Sequence}] = id
			continue
		}
		lane, known := lanes[d.FwdThread]
		if forward, ok := made[laneSequence{lane, d.Sequence}]; known && ok {
			out = append(out, BackwardPair{forward, id})
			delete(made, laneSequence{lane, d.Sequence})
		}
	}
	return out
}

// sequenced are the operators with a sequence number in order of start, without the engine's records, which stand around the backward
// functions and repeat their numbers.
func sequenced(t *model.Trace, s *model.Strings) []model.EventID {
	ev := &t.Events
	ofEngine := map[model.Str]bool{}
	var ids []model.EventID
	for i, kind := range ev.Kind {
		if kind != model.KindOp || ev.Detail[i] < 0 || ev.OpDetails[ev.Detail[i]].Sequence < 0 {
			continue
		}
		is, known := ofEngine[ev.Name[i]]
		if !known {
			is = strings.HasPrefix(s.Text(ev.Name[i]), evaluateFunction)
			ofEngine[ev.Name[i]] = is
		}
		if !is {
			ids = append(ids, model.EventID(i))
		}
	}
	slices.SortStableFunc(ids, func(a, b model.EventID) int { return cmp.Compare(ev.Start[a], ev.Start[b]) })
	return ids
}

// forwardLanes finds the lane of each number by which torch calls a thread of the forward pass: the one that shows most of the sequence
// numbers of the backward functions that name it, before they run.
func forwardLanes(ev *model.Events, ids []model.EventID) map[int32]model.LaneID {
	type vote struct {
		thread int32
		lane   model.LaneID
	}
	seen := map[int64][]model.LaneID{}
	votes, lanes := map[vote]int{}, map[int32]model.LaneID{}
	for _, id := range ids {
		d := &ev.OpDetails[ev.Detail[id]]
		if d.FwdThread == 0 {
			if lane := ev.Lane[id]; !slices.Contains(seen[d.Sequence], lane) {
				seen[d.Sequence] = append(seen[d.Sequence], lane)
			}
			continue
		}
		for _, lane := range seen[d.Sequence] {
			v := vote{d.FwdThread, lane}
			votes[v]++
			if best, ok := lanes[d.FwdThread]; !ok || votes[v] > votes[vote{d.FwdThread, best}] {
				lanes[d.FwdThread] = lane
			}
		}
	}
	return lanes
}
