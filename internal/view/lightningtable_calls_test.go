package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"strings"
	"testing"
)

// actionSession is a process with two actions, one of which was counted in part.
func actionSession() *model.Session {
	p := &model.Process{Rank: model.NoRank, Start: 1e9, End: 5e9, Counters: map[string]float64{
		"action_count:fit": 1, "action_ns:fit": 4e9, "action_undistorted_count:fit": 0, "action_undistorted_ns:fit": 0,
		"action_count:step": 10, "action_ns:step": 3e9, "action_undistorted_count:step": 8, "action_undistorted_ns:step": 1.6e9,
	}}
	return &model.Session{Strings: &model.Strings{}, Processes: []*model.Process{p}, Calls: []*model.Calls{{Actions: []model.ActionCalls{
		{Name: "step", Measured: 4, Functions: []model.CallFunction{
			{File: "/a/b.py", Line: 3, Name: "short", Primitive: 8, Calls: 8, Own: 5e8, Cumulative: 5e8},
			{File: "/a/b.py", Line: 1, Name: "long", Primitive: 0, Calls: 4, Own: 1e8, Cumulative: 6e8},
		}},
		{Name: "fit", Measured: 1, Functions: []model.CallFunction{
			{File: "~", Name: "<built-in method sum>", Primitive: 1, Calls: 1, Own: 1e9, Cumulative: 1e9},
		}},
	}}}}
}

// TestLightningFunctions checks the form of AdvancedProfiler, and that what is a part is said to be one.
func TestLightningFunctions(t *testing.T) {
	s := actionSession()
	sections, err := LightningFunctions(s, 0, CallsTableOptions{})
	if err != nil || len(sections) != 2 {
		t.Fatalf("%+v, %v", sections, err)
	}
	var out strings.Builder
	if err := LightningSections(&out, "fit", 0, sections); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"FIT Profiler Report\nProfile stats for: step rank: 0\n         of 4 of 10 calls\n         12 function calls (8 primitive calls) " +
			"in 0.600 seconds\n",
		"Ordered by: cumulative time\n",
		"ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n      4/0    0.100    0.025    0.600          " +
			"b.py:1(long)\n        8    0.500    0.062    0.500    0.062 b.py:3(short)\n",
		"Profile stats for: fit rank: 0\n         1 function calls in 1.000 seconds\n",
		"{built-in method sum}",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if one, err := LightningFunctions(s, 0, CallsTableOptions{SortBy: "ncalls", RowLimit: 1}); err != nil ||
		strings.Contains(one[0].Text, "long") || !strings.Contains(one[0].Text, "short") {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := LightningFunctions(s, 0, CallsTableOptions{SortBy: "self_cpu_time_total"}); err == nil {
		t.Error("operators' key sorts functions")
	}
}

// TestActionsFromUndistortedCalls checks the sums, the rows of the document and the notes of both texts.
func TestActionsFromUndistortedCalls(t *testing.T) {
	s := actionSession()
	actions, _ := report.LightningActions(s.Processes[0], s.Strings)
	var note strings.Builder
	if err := LightningNote(&note, actions); err != nil || note.String() !=
		"Means are of the 8 of 11 calls outside of the profiler's windows, totals are means times all calls; no call lay outside, and all "+
			"count, for: fit.\n" {
		t.Errorf("%q, %v", note.String(), err)
	}
	b := &report.Builder{S: s, R: &report.Report{}}
	b.Actions()
	if len(b.R.Actions) != 2 {
		t.Fatalf("%+v", b.R.Actions)
	}
	fit, step := b.R.Actions[0], b.R.Actions[1]
	if fit.TotalS != 4 || *fit.Undistorted != 0 || step.TotalS != 2 || step.MeanMs != 200 || *step.Undistorted != 8 {
		t.Errorf("%+v", b.R.Actions)
	}
	if step.FunctionsOf != 4 || len(step.Functions) != 2 || step.Functions[0].Function != "long" || fit.FunctionsOf != 1 {
		t.Errorf("%+v", b.R.Actions)
	}
	p := newPrinter(b.R, TextOptions{})
	p.actions()
	if text := p.out.String(); strings.Count(text, "*") != 2 || !strings.Contains(text, "* every call met the profiler") {
		t.Errorf("%s", text)
	}
	none := []report.LightningAction{{Name: "a", Count: 2, Total: 1, Undistorted: 2}, {Name: "b", Count: 2, Total: 1, Undistorted: -1}}
	note.Reset()
	if err := LightningNote(&note, none); err != nil || note.Len() != 0 {
		t.Errorf("%q, %v", note.String(), err)
	}
}
