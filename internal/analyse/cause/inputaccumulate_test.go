package cause

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A step of gradient accumulation takes four batches: the workers' pace, the number that would keep up and the price are those of all four.
func TestInputOfSeveralBatchesPerStep(t *testing.T) {
	for _, c := range []struct {
		name                string
		workers             int
		line                testkit.Act
		sub                 string
		suggested           int
		stepMs, within, run float64
	}{
		{"prepared too slowly", 2, testkit.Python(60, testkit.Frame{File: "/app/data.py", Function: "augment", First: 10, Line: 15}),
			"transform", 0, 80, 2, 40},
		{"by too few workers", 2, testkit.Native(60, testkit.Frame{File: "/app/data.py", Function: "unpack", First: 10, Line: 15}),
			"workers", 6, 80, 8, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.S.Environment.CPUs, p.P.WorldSize = 32, 2 // priced by the rule, not by a replay
			p.P.Loaders = []model.Loader{{ID: 3, Workers: c.workers, BatchSize: 32}}
			loop := testkit.Frame{File: "/app/train.py", Function: "train", First: 1, Line: 5}
			micro := []testkit.Act{
				testkit.Blocked(20, loop, testkit.Frame{File: "/lib/torch/utils/data/dataloader.py", Function: "__next__", First: 1,
					Line: 2}).In(model.SpanDataWait), testkit.Native(10, loop),
			}
			p.Steps(int(c.run), model.PhaseBaseline, micro[0], micro[1], micro[0], micro[1], micro[0], micro[1], micro[0], micro[1])
			for i := range c.workers {
				w := p.Add(model.RoleWorker, 200+i)
				w.P.WorkerIndex, w.P.Loaders = i, p.P.Loaders
				for range int(c.run) * 4 / c.workers {
					w.Do(c.line.In(model.SpanFetch))
				}
			}
			ctx := facts.NewFacts(p.S, account.Of(p.S, p.P))
			found := inputFindings(ctx)
			if len(found) != 1 || found[0].Sub != c.sub {
				t.Fatalf("findings %+v, want input/%s", found, c.sub)
			}
			f := found[0]
			if got := f.Step.Mid / 1e6; math.Abs(got-c.stepMs) > c.within || math.Abs(f.Run.Mid-c.run*f.Step.Mid) > 1 {
				t.Errorf("saves %.1f ms a step, %.0f ms of the run, want about %.0f a step", got, f.Run.Mid/1e6, c.stepMs)
			}
			if c.suggested > 0 && f.Ask.Workers != c.suggested {
				t.Errorf("%d workers, want %d: four batches of 60 ms in a step of 40", f.Ask.Workers, c.suggested)
			}
		})
	}
}
