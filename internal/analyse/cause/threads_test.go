package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// Two ranks that each take all cores for their own lose more than one process with as many threads as there are cores, which loses
// nothing; what their collectives wait is part of it, and the line that sets the threads is the place and the change.
func TestRanksThatEachTakeAllCores(t *testing.T) {
	for _, c := range []struct {
		name    string
		ranks   int
		threads string
		named   bool
	}{{"each rank all cores", 2, "4", true}, {"each rank its share", 2, "2", false}, {"one process", 1, "4", false}} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.S.Environment.CPUs = 4
			p.S.Environment.Threads = map[string]string{"torch.get_num_threads": c.threads}
			lines := make([]string, 60)
			lines[8] = "    torch.set_num_threads(cores(world.size()))"
			p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
			p.P.Rank, p.P.WorldSize, p.P.Role = 0, c.ranks, model.RoleRank
			p.Steps(30, model.PhaseBaseline, forward)
			for r := 1; r < c.ranks; r++ {
				q := p.Add(model.RoleRank, 200+r)
				q.P.Rank, q.P.WorldSize = r, c.ranks
				q.Steps(30, model.PhaseBaseline, forward)
			}
			res, _ := find(t, p)
			if named := len(res.Findings) > 0 && res.Findings[0].Cause == cause.Threads; named != c.named {
				t.Fatalf("findings %+v, want threads: %v", res.Findings, c.named)
			}
			if !c.named {
				return
			}
			f := want(t, res, cause.Threads, "", 9, 0.45*60)
			if want := "    torch.set_num_threads(2)"; f.Fix.Change != want && "    "+f.Fix.Change != want {
				t.Errorf("change %q, want %q", f.Fix.Change, want)
			}
		})
	}
}
