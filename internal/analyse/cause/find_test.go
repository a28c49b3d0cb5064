package cause_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
)

var (
	module = testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 90}
	loop   = func(line int) testkit.Frame {
		return testkit.Frame{File: "/home/u/train.py", Function: "train", First: 30, Line: line}
	}
	user = func(fn string, first, line int) testkit.Frame {
		return testkit.Frame{File: "/home/u/lib.py", Function: fn, First: first, Line: line}
	}
	torchFrame = func(file, fn string) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/" + file, Function: fn, First: 1, Line: 5}
	}
	forward = testkit.Native(60, module, loop(40), torchFrame("nn/modules/linear.py", "forward"))
)

// unfilled matches a place of a template that got no fact.
var unfilled = regexp.MustCompile(`\{[a-z][a-z -|]*\}`)

// find runs all rules and checks what holds for every program: the account closes, no time is claimed twice, and each text is whole.
func find(t *testing.T, p *testkit.Program) (cause.Result, *account.Breakdown) {
	t.Helper()
	b := account.Of(p.S, account.Driver(p.S))
	sum := 0.0
	for _, part := range b.Parts {
		if part.Time < 0 {
			t.Errorf("part %v is negative: %v", part.ID, part.Time)
		}
		sum += part.Time
	}
	if math.Abs(sum-b.Total) > 1 {
		t.Errorf("parts sum to %v ns of %v", sum, b.Total)
	}
	res := cause.Find(facts.NewFacts(p.S, b), nil)
	for i := range res.Findings {
		f := &res.Findings[i]
		for _, text := range slices.Concat([]wording.Text{f.Title}, f.Evidence, f.Fix.Advice, f.Caveat, f.Confidence.Why) {
			if said := text.String(); unfilled.MatchString(said) || said == text.ID {
				t.Errorf("%s says %q, which lacks a fact or its template", text.ID, said)
			}
		}
	}
	saved := 0.0
	for _, f := range res.Findings {
		if f.Run.Low > f.Run.Mid || f.Run.Mid > f.Run.High {
			t.Errorf("%s: bounds out of order: %+v", f.Cause, f.Run)
		}
		if !f.OfRun {
			saved += f.Step.Mid
		}
	}
	if saved > b.Mean()*1.0001 {
		t.Errorf("findings save %.1f ms of a step of %.1f ms", saved/1e6, b.Mean()/1e6)
	}
	if len(res.Skipped) > 0 {
		t.Errorf("rules failed: %v", res.Skipped)
	}
	return res, b
}

// want checks the first finding.
func want(t *testing.T, res cause.Result, id, sub string, line int, stepMs float64) finding.Finding {
	t.Helper()
	if len(res.Findings) == 0 || res.Findings[0].Healthy {
		t.Fatalf("no finding, want %s", id)
	}
	f := res.Findings[0]
	if f.Cause != id || f.Sub != sub || f.Where.Line != line {
		t.Errorf("first finding %s/%s at %s:%d, want %s/%s at line %d", f.Cause, f.Sub, f.Where.File, f.Where.Line, id, sub, line)
	}
	if stepMs > 0 && math.Abs(f.Step.Mid/1e6-stepMs) > 0.12*stepMs {
		t.Errorf("%s saves %.1f ms a step, want about %.1f", id, f.Step.Mid/1e6, stepMs)
	}
	return f
}

func TestPythonBetweenOperators(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(20, model.PhaseBaseline, forward,
		testkit.Python(30, module, loop(44), user("count_words", 10, 12)),
		testkit.Python(10, module, loop(44), user("count_words", 10, 13),
			testkit.Frame{File: "/usr/lib/python3.13/re.py", Function: "split", First: 3, Line: 4}))
	res, b := find(t, p)
	want(t, res, finding.Python, "", 12, 37)
	if got := b.Part(account.PartOps) / b.Total; math.Abs(got-0.6) > 0.01 {
		t.Errorf("operators have %.2f of the step, want 0.6", got)
	}
}

// A helper that holds most of its caller's time is the place; the caller's other lines keep theirs.
func TestPythonInHelper(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(20, model.PhaseBaseline, forward,
		testkit.Python(30, module, loop(44), user("metric", 10, 12), user("normalise", 20, 22)),
		testkit.Python(10, module, loop(44), user("metric", 10, 13)))
	res, _ := find(t, p)
	want(t, res, finding.Python, "", 22, 28)
}

// The interpreter's time around operators is not Python work of the user's.
func TestCallingOperatorsIsNotPython(t *testing.T) {
	p := testkit.NewProgram()
	line := []testkit.Frame{module, loop(40), user("forward", 50, 55)}
	p.Steps(20, model.PhaseBaseline, testkit.Native(60, line...), testkit.Python(20, line...),
		testkit.Python(10, module, loop(41), torchFrame("optim/adam.py", "step")))
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if !f.Healthy {
			t.Errorf("claims %s at %s:%d on a program that only calls operators", f.Cause, f.Where.File, f.Where.Line)
		}
	}
}

func TestInputWithoutWorkers(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{BatchSize: 32, Dataset: "Pictures", File: p.S.Strings.Intern("/home/u/train.py"), Line: 25}}
	fetch := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	p.Steps(20, model.PhaseBaseline, forward,
		testkit.Python(50, module, loop(38), fetch, user("__getitem__", 5, 8), user("augment", 50, 57)).In(model.SpanDataWait),
		testkit.Python(10, module, loop(38), fetch, user("__getitem__", 5, 9)).In(model.SpanDataWait))
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "transform", 57, 46)
	if f.Fix.Action.Line != 25 {
		t.Errorf("the change belongs to line %d, want where the DataLoader is built (25)", f.Fix.Action.Line)
	}
}

// With workers only the wait is lost: two workers fetch a batch of 120 ms in turns, so that a step of 40 ms waits 20 ms more.
func TestInputWithWorkers(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{Workers: 2, BatchSize: 32, Dataset: "Pictures"}}
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	p.Steps(40, model.PhaseBaseline, testkit.Native(40, module, loop(40)),
		testkit.Blocked(20, module, loop(38), next).In(model.SpanDataWait))
	for i := range 2 {
		w := p.Add(model.RoleWorker, 101+i)
		for range 20 {
			w.Do(testkit.Python(120, user("__getitem__", 5, 8), user("augment", 50, 57)).In(model.SpanFetch))
		}
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Input, "transform", 57, 20)
	if f.Step.High/1e6 > 22.5 { // what runs beside it gains a little
		t.Errorf("with cores to spare the fix can save no more than the wait, not %.1f ms", f.Step.High/1e6)
	}
}

func TestStorage(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{Workers: 1, BatchSize: 32}}
	next := torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
	p.Steps(40, model.PhaseBaseline, testkit.Native(40, module, loop(40)),
		testkit.Blocked(60, module, loop(38), next).In(model.SpanDataWait))
	w := p.Add(model.RoleWorker, 101)
	for range 40 {
		w.Do(testkit.Act{Ms: 85, State: model.StateBlocked, Flags: model.SampleDiskWait,
			Stack: []testkit.Frame{user("__getitem__", 5, 7)}}.In(model.SpanFetch),
			testkit.Python(15, user("__getitem__", 5, 8)))
	}
	res, _ := find(t, p)
	want(t, res, finding.Input, "storage", 7, 0)
}

func TestCheckpointGCAndSleep(t *testing.T) {
	for _, c := range []struct {
		name, cause, sub string
		line             int
		act              testkit.Act
		stepMs           float64
	}{
		{"checkpoint", finding.IO, "checkpoint", 47, testkit.Native(40, module, loop(47)).In(model.SpanIO), 34},
		{"collections", finding.GC, "", 48, testkit.Python(40, module, loop(48)).In(model.SpanGC), 38},
		{"compilation", finding.Compile, "", 49, testkit.Python(40, module, loop(49)).In(model.SpanCompile), 38},
		{"a queue", finding.Input, "queue", 50, testkit.Blocked(40, module, loop(50),
			testkit.Frame{File: "/usr/lib/python3.13/queue.py", Function: "get", First: 1, Line: 2}), 38},
		{"the lock", finding.GIL, "", 0, testkit.Act{Ms: 40, State: model.StateGILWait, Stack: []testkit.Frame{module, loop(51)}}, 36},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Steps(2, model.PhaseWarmup, forward)
			p.Steps(30, model.PhaseBaseline, forward, c.act)
			res, _ := find(t, p)
			want(t, res, c.cause, c.sub, c.line, c.stepMs)
		})
	}
}

func TestStraggler(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Rank, p.P.WorldSize, p.P.Role = 0, 2, model.RoleRank
	reduce := torchFrame("autograd/graph.py", "_engine_run_backward")
	p.Steps(30, model.PhaseBaseline, testkit.Native(40, module, loop(40)), testkit.Blocked(60, module, loop(41), reduce))
	q := p.Add(model.RoleRank, 200)
	q.P.Rank, q.P.WorldSize = 1, 2
	q.Steps(30, model.PhaseBaseline, testkit.Native(40, module, loop(40)), testkit.Python(55, module, loop(43), user("features", 10, 14)),
		testkit.Blocked(5, module, loop(41), reduce))
	res, _ := find(t, p)
	f := want(t, res, finding.Straggler, "", 14, 0)
	if f.Where.Rank != 1 || f.Because == nil || f.Because.Cause != finding.Python {
		t.Errorf("late rank %d because %+v, want rank 1 because of python", f.Where.Rank, f.Because)
	}
}

// Other programs keep more than half of the cores busy. One rank works four times as long as the other on the same lines: no
// chance of a busy machine explains that, which at the worst doubles the work of one rank; a difference of a fifth may be chance.
func TestStragglerOnABusyMachine(t *testing.T) {
	saves := func(long int) float64 {
		p := testkit.NewProgram()
		busy := 1.1
		p.S.Environment.CPUs, p.S.Environment.OthersBusyCores = 2, &busy
		p.S.Environment.Threads["torch.get_num_threads"] = "1"
		p.P.Rank, p.P.WorldSize, p.P.Role = 0, 2, model.RoleRank
		reduce := torchFrame("autograd/graph.py", "_engine_run_backward")
		p.Steps(30, model.PhaseBaseline, testkit.Native(20, module, loop(40)), testkit.Blocked(long-19, module, loop(41), reduce))
		q := p.Add(model.RoleRank, 200)
		q.P.Rank, q.P.WorldSize = 1, 2
		q.Steps(30, model.PhaseBaseline, testkit.Native(long, module, loop(40)), testkit.Blocked(1, module, loop(41), reduce))
		res, _ := find(t, p)
		f := want(t, res, finding.Straggler, "", 40, 0)
		if share := fmt.Sprintf("%.0f %%", 100*f.Share); !strings.Contains(f.Title.String(), share) {
			t.Errorf("title %q, share %s", f.Title, share)
		}
		return f.Step.Mid / 1e6 / float64(long-20)
	}
	if clear, unsure := saves(80), saves(26); clear < 0.45 || unsure > 0.4 {
		t.Errorf("of the lead of a rank with four times the work %.2f is saved, want half; of one with a fifth more %.2f, want less",
			clear, unsure)
	}
}

// Where other programs keep cores busy, what a queue's consumer waits for may have waited for a core: less of the wait is certain.
func TestQueueOnABusyMachine(t *testing.T) {
	low := func(busy float64) float64 {
		p := testkit.NewProgram()
		p.S.Environment.CPUs, p.S.Environment.OthersBusyCores = 2, &busy
		get := testkit.Frame{File: "/usr/lib/python3.13/queue.py", Function: "get", First: 1, Line: 2}
		p.Steps(40, model.PhaseBaseline, forward, testkit.Blocked(40, module, loop(50), get))
		res, _ := find(t, p)
		return want(t, res, finding.Input, "queue", 50, 0).Step.Low / 1e6
	}
	if idle, busy := low(0), low(1.5); busy > 0.3*idle || idle < 15 {
		t.Errorf("at least %.1f ms on an idle machine, %.1f on a busy one", idle, busy)
	}
}

func TestHealthy(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(50, model.PhaseBaseline, testkit.Native(98, module, loop(40)), testkit.Python(2, module, loop(42)))
	res, _ := find(t, p)
	if len(res.Findings) != 1 || !res.Findings[0].Healthy || res.Findings[0].Cause != finding.Compute {
		t.Errorf("findings on a healthy program: %+v", res.Findings)
	}
}

// Sessions with parts missing give fewer findings, never a failure.
func TestSparseSessions(t *testing.T) {
	empty := testkit.NewProgram()
	one := testkit.NewProgram()
	one.Steps(1, model.PhaseBaseline, forward)
	noSamples := testkit.NewProgram()
	noSamples.Steps(5, model.PhaseBaseline, forward, testkit.Blocked(30, module, loop(38)).In(model.SpanDataWait))
	noSamples.P.Samples = model.Samples{}
	onlySamples := testkit.NewProgram()
	onlySamples.Do(forward, testkit.Python(200, module, loop(44), user("count_words", 10, 12)))
	warm := testkit.NewProgram()
	warm.Steps(3, model.PhaseWarmup, forward)
	damaged := testkit.NewProgram()
	damaged.Steps(5, model.PhaseBaseline, forward)
	damaged.P.Samples.Stacks.Parent[1] = 1
	damaged.P.Samples.Stack[7] = 9999
	damaged.P.Steps[3].End = damaged.P.Steps[3].Start - 5
	damaged.P.Spans = []model.Span{{Kind: model.SpanDataWait, Start: damaged.T, End: damaged.P.Start, Loader: 99},
		{Kind: model.SpanDataWait, Start: 1, End: 1 << 62, Loader: 99}}
	for name, p := range map[string]*testkit.Program{"empty": empty, "one step": one, "no samples": noSamples, "only samples": onlySamples,
		"warm-up only": warm, "damaged": damaged} {
		t.Run(name, func(t *testing.T) {
			b := account.Of(p.S, account.Driver(p.S))
			if len(b.Windows) == 0 {
				return
			}
			res, _ := find(t, p)
			if name == "only samples" {
				want(t, res, finding.Python, "", 12, 0)
			}
			if name == "no samples" {
				want(t, res, finding.Input, "workers", 0, 0)
			}
		})
	}
}
