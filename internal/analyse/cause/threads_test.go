package cause_test

import (
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"slices"
	"strings"
	"testing"
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
			if named := len(res.Findings) > 0 && res.Findings[0].Cause == finding.Threads; named != c.named {
				t.Fatalf("findings %+v, want threads: %v", res.Findings, c.named)
			}
			if !c.named {
				return
			}
			f := want(t, res, finding.Threads, "", 9, 0.45*60)
			if want := "    torch.set_num_threads(2)"; f.Fix.Action.Change() != want && "    "+f.Fix.Action.Change() != want {
				t.Errorf("change %q, want %q", f.Fix.Action.Change(), want)
			}
		})
	}
}

// Processes that a program starts itself to train side by side share the cores like ranks; those that are done before, that only fetch, or
// that run elsewhere do not. What their operators take alone, run again after the program's end, says nothing of what they take beside each
// other.
func TestProcessesThatEachTakeAllCores(t *testing.T) {
	for _, c := range []struct {
		name  string
		role  model.Role
		host  string
		steps int
		named bool
	}{
		{"they train beside it", model.RoleOther, "", 30, true},
		{"they were done soon", model.RoleOther, "", 5, false},
		{"they fetch", model.RoleWorker, "", 30, false},
		{"on another machine", model.RoleOther, "other", 30, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.S.Environment.CPUs = 4
			p.Steps(30, model.PhaseBaseline, forward)
			q := p.Add(c.role, 300)
			q.P.Host = c.host
			q.Steps(c.steps, model.PhaseBaseline, forward)
			res, account := find(t, p)
			if named := len(res.Findings) > 0 && res.Findings[0].Cause == finding.Threads; named != c.named {
				t.Fatalf("findings %+v, want threads: %v", res.Findings, c.named)
			}
			if !c.named {
				return
			}
			before := res.Findings[0]
			if textOf(before.Caveat, "threads.caveat-turns") == "" {
				t.Errorf("caveats %v, want that threads which run in turns are slower unwatched", before.Caveat)
			}
			res.Measure(facts.NewFacts(p.S, account), []cause.MeasuredFix{{Fix: "threads=2", Ops: 4, SavedMs: -20, OfMs: 50}}, 1)
			if f := res.Findings[0]; f.Cause != finding.Threads || f.Step != before.Step {
				t.Errorf("one process alone refutes what two do to each other: %+v", f)
			}
		})
	}
}

// A fix of the threads saves the same share of operators outside of the steps.
func TestThreadsOutsideOfSteps(t *testing.T) {
	p := testkit.NewProgram()
	p.S.Environment.CPUs = 2
	p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "8"}
	p.Do(testkit.Native(600, module, user("prepare", 5, 8)), testkit.Python(200, module, user("prepare", 5, 9)))
	p.Steps(30, model.PhaseBaseline, forward)
	res, _ := find(t, p)
	i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Threads })
	if i < 0 {
		t.Fatalf("findings %+v, want one of threads", res.Findings)
	}
	f := res.Findings[i]
	if steps := f.Run.Mid / f.Step.Mid; steps < 39.5 || steps > 40.5 {
		t.Errorf("the run saves as much as %.1f steps, want 30 steps of 60 ms and 600 ms before them", steps)
	}
}

// Cores that a program may not use would speed its matrix products up most, small operators not at all.
func TestAffinityByKindsOfOperators(t *testing.T) {
	share := func(us int64, n int) float64 {
		p := testkit.NewProgram()
		p.S.Environment.CPUs, p.S.Environment.Affinity = 8, []int{0, 1}
		p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "2"}
		p.Steps(30, model.PhaseBaseline, forward)
		traced(p, 3, n, us)
		res, _ := find(t, p)
		for _, f := range res.Findings {
			if f.Cause == finding.Machine && f.Sub == "affinity" {
				return f.Step.Mid / 60e6
			}
		}
		return 0
	}
	large, small := share(1500, 60), share(20, 3000)
	if large < 0.6 || large > 0.7 { // three quarters, of which nine tenths
		t.Errorf("large matrix products gain %.2f of their time on four times as many cores", large)
	}
	if small > 0.05 {
		t.Errorf("small operators gain %.2f", small)
	}
}

// Ranks that are bound to their share of the cores are not said to lack the others'.
func TestRanksBoundToTheirShare(t *testing.T) {
	for ranks, named := range map[int]bool{1: true, 4: false} {
		p := testkit.NewProgram()
		p.S.Environment.CPUs, p.S.Environment.Affinity = 8, []int{0, 1}
		p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "2", "OMP_NUM_THREADS": "2"}
		p.P.Rank, p.P.WorldSize, p.P.Role = 0, ranks, model.RoleRank
		p.Steps(30, model.PhaseBaseline, forward)
		for r := 1; r < ranks; r++ {
			q := p.Add(model.RoleRank, 200+r)
			q.P.Rank, q.P.WorldSize = r, ranks
			q.Steps(30, model.PhaseBaseline, forward)
		}
		res, _ := find(t, p)
		got := len(res.Findings) > 0 && res.Findings[0].Sub == "affinity"
		if got != named {
			t.Errorf("%d ranks: findings %+v, want affinity: %v", ranks, res.Findings, named)
		}
		if got && !strings.Contains(wording.Sentences(res.Findings[0].Fix.Advice), "OMP_NUM_THREADS (now 2)") {
			t.Errorf("says nothing of the threads that are set: %s", wording.Sentences(res.Findings[0].Fix.Advice))
		}
	}
}

// Too many threads on too few cores, and the cores that the machine withholds, are one loss: their savings do not count it twice, and say
// so.
func TestThreadsAndMachineAreOneLoss(t *testing.T) {
	quota, throttled := 2.0, 0.8
	for _, c := range []struct {
		sub      string
		affinity []int
		quota    *float64
	}{{"affinity", []int{0, 1}, nil}, {"cpu-quota", nil, &quota}} {
		t.Run(c.sub, func(t *testing.T) {
			p := testkit.NewProgram()
			e := &p.S.Environment
			e.CPUs, e.Affinity, e.CPUQuota = 8, c.affinity, c.quota
			if c.quota != nil {
				e.ThrottledSeconds = &throttled
			}
			e.Threads = map[string]string{"torch.get_num_threads": "8"}
			p.Steps(30, model.PhaseBaseline, forward) // 60 ms of operators
			traced(p, 3, 20, 2900)
			res, _ := find(t, p)
			sum, said, both := 0.0, false, map[string]bool{}
			for _, f := range res.Findings {
				if f.Cause == finding.Threads || f.Cause == finding.Machine {
					sum += f.Step.Mid
					both[f.Cause] = true
					for _, e := range f.Evidence {
						said = said || e.ID == "threads.quota-counted" || e.ID == "threads.fewer-first"
					}
				}
			}
			if !both[finding.Machine] || sum > 60e6 || both[finding.Threads] && !said {
				t.Errorf("%+v: they save %.0f of 60 ms, said: %v", both, sum/1e6, said)
			}
		})
	}
}

// Operators that are slow for being tiny are not slow for want of cores as well; two threads on two cores want none.
func TestTinyOperatorsAreNotOfTheThreads(t *testing.T) {
	for threads, named := range map[string]bool{"16": false, "2": false} {
		p := testkit.NewProgram()
		p.S.Environment.CPUs = 2
		p.S.Environment.Threads = map[string]string{"torch.get_num_threads": threads}
		cell := []testkit.Frame{module, loop(40), user("cell", 20, 23)}
		p.Steps(20, model.PhaseBaseline, testkit.Native(60, cell...), testkit.Python(40, cell...))
		traced(p, 3, 3000, 20)
		res, _ := find(t, p)
		want(t, res, finding.Launch, "", 23, 0)
		if got := slices.ContainsFunc(res.Findings,
			func(f finding.Finding) bool { return f.Cause == finding.Threads && f.Step.Mid > 5e6 }); got != named {
			t.Errorf("%s threads: findings %+v", threads, res.Findings)
		}
	}
}

// A program that asks for its number of threads itself is not helped by the environment's: the advice is where it asks, even if that source
// is not in the session, and another number's line is not it.
func TestThreadsThatTheProgramSets(t *testing.T) {
	for _, c := range []struct{ name, omp, threads, line, change, where string }{
		{"its source is not known", "", "16", "", "torch.set_num_threads(2)", ""},
		{"against the environment", "2", "16", "", "torch.set_num_threads(2)", ""},
		{"a line with another number", "", "16", "    torch.set_num_threads(1)", "torch.set_num_threads(2)", ""},
		{"its line", "", "16", "    torch.set_num_threads(16)", "torch.set_num_threads(2)", "/home/u/train.py"},
		{"the environment", "16", "16", "    torch.set_num_threads(1)", "OMP_NUM_THREADS=2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.S.Environment.CPUs = 2
			p.S.Environment.Threads = map[string]string{"torch.get_num_threads": c.threads}
			if c.omp != "" {
				p.S.Environment.Threads["OMP_NUM_THREADS"] = c.omp
			}
			lines := make([]string, 60)
			lines[8] = c.line
			p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
			p.Steps(30, model.PhaseBaseline, forward)
			res, _ := find(t, p)
			i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Threads })
			if i < 0 {
				t.Fatalf("findings %+v, want threads", res.Findings)
			}
			f := res.Findings[i]
			if strings.TrimSpace(f.Fix.Action.Change()) != c.change || f.Where.File != c.where {
				t.Errorf("change %q at %q, want %q at %q", f.Fix.Action.Change(), f.Where.File, c.change, c.where)
			}
		})
	}
}

// Where a device computes, operators on the CPU launch that: neither the number of threads nor that of cores makes them faster. So do ranks
// of torchrun's, which gives each one thread.
func TestThreadsBesideADevice(t *testing.T) {
	for name, set := range map[string]func(p *testkit.Program){
		"one thread per rank": func(p *testkit.Program) {
			p.P.Rank, p.P.WorldSize, p.P.Role = 0, 2, model.RoleRank
			p.S.Environment.Threads = map[string]string{"OMP_NUM_THREADS": "1", "torch.get_num_threads": "1"}
		},
		"few of the cores": func(p *testkit.Program) {
			p.S.Environment.Affinity = []int{0, 1}
			p.S.Environment.Threads = map[string]string{"torch.get_num_threads": "2"}
		},
		"too many threads": func(p *testkit.Program) { p.S.Environment.Threads["torch.get_num_threads"] = "32" },
	} {
		for _, device := range []bool{false, true} {
			p := testkit.NewProgram()
			p.S.Environment.CPUs = 8
			set(p)
			p.Steps(30, model.PhaseBaseline, forward)
			for i := range p.P.Steps {
				p.P.Steps[i].DeviceDur = model.Dur(finding.Btoi(device)) * 50e6
			}
			res, acc := find(t, p)
			named := slices.ContainsFunc(res.Findings, func(f finding.Finding) bool {
				return f.Cause == finding.Threads || f.Cause == finding.Machine
			})
			if named == device {
				t.Errorf("%s, on a device: %v, named: %v", name, device, named)
			}
			if untried := res.Untried(facts.NewFacts(p.S, acc), nil).Measurable; device && len(untried) > 0 {
				t.Errorf("%s: says that %v was not tried", name, untried)
			}
		}
	}
}
