package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"strings"
	"testing"
)

// shmProgram is a program with much Python between its operators, whose DataLoader's hand-over fails in its last step.
func shmProgram(name string, exit int) *testkit.Program {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{
		{Workers: 3, Prefetch: 2, BatchSize: 32, Dataset: "Pictures", File: p.S.Strings.Intern("/home/u/train.py"), Line: 25},
	}
	p.Steps(20, model.PhaseBaseline, forward, testkit.Python(40, module, loop(44), user("metric", 10, 12)))
	p.S.Run = &model.Run{Start: testkit.Epoch, End: p.T, ExitCode: exit}
	p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanOther, Start: p.T, End: p.T, Name: p.S.Strings.Intern(name),
		File: p.P.Loaders[0].File, Line: 25, Detail: p.S.Strings.Intern("RuntimeError: no room"), Value: 64 << 20, Loader: -1})
	return p
}

// What ends the program stands before what makes it slow, without a saving; both are said.
func TestSharedMemoryIsFull(t *testing.T) {
	for _, c := range []struct {
		name  string
		exit  int
		title string
	}{
		{"shm full", 1, "/dev/shm (64.0 MiB) is too small for the batches that DataLoader workers hand over, which ended the program"},
		{"shm full", 0, "/dev/shm (64.0 MiB) is too small for the batches that DataLoader workers hand over"},
		{"shm lost", 130, "/dev/shm (64.0 MiB) is too small for the batches that DataLoader workers hand over: one is lost, and the " +
			"program waits for it forever"},
	} {
		p := shmProgram(c.name, c.exit)
		res, _ := find(t, p)
		f := want(t, res, finding.Machine, "shm", 25, 0)
		if !f.Stops || f.Title.String() != c.title || f.Run != (finding.Range{}) {
			t.Errorf("%s, exit %d: %+v", c.name, c.exit, f)
		}
		if len(f.Evidence) != 2 || f.Evidence[0].String() != "RuntimeError: no room" ||
			!strings.Contains(f.Evidence[1].String(), "3 workers × prefetch_factor 2: 6 batches") {
			t.Errorf("evidence %+v", f.Evidence)
		}
		if !strings.Contains(wording.Sentences(f.Fix.Advice), "--shm-size") || len(res.Findings) < 2 ||
			res.Findings[1].Cause != finding.Python {
			t.Errorf("fix %q, findings %+v", wording.Sentences(f.Fix.Advice), res.Findings)
		}
	}
}

// Without the agent's word nothing is claimed; what it says of no DataLoader, or without the size, is said without them.
func TestSharedMemoryUnknown(t *testing.T) {
	p := shmProgram("shm full", 1)
	p.P.Spans = nil
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if f.Sub == "shm" {
			t.Errorf("claims %+v", f)
		}
	}
	p = shmProgram("shm full", 1)
	p.P.Spans[len(p.P.Spans)-1].Detail = p.S.Strings.Intern(
		"DataLoader worker (pid 7) is killed by signal: Bus error. It is possible that …")
	res, _ = find(t, p)
	if f := want(t, res, finding.Machine, "shm", 25, 0); !strings.HasPrefix(f.Title.String(),
		"a worker died of a bus error, most likely because /dev/shm (64.0 MiB)") || f.Confidence.Level != finding.Medium {
		t.Errorf("%+v", f)
	}
	p = shmProgram("shm full", 1)
	sp := &p.P.Spans[len(p.P.Spans)-1]
	sp.File, sp.Value, p.S.Run = 0, -5, nil
	res, _ = find(t, p)
	if f := want(t, res, finding.Machine, "shm", 0,
		0); f.Title.String() != "the shared memory is too small for what processes hand to one another" || len(f.Evidence) != 1 {
		t.Errorf("%+v", f)
	}
}

// Where shared memory is small, advice to add workers says so.
func TestWorkersNeedSharedMemory(t *testing.T) {
	for size, says := range map[int64]bool{64 << 20: true, 16 << 30: false} {
		p := testkit.NewProgram()
		p.S.Environment.SHMBytes = &size
		p.P.Loaders = []model.Loader{{BatchSize: 32, Dataset: "Pictures", File: p.S.Strings.Intern("/home/u/train.py"), Line: 25}}
		fetch := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
		p.Steps(20, model.PhaseBaseline, forward, testkit.Python(50, module, loop(38), fetch, user("__getitem__", 5, 8),
			user("augment", 50, 57)).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "transform", 57, 0)
		if !strings.Contains(f.Fix.Action.Change(), "num_workers") ||
			strings.Contains(wording.Sentences(f.Caveat), "/dev/shm holds only 64.0 MiB here") != says {
			t.Errorf("%d bytes: %q, %q", size, f.Fix.Action.Change(), f.Caveat)
		}
	}
}
