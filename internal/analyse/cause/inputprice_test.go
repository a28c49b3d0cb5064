package cause

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/input"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

var (
	loopFrame = testkit.Frame{File: "/app/train.py", Function: "train", First: 1, Line: 5}
	itemFrame = testkit.Frame{File: "/app/data.py", Function: "__getitem__", First: 30, Line: 35}
	hotFrame  = testkit.Frame{File: "/app/data.py", Function: "sharpen", First: 10, Line: 15}
)

// besideSteps is a program with one computing thread on two cores, whose three workers prepare batches in Python without a pause, 120 ms
// each: a step of 40 ms waits for so many of them.
func besideSteps(wait int) *testkit.Program {
	const steps, workers, step = 100, 3, 40
	p := testkit.NewProgram()
	p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = 2, "1"
	loader := model.Loader{ID: 3, BatchSize: 16, Workers: workers, Prefetch: 2}
	p.P.Loaders = []model.Loader{loader}
	// a batch is ready when it is asked for, or 1 ms before the wait for it ends
	p.Do(testkit.Blocked(workers*step+1-finding.Btoi(wait > 1)*wait, loopFrame))
	p.Steps(steps, model.PhaseBaseline, testkit.Blocked(wait, loopFrame).In(model.SpanDataWait), testkit.Native(step-wait, loopFrame))
	for i := range workers {
		w := p.Add(model.RoleWorker, 200+i)
		w.P.WorkerIndex, w.P.Loaders = i, []model.Loader{loader}
		w.Do(testkit.Blocked(1+step*i, itemFrame))
		for range steps / workers {
			w.Do(testkit.Python(workers*step, itemFrame, hotFrame).In(model.SpanFetch))
		}
	}
	return p
}

// inputFindings are the waits for data that the rule drafts, before anything is settled.
func inputFindings(c *facts.Facts) []finding.Finding {
	var out []finding.Finding
	for _, d := range input.FindInput(c, nobody{}) {
		d.Booked = d.Claim.Parts
		out = append(out, d.Finding)
	}
	return out
}

// The cores that workers take from the step are priced alike by the rule and by a replay, whether the step waits for them or is only
// slowed: as the threads that want to run share the cores, of which the driving one is none while it waits.
func TestWorkersThatSlowTheStep(t *testing.T) {
	for _, wait := range []int{1, 20} {
		p := besideSteps(wait)
		acc := account.Of(p.S, p.P)
		c := facts.NewFacts(p.S, acc)
		found := inputFindings(c)
		if len(found) != 1 || found[0].Sub != "transform" || found[0].Ask == nil {
			t.Fatalf("a wait of %d ms: findings %+v, want one that asks a replay", wait, found)
		}
		rule := found[0].Step
		res := Result{Findings: found}
		res.PriceInput(c, replay.NewSession(p.S, acc))
		rest := float64(40 - wait)
		want := float64(wait) + rest*replay.Crowded*(1-2/(rest/40+3))
		if got := res.Findings[0].Step; math.Abs(rule.Mid/1e6-want) > 0.05*want || math.Abs(got.Mid/1e6-want) > 0.05*want {
			t.Errorf("a wait of %d ms: the rule says %.1f ms a step, the replay %.1f, want %.1f", wait, rule.Mid/1e6, got.Mid/1e6, want)
		}
	}
}

// What a function made is let go at the line that called it, since its frame is off the stack by then: that time goes with the function's.
// What the line calls itself, and other lines, stay.
func TestLettingGoCountsForTheFunction(t *testing.T) {
	const hot, rest = 40, 10
	for _, c := range []struct {
		name string
		act  testkit.Act
		gone float64 // ms
	}{
		{"at the call", testkit.Python(4, loopFrame, itemFrame), hot + 4},
		{"in another line", testkit.Python(4, loopFrame, testkit.Frame{File: itemFrame.File, Function: itemFrame.Function,
			First: 30, Line: 34}), hot},
		{"in native code", testkit.Native(4, loopFrame, itemFrame), hot},
		{"in what the line calls", testkit.Python(4, loopFrame, itemFrame,
			testkit.Frame{File: "/usr/lib/python3.13/random.py", Function: "random", First: 1, Line: 2}), hot},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Steps(40, model.PhaseBaseline, testkit.Python(hot, loopFrame, itemFrame, hotFrame).In(model.SpanDataWait),
				c.act.In(model.SpanDataWait), testkit.Native(rest, loopFrame))
			acc := account.Of(p.S, p.P)
			ctx := facts.NewFacts(p.S, acc)
			res := Result{Findings: inputFindings(ctx)}
			if len(res.Findings) != 1 || res.Findings[0].Ask == nil {
				t.Fatalf("findings %+v, want one that asks a replay", res.Findings)
			}
			rule := res.Findings[0].Step.Mid
			res.PriceInput(ctx, replay.NewSession(p.S, acc))
			for _, got := range []float64{rule, res.Findings[0].Step.Mid} {
				if want := price.MadeFast.Mid * c.gone * 1e6; math.Abs(got-want) > 0.02*want {
					t.Errorf("%.1f ms a step, want %.1f", got/1e6, want/1e6)
				}
			}
		})
	}
}

// nobody has booked anything.
type nobody struct{ finding.Ledger }

func (nobody) Found(string) bool { return false }
