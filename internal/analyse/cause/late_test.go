package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"strings"
	"testing"
)

// The late rank also validates, which runs the model that all ranks run: the place is what it alone does, not the model's line.
func TestLateRankIsPlacedAtWhatItAloneDoes(t *testing.T) {
	layer := user("forward", 30, 33)
	p := testkit.NewProgram()
	p.P.Rank, p.P.WorldSize, p.P.Role = 0, 2, model.RoleRank
	reduce := torchFrame("autograd/graph.py", "_engine_run_backward")
	own := testkit.Native(40, module, loop(40), layer)
	p.Steps(30, model.PhaseBaseline, own, testkit.Native(55, module, loop(43), user("validate", 10, 14), layer),
		testkit.Blocked(5, module, loop(41), reduce))
	q := p.Add(model.RoleRank, 200)
	q.P.Rank, q.P.WorldSize = 1, 2
	q.Steps(30, model.PhaseBaseline, own, testkit.Blocked(60, module, loop(41), reduce))
	res, _ := find(t, p)
	f := want(t, res, finding.Straggler, "", 14, 52)
	if f.Where.Rank != 0 {
		t.Errorf("late rank %d, want 0", f.Where.Rank)
	}
}

// What makes the accounted rank late is one finding, the ranks' waiting, with its reason: fixing it is not saved twice. What the
// others do as well keeps its own finding.
func TestTheLateRanksReasonIsNoSecondFinding(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Rank, p.P.WorldSize, p.P.Role = 0, 2, model.RoleRank
	reduce := torchFrame("autograd/graph.py", "_engine_run_backward")
	both := testkit.Python(30, module, loop(42), user("tokens", 60, 62))
	p.Steps(30, model.PhaseBaseline, testkit.Native(40, module, loop(40)), both, testkit.Native(60, module, loop(47)).In(model.SpanIO),
		testkit.Blocked(5, module, loop(41), reduce))
	q := p.Add(model.RoleRank, 200)
	q.P.Rank, q.P.WorldSize = 1, 2
	q.Steps(30, model.PhaseBaseline, testkit.Native(40, module, loop(40)), both, testkit.Blocked(65, module, loop(41), reduce))
	res, _ := find(t, p)
	f := want(t, res, finding.Straggler, "", 47, 57)
	if f.Because == nil || f.Because.Cause != finding.IO || !strings.Contains(wording.Sentences(f.Fix.Advice), "Only rank 0") ||
		!strings.Contains(wording.Sentences(f.Fix.Advice), "Save less often") {
		t.Errorf("because %+v, fix %q, want rank 0's checkpoint and what helps against it", f.Because, wording.Sentences(f.Fix.Advice))
	}
	if n := len(res.Findings); n < 2 || res.Findings[1].Cause != finding.Python || res.Findings[1].Step.Mid < 28e6 {
		t.Errorf("findings after the first: %+v, want the Python code of both ranks", res.Findings[1:])
	}
	for i := range res.Findings[1:] {
		if res.Findings[1+i].Cause == finding.IO {
			t.Errorf("the checkpoint is a finding of its own as well: %+v", res.Findings[1+i].Step)
		}
	}
}

// Where samples are too few to split operators from the interpreter, they still tell of waits that no trace sees.
func TestFewSamplesTellOfTheLock(t *testing.T) {
	p := testkit.NewProgram()
	waits := testkit.Act{Ms: 2, State: model.StateGILWait, Stack: []testkit.Frame{module, loop(40)}}
	p.Steps(12, model.PhaseBaseline, testkit.Native(1, module, loop(40)), waits)
	traced(p, 3, 10, 50)
	res, b := find(t, p)
	if len(b.Samples) >= 60 {
		t.Fatalf("%d samples are not few", len(b.Samples))
	}
	if f := want(t, res, finding.GIL, "", 0, 0); f.Share < 0.6 || f.Share > 0.7 {
		t.Errorf("%.2f of the step waits for the lock, want two thirds", f.Share)
	}
}

// A job that was running already when it was recorded has no steps: the rank that hangs is named all the same, and neither the
// collective that the other waits in nor threads that do not compute are to blame.
func TestAHangingRankIsNamedWithoutSteps(t *testing.T) {
	p := testkit.NewProgram()
	p.S.Environment.CPUs = 2
	p.P.Rank, p.P.WorldSize, p.P.Role = 0, 2, model.RoleRank
	p.Do(testkit.Blocked(900, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")))
	q := p.Add(model.RoleRank, 200)
	q.P.Rank, q.P.WorldSize = 1, 2
	q.Do(testkit.Blocked(900, module, loop(44), user("hang", 50, 54)))
	res, _ := find(t, p)
	if f := want(t, res, finding.Straggler, "", 54, 0); f.Where.Rank != 1 {
		t.Errorf("late rank %d, want 1", f.Where.Rank)
	}
	for i := range res.Findings {
		if c := res.Findings[i].Cause; c == finding.Comm || c == finding.Threads {
			t.Errorf("%s is blamed for a rank that hangs: %s", c, res.Findings[i].Title)
		}
	}
}
