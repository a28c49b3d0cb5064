package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// Why a rank is late is found by trying the rules on it. What the trial finds is booked nowhere: where the accounted rank is the late one,
// work beside the training that has nothing to do with its being late stays a finding.
func TestATrialOfTheLateRankBooksNothing(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Rank, p.P.WorldSize, p.P.Role = 0, 2, model.RoleRank
	lines := make([]string, 20)
	lines[11] = "kept[name] = torch.histc(p, 32).tolist()"
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
	reduce := torchFrame("autograd/graph.py", "_engine_run_backward")
	learns, stats := testkit.Native(60, module, loop(40)), testkit.Native(40, module, loop(44), user("statistics", 10, 12))
	p.Steps(20, model.PhaseBaseline, learns, stats, testkit.Native(60, module, loop(47)).In(model.SpanIO),
		testkit.Blocked(5, module, loop(41), reduce))
	trainingTrace(p, 3, stats, false)
	q := p.Add(model.RoleRank, 200)
	q.P.Rank, q.P.WorldSize = 1, 2
	q.Steps(20, model.PhaseBaseline, learns, stats, testkit.Blocked(65, module, loop(41), reduce))

	res, _ := find(t, p)
	if f := want(t, res, finding.Straggler, "", 47, 0); f.Where.Rank != 0 || f.Because == nil || f.Because.Cause != finding.IO {
		t.Fatalf("rank %d is late because of %+v, want rank 0's checkpoint", f.Where.Rank, f.Because)
	}
	for _, f := range res.Findings[1:] {
		if f.Cause == finding.Python && f.Where.Line == 12 && f.Step.Mid > 30e6 {
			return
		}
	}
	t.Errorf("statistics that both ranks make beside the training are no finding: %+v", res.Findings[1:])
}
