package cause_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// traced adds steps that a trace covers, each with n outermost operators of the given length (µs), each of which encloses one
// other of half its length.
func traced(p *testkit.Program, steps, n int, us int64) {
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	add := func(start model.Time, dur model.Dur, name string, parent model.EventID) model.EventID {
		return p.Event(ev, start, dur, name, model.KindOp, parent, -1)
	}
	for range steps {
		at := p.T
		p.Steps(1, model.PhaseTrace, testkit.Native(100))
		gap := model.Time(int64(p.T-at) / int64(n))
		for k := range n {
			start := at + gap*model.Time(k)
			id := add(start, model.Dur(us*1000), "aten::linear", model.NoEvent)
			add(start+1, model.Dur(us*500), "aten::addmm", id)
		}
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
}

func TestTinyOperators(t *testing.T) {
	p := testkit.NewProgram()
	cell := []testkit.Frame{module, loop(40), user("cell", 20, 23)}
	p.Steps(20, model.PhaseBaseline, testkit.Native(60, cell...), testkit.Python(40, cell...))
	traced(p, 3, 3000, 20)
	res, b := find(t, p)
	if b.Ops == nil || b.Ops.Top != 3000 || b.Ops.Steps != 3 {
		t.Fatalf("operators of the traced steps: %+v", b.Ops)
	}
	f := want(t, res, finding.Launch, "", 23, 0)
	if f.Share < 0.9 {
		t.Errorf("launch explains %.2f of a step of nothing else", f.Share)
	}
}

// Where traced steps are much shorter than the others, as those of episodes that grow, these have as many operators in each millisecond.
func TestTinyOperatorsOfLongerSteps(t *testing.T) {
	p := testkit.NewProgram()
	cell := []testkit.Frame{module, loop(40), user("cell", 20, 23)}
	p.Steps(20, model.PhaseBaseline, testkit.Native(60, cell...), testkit.Python(40, cell...))
	tracedStep(p, testkit.Native(10), called{name: "aten::linear", n: 400, us: 20})
	res, _ := find(t, p)
	f := want(t, res, finding.Launch, "", 23, 0)
	if f.Evidence[0].ID != "launch.count" || math.Abs(f.Evidence[0].Facts[0].Value-4000) > 40 {
		t.Errorf("%s, want ten times the 400 operators of a traced step", f.Evidence[0])
	}
}

// Operators that consist of small ones alone are as much dispatch as those.
func TestOperatorsOfSmallPieces(t *testing.T) {
	for us, small := range map[int64]float64{56: 1600, 62: 0} { // each is an operator and one inside it of half its length
		p := testkit.NewProgram()
		cell := []testkit.Frame{module, loop(40), user("cell", 20, 23)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(60, cell...), testkit.Python(40, cell...))
		traced(p, 3, 1600, us)
		if _, b := find(t, p); b.Ops == nil || b.Ops.Small != small {
			t.Errorf("%d µs: %+v, want %v small operators", us, b.Ops, small)
		}
	}
}

// Few large operators are no launch problem, and their kinds sum to the part.
func TestLargeOperators(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(20, model.PhaseBaseline, testkit.Native(95, module, loop(40)), testkit.Python(5, module, loop(40)))
	traced(p, 2, 50, 1900)
	res, b := find(t, p)
	for _, f := range res.Findings {
		if !f.Healthy {
			t.Errorf("claims %s", f.Cause)
		}
	}
	for _, part := range b.Parts {
		sum := 0.0
		for _, k := range part.Kinds {
			sum += k.Time
		}
		if part.ID == account.PartOps && math.Abs(sum-part.Time) > 1 {
			t.Errorf("kinds sum to %v of %v", sum, part.Time)
		}
	}
}

// A session whose machine limits it: the container's quota.
func TestQuota(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(30, model.PhaseBaseline, forward)
	quota, throttled := 2.0, 1.2
	p.S.Environment.CPUQuota, p.S.Environment.ThrottledSeconds = &quota, &throttled
	p.S.Environment.Threads["torch.get_num_threads"] = "2"
	res, _ := find(t, p)
	want(t, res, finding.Machine, "cpu-quota", 0, 0)
}

// torchrun gives each rank one thread although there are four cores for each.
func TestOneThreadPerRank(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Rank, p.P.WorldSize, p.P.Role = 0, 2, model.RoleRank
	p.S.Environment.Threads = map[string]string{"OMP_NUM_THREADS": "1", "torch.get_num_threads": "1"}
	p.Steps(30, model.PhaseBaseline, forward)
	q := p.Add(model.RoleRank, 200)
	q.P.Rank, q.P.WorldSize = 1, 2
	q.Steps(30, model.PhaseBaseline, forward)
	res, _ := find(t, p)
	want(t, res, finding.Machine, "omp-default", 0, 0)
}

func TestStartUp(t *testing.T) {
	p := testkit.NewProgram()
	p.Do(testkit.Python(3000, module, user("read_all", 60, 66)))
	p.Steps(2, model.PhaseWarmup, forward)
	p.Steps(30, model.PhaseBaseline, forward)
	res, _ := find(t, p)
	f := want(t, res, finding.Warmup, "", 66, 0)
	if !f.OfRun || math.Abs(f.Run.Mid/1e9-2.7) > 0.1 {
		t.Errorf("start-up saves %.2f s of the run, want 0.9 of 3 s", f.Run.Mid/1e9)
	}
}

// Importing PyTorch is nobody's to save, and reading its files is no checkpoint, in a program with steps and without.
func TestImportIsNoFinding(t *testing.T) {
	for _, steps := range []int{30, 0} {
		for _, file := range []string{"__init__.py", "serialization.py"} {
			p := testkit.NewProgram()
			p.Do(testkit.Python(5000, module, testkit.Frame{File: "<frozen importlib._bootstrap>", Function: "_load", First: 1, Line: 2},
				torchFrame(file, "<module>")))
			p.Steps(steps, model.PhaseBaseline, forward)
			res, _ := find(t, p)
			for _, f := range res.Findings {
				if !f.Healthy {
					t.Errorf("%d steps, %s: claims %s at line %d", steps, file, f.Cause, f.Where.Line)
				}
			}
		}
	}
}

// What a loader without workers calls while the step waits for it is the fetch's: the step itself calls few operators.
func TestOperatorsOfTheFetchAreNoneOfTheStep(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(20, model.PhaseBaseline, testkit.Native(40, module, loop(39), user("item", 20, 23)).In(model.SpanDataWait), forward)
	from := p.T
	traced(p, 3, 3000, 20) // of 100 ms each
	for i := range model.Time(3) {
		at := from + i*100_000_000
		p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanDataWait, Start: at, End: at + 99_000_000, Thread: p.P.PID,
			Value: 100 + int64(i)})
	}
	res, b := find(t, p)
	if b.Ops == nil || b.Ops.Top > 50 {
		t.Fatalf("operators of the step: %+v", b.Ops)
	}
	for _, f := range res.Findings {
		if f.Cause == finding.Launch {
			t.Errorf("claims %q", f.Title)
		}
	}
}
