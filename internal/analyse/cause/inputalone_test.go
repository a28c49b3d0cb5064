package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// company is a program on cores whose step of 61 ms hardly waits: libraries in two workers fetch its batches, each of which
// takes them 25 ms. The kernel counted what the program itself and each worker computed per step.
func company(cores int, ownMs, workerMs float64) *testkit.Program {
	p := building("loader = DataLoader(rows, 32, num_workers=2)", model.Loader{Workers: 2, Prefetch: 2})
	p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = cores, "2"
	begin := p.T
	for range 60 {
		p.P.Queues = append(p.P.Queues, model.QueueLength{Time: p.T, Ready: 2})
		p.Steps(1, model.PhaseBaseline, testkit.Blocked(1, module, loop(38), next).In(model.SpanDataWait), forward)
	}
	length := float64(p.T-begin) / 60
	for pid := range 2 {
		w := p.Add(model.RoleWorker, 101+pid)
		for i := range 30 {
			w.T = begin + model.Time(float64(2*i+pid)*length)
			w.Do(testkit.Python(25, torchFrame("utils/data/_utils/fetch.py", "fetch")).In(model.SpanFetch))
		}
		count(w.P, begin, p.T, workerMs)
	}
	count(p.P, begin, p.T, ownMs)
	return p
}

// count is what the kernel counts of a process from one instant to another, per step of 60.
func count(p *model.Process, from, to model.Time, ms float64) {
	p.Usage = []model.Usage{{At: from}, {At: to, User: model.Dur(60 * ms * 0.9e6), System: model.Dur(60 * ms * 0.1e6)}}
}

// Workers that take cores from a step which hardly waits for them are advised against where no core is idle, and only there.
func TestWorkersThatTakeTheStepsCores(t *testing.T) {
	for _, c := range []struct {
		name        string
		cores       int
		own, worker float64 // ms of CPU per step
		found       bool
	}{
		{"two cores, all busy", 2, 98, 12, true},
		{"four cores, two idle", 4, 98, 12, false},
		{"two cores, one idle", 2, 61, 12, false},
		{"workers that sleep", 2, 118, 0.5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, company(c.cores, c.own, c.worker))
			if !c.found {
				for _, f := range res.Findings {
					if textOf(f.Fix.Advice, "input.fix-needless") != "" {
						t.Errorf("advises against workers: %+v", f)
					}
				}
				return
			}
			// 24 ms of CPU per step hold up its 60 of operators; alone the program needs 0.55 of them.
			f := want(t, res, finding.Input, "workers", 25, 11)
			if f.Fix.Action.Change() != "loader = DataLoader(rows, 32, num_workers=0)" || f.Step.Low > 1e6 {
				t.Errorf("change %q, saves %+v, want none at worst", f.Fix.Action.Change(), f.Step)
			}
		})
	}
}

// Where no core is idle, workers that only hand over also hold up the step's own work.
func TestHandoverOnFullCores(t *testing.T) {
	for own, stepMs := range map[float64]float64{20: 2.5, 36: 4.4} {
		p := cheapFetches(0.5, false, model.Loader{Workers: 2, Prefetch: 2})
		p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = 2, "2"
		for _, process := range p.S.Processes {
			ms := own
			if process.Role == model.RoleWorker {
				ms = 2
			}
			count(process, p.P.Steps[0].Start, p.P.Steps[59].End, ms)
		}
		res, _ := find(t, p)
		if f := want(t, res, finding.Input, "handover", 25, stepMs); f.Step.High < f.Step.Mid {
			t.Errorf("saves %+v", f.Step)
		}
	}
}
