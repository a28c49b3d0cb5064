package page

import (
	"bottleneck/internal/model"
	"testing"
)

// TestCategoryChart follows memory through its categories: what was there before, what becomes something else, what is freed.
func TestCategoryChart(t *testing.T) {
	const parameter, temporary, gradient = 0, 3, 5
	trace := &model.Trace{Rank: model.NoRank, MemoryTimelines: []model.MemoryTimeline{{Device: "cuda:0", Actions: []model.MemoryAction{
		{Time: -1, Action: 1, Category: parameter, Bytes: 1000},
		{Time: 1_000_000, Action: 2, Category: temporary, Bytes: 300},
		{Time: 2_000_000, Action: 3, Category: temporary, Bytes: -300}, {Time: 2_000_000, Action: 3, Category: gradient, Bytes: 300},
		{Time: 3_000_000, Action: 4, Category: gradient, Bytes: -300},
	}}}}
	charts := categoryCharts(&model.Session{Traces: []*model.Trace{trace}})
	if len(charts) != 1 || charts[0].Kind != chartStack {
		t.Fatalf("%+v", charts)
	}
	want := map[string][]float64{"parameters": {1000, 1000, 1000, 1000}, "temporaries": {0, 300, 0, 0}, "gradients": {0, 0, 300, 0}}
	for _, s := range charts[0].Series {
		for i, v := range s.Y {
			if w := want[s.Name]; len(w) != len(s.Y) || *v != w[i] {
				t.Errorf("%s is %g at value %d, want %v", s.Name, *v, i, w)
			}
		}
		delete(want, s.Name)
	}
	if len(want) > 0 || charts[0].Series[0].X[3] != 2000 {
		t.Errorf("no series for %v; values at %v µs", want, charts[0].Series[0].X)
	}
}
