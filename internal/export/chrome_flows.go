package export

import (
	"strconv"

	"bottleneck/internal/model"
)

// flows writes the arrows of one trace: launch → device work ("ac2g") and forward → backward ("fwdbwd").
type flows struct {
	offset   int64  // keeps the ids of several traces apart
	launched []bool // runtime rows that a device row names as its launch
	// backward gives each backward operator's forward operator; forward says which operators have such a follower.
	backward map[model.EventID]model.EventID
	forward  map[model.EventID]int64
}

// newFlows pairs forward with backward operators: of those with one sequence number, the forward operator that started
// last, and the first backward operator (the one that names its forward thread), as torch pairs them.
func newFlows(n int, t *model.Trace) *flows {
	f := &flows{
		offset: int64(n) << 40, launched: make([]bool, t.Events.Len()),
		backward: map[model.EventID]model.EventID{}, forward: map[model.EventID]int64{},
	}
	e := &t.Events
	forward, backward := map[int64]model.EventID{}, map[int64]model.EventID{}
	earlier := func(a, b model.EventID) bool { return e.Start[a] < e.Start[b] }
	for i := range e.Kind {
		id := model.EventID(i)
		if link := e.Link[i]; link != model.NoEvent && ends(e, id) {
			f.launched[link] = true
		}
		if e.Kind[i] != model.KindOp || e.Detail[i] < 0 {
			continue
		}
		d := &e.OpDetails[e.Detail[i]]
		if d.Sequence < 0 {
			continue
		}
		if d.FwdThread == 0 {
			if old, ok := forward[d.Sequence]; !ok || earlier(old, id) {
				forward[d.Sequence] = id
			}
		} else if old, ok := backward[d.Sequence]; !ok || earlier(id, old) {
			backward[d.Sequence] = id
		}
	}
	for seq, b := range backward {
		if a, ok := forward[seq]; ok {
			f.backward[b], f.forward[a] = a, seq
		}
	}
	return f
}

// write writes the flow rows that belong to an event, directly after it.
func (f *flows) write(c *chromeWriter, t *model.Trace, id model.EventID) {
	e := &t.Events
	switch k := e.Kind[id]; {
	case k == model.KindOp:
		if seq, ok := f.forward[id]; ok {
			f.row(c, t, id, "s", "fwdbwd", seq)
		} else if a, ok := f.backward[id]; ok {
			f.row(c, t, id, "f", "fwdbwd", f.forward[a])
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
