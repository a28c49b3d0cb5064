package page

import (
	"bottleneck/internal/model"
	"math"
	"testing"
)

// TestCallTreeCloses unfolds a real profile of many recursive functions: the tree closes, and is as wide as the profile.
func TestCallTreeCloses(t *testing.T) {
	for _, name := range []string{"amazon_review_train.prof", "dtu_profile_stats_windows.prof"} {
		s := open(t, "../../../shared/traces/pstats/"+name, "")
		f := flamesOf(s)["calls"]()
		f.check(t)
		if all := float64(s.Calls[0].Total()) / 1e3; math.Abs(f.Total[0]-all) > 0.02*all || len(f.Frame) < 100 {
			t.Errorf("%s: the tree of %d boxes is %g µs wide, the profile %g", name, len(f.Frame), f.Total[0], all)
		}
	}
}

// TestCallTreeShares asks that a function's time is shared among its callers by what each contributed, at every depth.
func TestCallTreeShares(t *testing.T) {
	edge := func(caller int32, ns model.Dur) model.CallEdge {
		return model.CallEdge{Caller: caller, Calls: 1, Primitive: 1, Cumulative: ns}
	}
	calls := &model.Calls{Input: -1, Process: -1, Functions: []model.CallFunction{
		{Name: "main", Cumulative: 100_000, Own: 10_000},
		{Name: "a", Cumulative: 60_000, Own: 20_000, Callers: []model.CallEdge{edge(0, 60_000)}},
		{Name: "b", Cumulative: 30_000, Own: 20_000, Callers: []model.CallEdge{edge(0, 30_000)}},
		{Name: "help", Cumulative: 50_000, Own: 40_000, Callers: []model.CallEdge{edge(1, 40_000), edge(2, 10_000)}},
		{Name: "read", Cumulative: 10_000, Own: 10_000, Callers: []model.CallEdge{edge(3, 10_000)}},
	}}
	f := flamesOf(&model.Session{Calls: []*model.Calls{calls}})["calls"]()
	f.check(t)
	want := map[string]float64{"main": 100, "main a": 60, "main b": 30, "main a help": 40, "main b help": 10, "main a help read": 8,
		"main b help read": 2, "": 100}
	for i := range f.Frame {
		path := ""
		for k := i; f.Parent[k] >= 0; k = f.Parent[k] {
			path = f.Names[f.Frame[k]] + " " + path
		}
		path = path[:max(len(path)-1, 0)]
		if math.Abs(f.Total[i]-want[path]) > 1e-6 {
			t.Errorf("%q is %g µs wide, want %g", path, f.Total[i], want[path])
		}
		delete(want, path)
	}
	if len(want) > 0 {
		t.Errorf("no box for %v", want)
	}
}
