package export

import (
	"strconv"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/model"
)

// flows writes the arrows of one trace: launch → device work ("ac2g") and forward → backward ("fwdbwd").
type flows struct {
	offset   int64  // keeps the ids of several traces apart
	launched []bool // runtime rows that a device row names as its launch
	// forward and backward number the pairs of operators.
	forward, backward map[model.EventID]int64
}

// newFlows pairs launches with their work, and forward with backward operators.
func newFlows(n int, t *model.Trace, s *model.Strings) *flows {
	f := &flows{
		offset: int64(n) << 40, launched: make([]bool, t.Events.Len()),
		backward: map[model.EventID]int64{}, forward: map[model.EventID]int64{},
	}
	e := &t.Events
	for i := range e.Kind {
		if link := e.Link[i]; link != model.NoEvent && ends(e, model.EventID(i)) {
			f.launched[link] = true
		}
	}
	for i, pair := range keyaverages.BackwardPairs(t, s) {
		f.forward[pair.Forward], f.backward[pair.Backward] = int64(i+1), int64(i+1)
	}
	return f
}

// write writes the flow rows that belong to an event, directly after it.
func (f *flows) write(c *chromeWriter, t *model.Trace, id model.EventID) {
	e := &t.Events
	switch k := e.Kind[id]; {
	case k == model.KindOp:
		if pair, ok := f.forward[id]; ok {
			f.row(c, t, id, "s", "fwdbwd", pair)
		} else if pair, ok := f.backward[id]; ok {
			f.row(c, t, id, "f", "fwdbwd", pair)
		}
	case k == model.KindRuntime && f.launched[id] && e.Detail[id] >= 0:
		f.row(c, t, id, "s", "ac2g", e.RuntimeDetails[e.Detail[id]].Correlation)
	case ends(e, id) && e.Link[id] != model.NoEvent:
		f.row(c, t, id, "f", "ac2g", e.DeviceDetails[e.Detail[id]].Correlation)
	}
}

// ends says whether a row is one at which an arrow from its launch ends.
func ends(e *model.Events, id model.EventID) bool {
	k := e.Kind[id]
	return (k.Device() || k == model.KindSync) && e.Detail[id] >= 0
}

func (f *flows) row(c *chromeWriter, t *model.Trace, id model.EventID, phase, cat string, flow int64) {
	e := &t.Events
	b := c.begin(phase)
	b = append(b, `, "cat": "`...)
	b = append(append(b, cat...), `", "name": "`...)
	b = append(append(b, cat...), `", "id": `...)
	b = strconv.AppendInt(b, flow+f.offset, 10)
	b = c.appendRow(b, int(f.offset>>40), &t.Lanes[e.Lane[id]])
	b = append(b, `, "ts": `...)
	b = appendMicros(b, int64(e.Start[id]-c.base))
	if phase == "f" {
		b = append(b, `, "bp": "e"`...)
	}
	c.event(append(b, '}'))
}
