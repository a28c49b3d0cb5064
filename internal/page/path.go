package page

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
)

// Critical is the critical path of one step as the timeline draws it: each span begins when the one before it ended, because of it.
type Critical struct {
	Kinds []string  `json:"kinds"`
	Lane  []int     `json:"lane"`
	Row   []int     `json:"row"`
	Start []float64 `json:"start_us"`
	Us    []float64 `json:"us"`
	Kind  []int     `json:"kind"` // row of Kinds
	// TotalUs is the length of all spans, also of those that are too many to be drawn.
	TotalUs float64 `json:"total_us"`
}

// maxPath bounds the spans that are drawn: of longer paths the first are.
const maxPath = 50_000

// critical makes the path; nil where there is none.
func (t *timeline) critical() *Critical {
	c := report.CriticalOf(t.s.Traces, t.s.Strings)
	if c == nil || len(c.Spans) == 0 {
		return nil
	}
	rows := t.rowsOf(c.Spans)
	out := &Critical{Kinds: []string{}, Lane: []int{}, Row: []int{}, Start: []float64{}, Us: []float64{}, Kind: []int{}}
	kinds := map[string]int{}
	for _, sp := range c.Spans {
		out.TotalUs += float64(sp.Dur) / 1e3
		lane, known := t.index[laneKey{sp.Trace, sp.Lane}]
		if !known || sp.Dur <= 0 || len(out.Lane) == maxPath {
			continue
		}
		kind, known := kinds[sp.Kind.String()]
		if !known {
			kind = len(out.Kinds)
			kinds[sp.Kind.String()] = kind
			out.Kinds = append(out.Kinds, sp.Kind.String())
		}
		out.Lane, out.Kind = append(out.Lane, t.lanes[lane].shown), append(out.Kind, kind)
		out.Row = append(out.Row, rows[eventKey{sp.Trace, sp.Event}])
		out.Start, out.Us = append(out.Start, t.us(sp.Start)), append(out.Us, float64(sp.Dur)/1e3)
	}
	return out
}

type eventKey struct {
	trace *model.Trace
	event model.EventID
}

// rowsOf finds in which row of its lane each event of the path stands; gaps stand in the first.
func (t *timeline) rowsOf(spans []report.PathSpan) map[eventKey]int {
	rows := map[eventKey]int{}
	for _, sp := range spans {
		if sp.Event != model.NoEvent {
			rows[eventKey{sp.Trace, sp.Event}] = 0
		}
	}
	for i := range t.lanes {
		l := &t.lanes[i]
		if l.trace == nil {
			continue
		}
		for row, events := range l.events {
			for _, id := range events {
				if _, wanted := rows[eventKey{l.trace, id}]; wanted {
					rows[eventKey{l.trace, id}] = row
				}
			}
		}
	}
	return rows
}
