package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"math"
	"strings"
	"testing"
)

// anomalies is a program with steps of 100 ms, 25 of which note stacks; a trace covers one step, in which so many ms of 40 backwards look
// for NaN.
func anomalies(checks int) *testkit.Program {
	p := testkit.NewProgram()
	note := torchFrame("fx/traceback.py", "format_stack")
	acts := []testkit.Act{
		testkit.Native(35, module, loop(40), torchFrame("nn/modules/linear.py", "forward")),
		testkit.Python(25, module, loop(40), torchFrame("nn/modules/linear.py", "forward"), note,
			testkit.Frame{File: "/usr/lib/python3.13/traceback.py", Function: "extract_stack", First: 3, Line: 4}),
		testkit.Native(40, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")),
	}
	p.Steps(20, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	at := p.T
	add := func(from, ms int, name string, parent model.EventID) {
		p.Event(ev, at+model.Time(from)*1e6, model.Dur(ms)*1e6, name, model.KindOp, parent, -1)
	}
	p.Steps(1, model.PhaseTrace, acts...)
	add(0, 60, "aten::linear", model.NoEvent) // with the stacks
	add(60, 40, "autograd::engine::evaluate_function: AddmmBackward0", model.NoEvent)
	add(60, 40-checks, "AddmmBackward0", 1)
	add(100-checks, checks, "aten::isnan", 1)
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

// Around the backward pass alone the detection notes nothing; hooks that look for NaN themselves are not taken for it.
func TestAnomalyDetectionBackwards(t *testing.T) {
	for _, source := range []string{"    with torch.autograd.detect_anomaly():", "    weight.register_hook(check)"} {
		p := anomalies(15)
		frames := p.P.Samples.Stacks.Frames
		for i := range frames {
			if p.S.Strings.Text(frames[i].Function) == "format_stack" {
				frames[i].Function = p.S.Strings.Intern("forward")
			}
		}
		p.S.Sources["/home/u/main.py"] = &model.Source{Path: "/home/u/main.py", Lines: []string{source}}
		res, _ := find(t, p)
		named := len(res.Findings) > 0 && res.Findings[0].Sub == "anomaly"
		if named != strings.Contains(source, "anomaly") {
			t.Errorf("%s: %+v", source, res.Findings)
		}
		if f := res.Findings[0]; named && (math.Abs(f.Step.Mid-1.25*75e6*0.15) > 1e5 || f.Where.Line != 1 || f.Fix.Action.Change() != "") {
			t.Errorf("%+v", f)
		}
	}
}

func TestAnomalyDetection(t *testing.T) {
	p := anomalies(15)
	p.S.Sources["/home/u/main.py"] = &model.Source{Path: "/home/u/main.py",
		Lines: []string{"# detect_anomaly helps", "    torch.autograd.set_detect_anomaly(True)  # for now"}}
	res, _ := find(t, p)
	f := want(t, res, finding.Python, "anomaly", 2, 50)
	if f.Where.File != "/home/u/main.py" || f.Fix.Action.Old == "" ||
		f.Fix.Action.Change() != "torch.autograd.set_detect_anomaly(False)  # for now" {
		t.Errorf("at %s, changes %q into %q", f.Where.File, f.Fix.Action.Old, f.Fix.Action.Change())
	}
	for _, other := range res.Findings[1:] {
		if !other.Healthy {
			t.Errorf("claims the same again: %s: %s", other.Cause, other.Title)
		}
	}
	// Where several lines or none could have switched it on, the place is where it costs, and no line is changed.
	p = anomalies(0)
	p.S.Sources["/home/u/main.py"] = &model.Source{Path: "/home/u/main.py",
		Lines: []string{"with torch.autograd.detect_anomaly():", "set_detect_anomaly(True)"}}
	res, _ = find(t, p)
	if f := want(t, res, finding.Python, "anomaly", 40, 31); f.Fix.Action.Change() != "" || !strings.Contains(f.Title.String(), "25 %") {
		t.Errorf("%s: %+v", f.Title, f.Fix)
	}
	p = anomalies(0)
	p.S.Sources["/home/u/main.py"] = &model.Source{Path: "/home/u/main.py",
		Lines: []string{"trainer = Trainer(detect_anomaly=True, max_epochs=3)"}}
	res, _ = find(t, p)
	if f := want(t, res, finding.Python, "anomaly", 1, 31); f.Fix.Action.Change() !=
		"trainer = Trainer(detect_anomaly=False, max_epochs=3)" {
		t.Errorf("%+v", f.Fix)
	}
}
