package tables

import (
	"testing"

	"bottleneck/internal/model"
)

// TestModuleTimes sums a step whose times are known: Net (1000 µs) calls Net.a (300 µs) and, twice, Net.b (100 µs each); the
// engine runs 50 µs for Net.a, 20 µs of kernels came from its forward and 30 µs from its backward operators.
func TestModuleTimes(t *testing.T) {
	s := &model.Strings{}
	const us = 1000
	tr := &model.Trace{Lanes: []model.Lane{{Kind: model.LaneThread}, {Kind: model.LaneStream}}}
	m := &model.Modules{}
	for _, n := range [][2]string{{"Net", "Net"}, {"Net.a", "Linear"}, {"Net.b", "ReLU"}} {
		m.Names = append(m.Names, model.ModuleName{Path: s.Intern(n[0]), Class: s.Intern(n[1])})
	}
	m.Calls = []model.ModuleCall{{Module: 0, Start: 0, Dur: 1000 * us, Parent: -1}, {Module: 1, Start: 100 * us, Dur: 300 * us, Parent: 0},
		{Module: 2, Start: 500 * us, Dur: 100 * us, Parent: 0}, {Module: 2, Start: 700 * us, Dur: 100 * us, Parent: 0}}
	add := func(kind model.Kind, dur model.Dur, of int32, backward bool, parent model.EventID) {
		e := &tr.Events
		e.Kind, e.Dur, e.Parent, e.Start = append(e.Kind, kind), append(e.Dur, dur*us), append(e.Parent, parent), append(e.Start, 0)
		m.Of, m.Backward = append(m.Of, of), append(m.Backward, backward)
	}
	add(model.KindOp, 50, 1, true, model.NoEvent)
	add(model.KindOp, 40, 1, true, 0) // within the node
	add(model.KindOp, 200, 1, false, model.NoEvent)
	add(model.KindOp, 70, model.NoModule, false, model.NoEvent)
	add(model.KindOp, 60, model.NoModule, false, 3) // within another
	add(model.KindKernel, 20, 1, false, model.NoEvent)
	add(model.KindKernel, 30, 1, true, model.NoEvent)
	add(model.KindMemcpy, 5, model.NoModule, false, model.NoEvent)
	tr.Modules = m
	want := []ModuleTime{
		{Path: "Net", Class: "Net", Calls: 1, SelfCPU: 500 * us, CPU: 1050 * us, BackwardCPU: 50 * us, Device: 50 * us,
			BackwardDevice: 30 * us},
		{Path: "Net.a", Class: "Linear", Calls: 1, SelfCPU: 350 * us, CPU: 350 * us, BackwardCPU: 50 * us, SelfDevice: 50 * us,
			Device: 50 * us, BackwardDevice: 30 * us},
		{Path: "Net.b", Class: "ReLU", Calls: 2, SelfCPU: 200 * us, CPU: 200 * us},
		{Path: noModule, SelfCPU: 70 * us, CPU: 70 * us, SelfDevice: 5 * us, Device: 5 * us},
	}
	got := ModuleTimes([]*model.Trace{tr}, s)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range got {
		got[i].selfBackward, got[i].selfDevBwd = 0, 0
		if got[i] != want[i] {
			t.Errorf("got  %+v\nwant %+v", got[i], want[i])
		}
	}
	if got := ModuleTimes([]*model.Trace{{}}, s); len(got) != 0 {
		t.Errorf("without modules: %+v", got)
	}
}
