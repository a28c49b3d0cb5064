package tables

import (
	"testing"

	"bottleneck/internal/model"
)

func TestCounters(t *testing.T) {
	s := &model.Strings{}
	name, key := s.Intern("GPU"), s.Intern("busy")
	tr := &model.Trace{}
	for _, c := range []struct {
		at    model.Time
		value float64
	}{{30, 1}, {0, 0}, {10, 4}} { // 0 for 10, 4 for 20, then 1
		tr.Counters = append(tr.Counters, model.CounterEvent{Time: c.at, Name: name, Key: key, Value: c.value})
	}
	rows := counterRows(tr, s)
	if len(rows) != 1 || rows[0][0].Text != "GPU, busy" {
		t.Fatalf("%+v", rows)
	}
	for i, want := range []float64{3, 0, 80.0 / 30, 4, 1} {
		if got := rows[0][i+2].Number; got != want {
			t.Errorf("%s: %v, want %v", counterValues.Columns[i+2].Name, got, want)
		}
	}
}

// Own times of nested events of other tools add up to the time of the outermost.
func TestOtherEvents(t *testing.T) {
	s := &model.Strings{}
	outer, inner := s.Intern("outer"), s.Intern("inner")
	tr := &model.Trace{Lanes: []model.Lane{{EndEvent: 3}}, Events: model.Events{Start: []model.Time{0, 10, 50},
		Dur: []model.Dur{100, 30, 20}, Name: []model.Str{outer, inner, inner}, Kind: make([]model.Kind, 3), Lane: make([]model.LaneID, 3),
		Parent: []model.EventID{model.NoEvent, 0, 0}}}
	rows := otherRows(tr, s)
	if len(rows) != 2 {
		t.Fatalf("%+v", rows)
	}
	own := 0.0
	for _, row := range rows {
		own += row[3].Number
	}
	if own != 100 || rows[0][3].Number != 50 || rows[1][1].Number != 1 && rows[1][1].Number != 2 {
		t.Errorf("own times sum to %v: %+v", own, rows)
	}
}
