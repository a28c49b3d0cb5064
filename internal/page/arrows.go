package page

import (
	"slices"

	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
)

// Arrow links a box of a tile with another event.
type Arrow struct {
	Box     int     `json:"box"`
	To      string  `json:"to"` // what the other event is to the box: its launch, work (on the device), forward, backward
	Lane    int     `json:"lane"`
	Row     int     `json:"row"`
	StartUs float64 `json:"start_us"`
	Us      float64 `json:"us"`
}

// What an arrow leads to.
const (
	toLaunch   = "launch"
	toWork     = "work"
	toForward  = "forward"
	toBackward = "backward"
)

// pairOf is the other half of an operator's pass and which half that is.
type pairOf struct {
	event model.EventID
	to    string
}

// passes finds each operator's other half, forward or backward.
func (t *timeline) passes() map[eventKey]pairOf {
	out := map[eventKey]pairOf{}
	for _, trace := range t.s.Traces {
		for _, p := range keyaverages.BackwardPairs(trace, t.s.Strings) {
			out[eventKey{trace, p.Forward}] = pairOf{p.Backward, toBackward}
			out[eventKey{trace, p.Backward}] = pairOf{p.Forward, toForward}
		}
	}
	return out
}

// arrows adds the links of an event that is a box of its own.
func (c *cutter) arrows(number, at int, id model.EventID) {
	trace := c.t.lanes[number].trace
	if trace == nil || id == model.NoEvent {
		return
	}
	ev := &trace.Events
	if other := ev.Link[id]; other >= 0 && int(other) < ev.Len() {
		to := toLaunch
		if ev.Kind[id] == model.KindRuntime {
			to = toWork
		}
		c.arrow(at, to, trace, other)
	}
	if pair, ok := c.t.pairs()[eventKey{trace, id}]; ok {
		c.arrow(at, pair.to, trace, pair.event)
	}
}

func (c *cutter) arrow(at int, to string, trace *model.Trace, other model.EventID) {
	if spot, ok := c.t.spot(trace, other); ok {
		c.out.Arrows = append(c.out.Arrows, Arrow{at, to, spot.Lane, spot.Row, spot.StartUs, spot.Us})
	}
}

// spot is where an event of a trace stands; its name is left out.
func (t *timeline) spot(trace *model.Trace, id model.EventID) (Spot, bool) {
	ev := &trace.Events
	i, ok := t.index[laneKey{trace, ev.Lane[id]}]
	if !ok {
		return Spot{}, false
	}
	for row, ids := range t.lanes[i].events {
		if _, is := slices.BinarySearch(ids, id); is {
			return Spot{Lane: t.lanes[i].shown, Row: row, StartUs: t.us(ev.Start[id]), Us: float64(ev.Dur[id]) / 1e3}, true
		}
	}
	return Spot{}, false
}

// Shared are the collective calls that all ranks hold, as the timeline draws them: a row for each rank of each call.
type Shared struct {
	Call  []int     `json:"call"` // number of the call: rows of one call follow each other
	Lane  []int     `json:"lane"`
	Row   []int     `json:"row"`
	Start []float64 `json:"start_us"`
	Us    []float64 `json:"us"`
	Wait  []float64 `json:"wait_us"` // of it, until the last rank begins the call
}

// maxShared bounds the rows: of more calls the first are drawn.
const maxShared = 50_000

// sharedCalls makes the rows; nil where ranks share no call.
func (t *timeline) sharedCalls() *Shared {
	out := &Shared{Call: []int{}, Lane: []int{}, Row: []int{}, Start: []float64{}, Us: []float64{}, Wait: []float64{}}
	for number, call := range collectives.SharedCalls(t.s) {
		if len(out.Call)+len(call.Events) > maxShared {
			break
		}
		for i, id := range call.Events {
			spot, ok := t.spot(call.Traces[i], id)
			if !ok {
				continue
			}
			out.Call, out.Lane, out.Row = append(out.Call, number), append(out.Lane, spot.Lane), append(out.Row, spot.Row)
			out.Start, out.Us, out.Wait = append(out.Start, spot.StartUs), append(out.Us, spot.Us),
				append(out.Wait, float64(call.Waits[i])/1e3)
		}
	}
	if len(out.Call) == 0 {
		return nil
	}
	return out
}
