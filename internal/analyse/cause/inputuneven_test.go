package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// Of two workers one takes 100 ms a batch and the other 4: its batches are waited for, while those of the other lie ready. That is no
// slow hand-over, and the work of the slow one is what can be saved.
func TestOneSlowWorkerSetsThePace(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{Workers: 2, BatchSize: 32}}
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	for range 40 {
		p.P.Queues = append(p.P.Queues, model.QueueLength{Time: p.T, Ready: 2})
		p.Steps(1, model.PhaseBaseline, testkit.Blocked(30, module, loop(38), next).In(model.SpanDataWait),
			testkit.Native(20, module, loop(40)))
	}
	slow, quick := p.Add(model.RoleWorker, 101), p.Add(model.RoleWorker, 102)
	for range 20 {
		slow.Do(testkit.Python(100, user("read_old", 5, 8)).In(model.SpanFetch))
		quick.Do(testkit.Python(4, user("read", 20, 22)).In(model.SpanFetch), testkit.Blocked(96))
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "transform", 8, 28)
	if !strings.Contains(textOf(f.Evidence, "input.slow-worker"), "100 ms per batch in one worker (process 101), 4.00 ms in the others") {
		t.Errorf("evidence %+v, want the slow worker", f.Evidence)
	}
}

// A lock is let go of where it is taken: that line is the place, and the line of the thread that holds it is told.
func TestTheLocksLineIsThePlace(t *testing.T) {
	p := testkit.NewProgram()
	lines := make([]string, 40)
	lines[11] = "    with self.lock:"
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
	p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(60, module, loop(44), user("judge", 10, 12)))
	sm := &p.P.Samples
	p.Do(testkit.Native(1, user("judge", 10, 13), user("forward", 20, 22)))
	held := sm.Stack[sm.Len()-1]
	only := *sm
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = nil, nil, nil, nil, nil
	for i := range only.Time {
		sm.Time, sm.Thread, sm.Stack = append(sm.Time, only.Time[i], only.Time[i]), append(sm.Thread, only.Thread[i], 201),
			append(sm.Stack, only.Stack[i], held)
		sm.State, sm.Flags = append(sm.State, only.State[i], model.StateCPU), append(sm.Flags, only.Flags[i], 0)
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "queue", 12, 0)
	if held := textOf(f.Evidence, "input.side-works"); f.Title.ID != "input.title-lock-held" ||
		!strings.Contains(held, "forward() at lib.py:22") {
		t.Errorf("title %q, evidence %q, want the lock and who holds it", f.Title, held)
	}
}
