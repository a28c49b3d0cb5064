package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"math"
	"testing"
)

// TestActionRows checks own times of nested spans, apart by thread, and that the agent's exact sums win.
func TestActionRows(t *testing.T) {
	strs := &model.Strings{}
	span := func(kind model.SpanKind, name string, thread int, start, end model.Time) model.Span {
		return model.Span{Kind: kind, Name: strs.Intern(name), Thread: thread, Start: start * 1e9, End: end * 1e9, Loader: -1}
	}
	p := &model.Process{Rank: model.NoRank, Spans: []model.Span{
		span(model.SpanRegion, "inner", 1, 2, 4),
		span(model.SpanAction, "outer", 1, 0, 10),
		span(model.SpanRegion, "inner", 1, 5, 6),
		span(model.SpanRegion, "inner", 2, 1, 9),
		span(model.SpanGC, "gc", 1, 0, 10),
	}, Counters: map[string]float64{"action_count:outer": 3, "action_ns:outer": 12e9, "action_count:short": 7, "action_ns:short": 1e6}}
	want := []report.ActionRow{
		{Name: "outer", Count: 3, TotalS: 12, SelfS: 7 * 1.2, MeanMs: 4000},
		{Name: "inner", Count: 3, TotalS: 11, SelfS: 11, MeanMs: 11e3 / 3},
		{Name: "short", Count: 7, TotalS: 0.001, SelfS: 0.001, MeanMs: 1. / 7},
	}
	got := report.ActionRows(p, strs)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9*max(1, y) }
	for i, g := range got {
		w := want[i]
		if g.Name != w.Name || g.Count != w.Count || !near(g.TotalS, w.TotalS) || !near(g.SelfS, w.SelfS) || !near(g.MeanMs, w.MeanMs) {
			t.Errorf("%+v\nwant %+v", g, w)
		}
	}
}
