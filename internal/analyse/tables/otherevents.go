package tables

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// otherEvents are events of categories that PyTorch's profiler does not write: what other tools wrote into the file. Own time
// is that without the events of these categories that lie within on the same thread.
var otherEvents = Analysis{
	Name: "events", Title: "Events of other tools", Aside: "events that are no operator, call or device work of PyTorch's profiler",
	Needs: "events of other tools",
	Columns: []Column{{"event", UnitText}, {"count", UnitCount}, {"total", UnitTime}, {"own", UnitTime}, {"mean", UnitTime},
		{"longest", UnitTime}, {"threads", UnitCount}},
	Rows: otherRows,
}

// maxOtherNames bounds the table: a tool may put a number into every name.
const maxOtherNames = 10_000

// otherEvent sums one name.
type otherEvent struct {
	name           model.Str
	count, threads int
	total, own     model.Dur
	longest        model.Dur
	lane           model.LaneID // the last that was counted
}

func otherRows(t *model.Trace, s *model.Strings) [][]Cell {
	ev := &t.Events
	index := map[model.Str]*otherEvent{}
	var list []*otherEvent
	for i := range ev.Len() {
		if ev.Kind[i] != model.KindOther {
			continue
		}
		name := ev.Name[i]
		e := index[name]
		if e == nil {
			if strings.HasPrefix(s.Text(name), "PyTorch Profiler (") { // Kineto's own event around all others
				continue
			}
			if len(list) >= maxOtherNames {
				continue
			}
			e = &otherEvent{name: name, lane: model.NoLane}
			index[name] = e
			list = append(list, e)
		}
		if e.lane != ev.Lane[i] {
			e.lane = ev.Lane[i]
			e.threads++
		}
		e.count++
		e.total += ev.Dur[i]
		e.own += ev.Dur[i]
		e.longest = max(e.longest, ev.Dur[i])
		if p := ev.Parent[i]; p != model.NoEvent && ev.Kind[p] == model.KindOther {
			if parent := index[ev.Name[p]]; parent != nil {
				parent.own -= min(ev.Dur[i], ev.Dur[p])
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *otherEvent) int {
		return cmp.Or(cmp.Compare(b.own, a.own), cmp.Compare(b.total, a.total), strings.Compare(s.Text(a.name), s.Text(b.name)))
	})
	rows := make([][]Cell, 0, len(list))
	for _, e := range list {
		rows = append(rows, []Cell{textCell(s.Text(e.name)), numberCell(e.count), numberCell(e.total), numberCell(max(e.own, 0)),
			numberCell(e.total / model.Dur(e.count)), numberCell(e.longest), numberCell(e.threads)})
	}
	return rows
}
