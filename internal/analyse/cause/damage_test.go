package cause

import (
	"math"
	"strings"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

var (
	top      = testkit.Frame{File: "/home/u/main.py", Function: "<module>", First: 1, Line: 50}
	work     = testkit.Frame{File: "/home/u/main.py", Function: "work", First: 10, Line: 14}
	metric   = testkit.Frame{File: "/home/u/lib.py", Function: "metric", First: 3, Line: 7}
	computes = testkit.Native(40, top, work)
	counts   = testkit.Python(20, top, work, metric)
)

// sick is a program with a Python finding, in all phases.
func sick() *testkit.Program {
	p := testkit.NewProgram()
	p.Steps(2, model.PhaseWarmup, computes, counts)
	p.Steps(20, model.PhaseBaseline, computes, counts)
	p.Steps(3, model.PhaseTrace, computes, counts)
	return p
}

// findings runs the rules on a session and checks what must hold for any input.
func findings(t *testing.T, s *model.Session) Result {
	t.Helper()
	b := account.Of(s, account.Driver(s))
	if b.Process == nil || len(b.Windows) == 0 {
		return Result{}
	}
	res := Find(facts.NewFacts(s, b), nil)
	for _, f := range res.Findings {
		for _, v := range []float64{f.Share, f.Step.Low, f.Step.Mid, f.Step.High, f.Run.Low, f.Run.Mid, f.Run.High} {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				t.Errorf("%s has the number %v", f.Cause, v)
			}
		}
		if len(f.Confidence.Why) == 0 {
			t.Errorf("%s does not say what it rests on", f.Cause)
		}
	}
	if len(res.Skipped) > 0 {
		t.Errorf("rules failed: %v", res.Skipped)
	}
	return res
}

// A rule that fails is named and costs no other finding.
func TestFailingRuleIsSkipped(t *testing.T) {
	p := sick()
	c := facts.NewFacts(p.S, account.Of(p.S, account.Driver(p.S)))
	broken := rule[*facts.Facts]{"broken", func(c *facts.Facts, _ finding.Ledger) []finding.Draft {
		return []finding.Draft{{Finding: finding.Finding{Share: c.Share(float64(c.B.Windows[1<<20].Start))}}}
	}}
	res := find(c, nil, append([]rule[*facts.Facts]{broken}, rules()...))
	if len(res.Skipped) != 1 || !strings.Contains(res.Skipped[0], "broken") {
		t.Errorf("skipped rules are %q, want the broken one", res.Skipped)
	}
	if len(res.Findings) == 0 || res.Findings[0].Cause != finding.Python {
		t.Errorf("the other rules found %v, want python", res.Findings)
	}
}

// Less is known, less is said, and nothing fails.
func TestMissingInput(t *testing.T) {
	phases := func(keep ...model.PhaseKind) func(*model.Process) {
		return func(p *model.Process) {
			var left []model.Step
			for _, st := range p.Steps {
				for _, k := range keep {
					if st.Phase == k {
						left = append(left, st)
					}
				}
			}
			p.Steps = left
		}
	}
	cases := []struct {
		name  string
		spoil func(*model.Process)
		found bool   // python is still found
		level string // its confidence at most
	}{
		{"whole", func(*model.Process) {}, true, finding.High},
		{"no baseline", phases(model.PhaseWarmup, model.PhaseTrace), true, finding.Medium},
		{"warm-up only", phases(model.PhaseWarmup), true, finding.Medium},
		{"one step", func(p *model.Process) { p.Steps = p.Steps[:1] }, true, finding.Low},
		{"no steps", func(p *model.Process) { p.Steps = nil }, true, finding.High},
		{"no samples", func(p *model.Process) { p.Samples = model.Samples{} }, false, ""},
		{"only samples", func(p *model.Process) { p.Steps, p.Spans, p.Loaders, p.Start, p.End = nil, nil, nil, 0, 0 }, true, finding.High},
		{"few samples", func(p *model.Process) { thin(&p.Samples, 150) }, false, ""},
		{"columns cut", func(p *model.Process) { p.Samples.State = p.Samples.State[:700] }, true, finding.High},
		{"samples of another clock", func(p *model.Process) { shift(&p.Samples, 3600e9) }, false, ""},
		{"steps that end before they start", func(p *model.Process) {
			for i := range p.Steps {
				p.Steps[i].Start, p.Steps[i].End = p.Steps[i].End, p.Steps[i].Start
			}
		}, true, finding.High}, // then the account is of the run
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := sick()
			c.spoil(p.P)
			res := findings(t, p.S)
			if !c.found {
				for _, f := range res.Findings {
					if !f.Healthy {
						t.Errorf("claims %s on %s", f.Cause, c.name)
					}
				}
				return
			}
			if len(res.Findings) == 0 || res.Findings[0].Cause != finding.Python {
				t.Fatalf("found %v, want python", res.Findings)
			}
			order := map[string]int{finding.Low: 0, finding.Medium: 1, finding.High: 2}
			if got := res.Findings[0].Confidence; order[got.Level] > order[c.level] {
				t.Errorf("confidence is %s (%s), want %s at most", got.Level, got.Why, c.level)
			}
		})
	}
}

// thin keeps every n-th sample.
func thin(s *model.Samples, n int) {
	k := 0
	for i := 0; i < s.Len(); i += n {
		s.Time[k], s.Thread[k], s.Stack[k], s.State[k], s.Flags[k] = s.Time[i], s.Thread[i], s.Stack[i], s.State[i], s.Flags[i]
		k++
	}
	s.Time, s.Thread, s.Stack, s.State, s.Flags = s.Time[:k], s.Thread[:k], s.Stack[:k], s.State[:k], s.Flags[:k]
}

func shift(s *model.Samples, by model.Time) {
	for i := range s.Time {
		s.Time[i] += by
	}
}

// What sits in every tenth step is said to.
func TestEveryTenthStep(t *testing.T) {
	p := testkit.NewProgram()
	for range 10 {
		p.Steps(9, model.PhaseBaseline, computes)
		p.Steps(1, model.PhaseBaseline, computes, testkit.Python(200, top, work, metric))
	}
	res := findings(t, p.S)
	if len(res.Findings) == 0 || !strings.Contains(res.Findings[0].Title.String(), "every 10th step") {
		t.Errorf("found %v, want a title with every 10th step", res.Findings)
	}
	every := findings(t, sick().S)
	if len(every.Findings) == 0 || !strings.Contains(every.Findings[0].Title.String(), "of each step") {
		t.Errorf("found %v, want a title with each step", every.Findings)
	}
}

// A wait for another process of the run stands at that process's line.
func TestWaitForOtherProcess(t *testing.T) {
	get := testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/queues.py", Function: "Queue.get", First: 90, Line: 100}
	produce := testkit.Frame{File: "/home/u/make.py", Function: "produce", First: 20, Line: 23}
	for _, c := range []struct {
		name string
		act  testkit.Act
		file string
		says string
	}{
		{"works", testkit.Python(3000, top, produce), "/home/u/make.py", "input.side-works"},
		{"sleeps", testkit.Blocked(3000, top, produce), "/home/u/make.py", "input.side-sleeps"},
		{"waits itself", testkit.Blocked(3000, top, produce, get), "/home/u/main.py", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Add(model.RoleOther, 200).Do(c.act)
			p.Steps(20, model.PhaseBaseline, computes, testkit.Blocked(40, top, work, get))
			res := findings(t, p.S)
			if len(res.Findings) == 0 || res.Findings[0].Cause != finding.Input || res.Findings[0].Sub != "queue" {
				t.Fatalf("found %v, want input/queue", res.Findings)
			}
			f := res.Findings[0]
			if f.Where.File != c.file {
				t.Errorf("stands at %s:%d, want %s", f.Where.File, f.Where.Line, c.file)
			}
			if c.says != "" && f.Evidence[1].ID != c.says {
				t.Errorf("evidence %q, want %s", f.Evidence[1].String(), c.says)
			}
		})
	}
}

// Processes of a pool that take turns keep the step waiting together; a pool that waits most of the time does not.
func TestWaitForPool(t *testing.T) {
	get := testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/connection.py", Function: "Connection._recv", First: 380, Line: 395}
	simulate := testkit.Frame{File: "/home/u/make.py", Function: "simulate", First: 20, Line: 23}
	for busy, want := range map[int]string{30: "/home/u/make.py", 10: "/home/u/main.py"} {
		p := testkit.NewProgram()
		for pid := range 3 {
			q := p.Add(model.RoleOther, 200+pid)
			for range 30 {
				idle := testkit.Native(100-busy, top, simulate, get) // ready to run, but not run: a machine with few cores
				q.Do(testkit.Python(busy, top, simulate), idle)
			}
		}
		p.Steps(20, model.PhaseBaseline, computes, testkit.Blocked(40, top, work, get))
		res := findings(t, p.S)
		if len(res.Findings) == 0 || res.Findings[0].Sub != "queue" || res.Findings[0].Where.File != want {
			t.Fatalf("%d %% busy: found %v, want input/queue at %s", busy, res.Findings, want)
		}
		if f := res.Findings[0]; busy == 30 && (f.Where.Process != "3 processes" ||
			!strings.Contains(f.Evidence[1].String(), "3 processes at work ")) {
			t.Errorf("says %q of %q", f.Evidence[1].String(), f.Where.Process)
		}
	}
}

// A server that waits in its loop is idle by right, unless somebody of its own run keeps it waiting.
func TestNoDemand(t *testing.T) {
	loop := testkit.Frame{File: "/usr/lib/python3.13/asyncio/base_events.py", Function: "BaseEventLoop._run_once", First: 1900, Line: 1990}
	poll := testkit.Frame{File: "/usr/lib/python3.13/selectors.py", Function: "EpollSelector.select", First: 450, Line: 460}
	p := testkit.NewProgram()
	p.Do(testkit.Blocked(3000, top, loop, poll), testkit.Native(300, top, work))
	res := findings(t, p.S)
	if len(res.Findings) != 1 || res.Findings[0].Cause != finding.NoDemand || res.Findings[0].Run.High != 0 {
		t.Errorf("found %v, want no-demand alone, without a saving", res.Findings)
	}
	q := testkit.NewProgram()
	q.Add(model.RoleOther, 200).Do(testkit.Python(3300, top, metric))
	q.Do(testkit.Blocked(3000, top, loop, poll), testkit.Native(300, top, work))
	if res := findings(t, q.S); len(res.Findings) == 0 || res.Findings[0].Cause != finding.Input {
		t.Errorf("found %v, want a wait for the other process", res.Findings)
	}
}

// Others' use of a device is named where the program uses it.
func TestSharedDevice(t *testing.T) {
	half := 0.5
	p := sick()
	p.S.Environment.GPUs = []model.GPU{{Name: "Accelerator", UtilisationByOthersPart: &half}}
	if res := findings(t, p.S); has(res, finding.Machine) {
		t.Errorf("claims a shared device for a program that uses none")
	}
	for i := range p.P.Steps {
		p.P.Steps[i].DeviceDur = 50e6
	}
	if res := findings(t, p.S); !has(res, finding.Machine) {
		t.Errorf("found %v, want machine/gpu-shared", res.Findings)
	}
}

func has(res Result, id string) bool {
	for _, f := range res.Findings {
		if f.Cause == id {
			return true
		}
	}
	return false
}

// A finding that claims more than the account has of its time shrinks without a word about others; one whose time another has says so.
func TestSettledClaims(t *testing.T) {
	l := newBook(&account.Breakdown{Parts: []account.Part{{ID: account.PartIO, Time: 50}}})
	for _, elsewhere := range []bool{false, true} {
		f := finding.Finding{Step: finding.Bounds(100, 100, 100), Booked: finding.Parts{account.PartIO: 100}}
		l.settle(&f)
		if said := len(f.Evidence) > 0; said != elsewhere || f.Step.Mid > 50 {
			t.Errorf("evidence %v, saving %v", f.Evidence, f.Step)
		}
	}
}
