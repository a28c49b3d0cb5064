package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// sliced adds a traced slice of a program without steps: its acts, with an operator of the given length (µs) every so many µs.
func sliced(p *testkit.Program, us, every int64, acts ...testkit.Act) {
	from := p.T
	p.Do(acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: from, To: p.T}
	ev := &t.Events
	for at := from; at+model.Time(us*1000) <= p.T; at += model.Time(every * 1000) {
		p.Event(ev, at, model.Dur(us*1000), "aten::select", model.KindOp, model.NoEvent, -1)
	}
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
}

// Without steps, too, a line that calls one small operator after another is the price of calling them, in traced slices and out of
// them; a line that works for a while before it calls one is Python, as is a line whose operators are large not launch.
func TestTinyOperatorsWithoutSteps(t *testing.T) {
	calling := testkit.Frame{File: "/home/u/lib.py", Function: "cell", First: 20, Line: 23}
	for _, c := range []struct {
		name      string
		us, every int64
		cause     string
	}{{"tiny ones in a row", 10, 40, finding.Launch}, {"one in a while", 10, 1000, finding.Python}, {"large ones", 900, 1000, ""}} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Do(testkit.Python(300, module, user("prepare", 5, 8)))
			python, native := testkit.Python(190, module, loop(40), calling), testkit.Native(10, module, loop(40), calling)
			if c.us > 100 {
				python, native = testkit.Python(10, module, loop(40), calling), testkit.Native(190, module, loop(40), calling)
			}
			for range 2 {
				sliced(p, c.us, c.every, native, python)
			}
			p.Do(native, python, native, python)
			res, _ := find(t, p)
			if c.cause == "" {
				for _, f := range res.Findings {
					if f.Cause == finding.Launch {
						t.Errorf("claims launch at line %d", f.Where.Line)
					}
				}
				return
			}
			f := want(t, res, c.cause, "", 23, 0)
			if c.cause == finding.Launch && (f.Run.Mid < 720e6 || f.Run.Mid > 800e6 || f.Share < 0.6 || f.Share > 0.75) {
				t.Errorf("saves %+v, a share of %.2f: the line takes 800 of 1100 ms, recording a little of it", f.Run, f.Share)
			}
			if c.cause == finding.Launch && (f.Evidence[0].ID != "launch.count-run" || f.Caveat[0].ID != "launch.caveat-no-steps") {
				t.Errorf("evidence %v, caveat %v, want that they are of a run without steps", f.Evidence, f.Caveat)
			}
		})
	}
}
