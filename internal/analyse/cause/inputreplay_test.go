package cause

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A fetch in the step's own process is priced by a replay in which the hot function's time has gone; a session of several ranks
// keeps the rule's price.
func TestInputIsPricedByReplay(t *testing.T) {
	for _, world := range []int{1, 2} {
		p := testkit.NewProgram()
		p.P.WorldSize = world
		loop := testkit.Frame{File: "/app/train.py", Function: "train", First: 1, Line: 5}
		augment := testkit.Frame{File: "/app/data.py", Function: "augment", First: 10, Line: 15}
		p.Steps(20, model.PhaseBaseline, testkit.Python(60, loop, augment).In(model.SpanDataWait), testkit.Native(40, loop))
		acc := account.Of(p.S, p.P)
		c := facts.NewFacts(p.S, acc)
		found := inputFindings(c)
		if len(found) != 1 || found[0].Ask == nil {
			t.Fatalf("findings %+v, want one that asks a replay", found)
		}
		rule := found[0].Step.Mid
		found[0].Step.Mid = 1e6 // to see who sets it
		res := Result{Findings: found}
		res.PriceInput(c, replay.NewSession(p.S, acc))
		found = res.Findings
		want := price.MadeFast.Mid * 60e6
		if world > 1 {
			want = 1e6
		}
		if len(found) != 1 {
			t.Fatalf("world of %d: %d findings are left, want 1", world, len(found))
		}
		if got := found[0].Step.Mid; math.Abs(got-want) > 0.05*want {
			t.Errorf("world of %d: %.1f ms a step, want %.1f (the rule says %.1f)", world, got/1e6, want/1e6, rule/1e6)
		}
	}
}

// Workers for a fetch in native code save what a replay says less their start and the price.Crossing.Mid of batches; where they and the
// step fill the cores, each of these does less than a core whose neighbours are idle.
func TestWorkersThatFillTheCores(t *testing.T) {
	const steps, fetch, rest = 200, 20, 6
	for _, c := range []struct {
		cpus, workers int
		after         float64 // ms a step
	}{
		{2, 2, (fetch + rest) / 2.0 / price.FullCores.Mid},
		{16, 4, rest},
	} {
		p := testkit.NewProgram()
		p.S.Environment.CPUs, p.S.Environment.Threads["torch.get_num_threads"] = c.cpus, "1"
		p.P.Loaders = []model.Loader{{ID: 3, BatchSize: 32}}
		loop := testkit.Frame{File: "/app/train.py", Function: "train", First: 1, Line: 5}
		p.Steps(steps, model.PhaseBaseline, testkit.Native(fetch, loop,
			testkit.Frame{File: "/app/data.py", Function: "unpack", First: 10, Line: 15}).In(model.SpanDataWait),
			testkit.Native(rest, loop))
		for _, sp := range p.P.Spans {
			sp.Kind = model.SpanFetch
			p.P.Spans = append(p.P.Spans, sp)
		}
		acc := account.Of(p.S, p.P)
		ctx := facts.NewFacts(p.S, acc)
		found := inputFindings(ctx)
		if len(found) != 1 || found[0].Sub != "workers" || found[0].Ask == nil || found[0].Ask.Workers != c.workers {
			t.Fatalf("%d cores: %+v, want %d workers", c.cpus, found, c.workers)
		}
		rule := found[0].Step
		res := Result{Findings: found}
		res.PriceInput(ctx, replay.NewSession(p.S, acc))
		got := res.Findings[0].Step
		want := fetch + rest - c.after - price.Crossing.Mid*fetch/min(float64(c.workers), float64(c.cpus)) -
			float64(c.workers)*price.StartWorker.Mid/1e6/steps/min(float64(c.workers), float64(c.cpus))
		if math.Abs(got.Mid/1e6-want) > 0.05*want || math.Abs(rule.Mid-got.Mid) > 0.12*got.Mid {
			t.Errorf("%d cores: %.1f ms a step (the rule says %.1f), want %.1f", c.cpus, got.Mid/1e6, rule.Mid/1e6, want)
		}
		if got.Low > 0.85*got.Mid || got.High < got.Mid {
			t.Errorf("%d cores: bounds %+v", c.cpus, got)
		}
	}
}

// Workers that are no copies of the program's process import what it does before they fetch: as long as that took in this run. Until
// Python 3.13 they are copies.
func TestWorkersThatImportAnewCostTheImports(t *testing.T) {
	saved := map[string]float64{}
	for _, python := range []string{"3.13.2", "3.14.0"} {
		p := testkit.NewProgram()
		p.S.Environment.CPUs, p.P.Python = 8, python
		p.P.Loaders = []model.Loader{{ID: 3, BatchSize: 32}}
		loop := testkit.Frame{File: "/app/train.py", Function: "train", First: 1, Line: 5}
		imports := p.T
		p.T += 2_000_000_000
		p.P.Imports = []model.Span{{Kind: model.SpanImport, Thread: p.P.PID, Start: imports, End: p.T}}
		fetch := testkit.Frame{File: "/lib/torch/utils/data/_utils/fetch.py", Function: "fetch", First: 1, Line: 2}
		p.Steps(100, model.PhaseBaseline, testkit.Native(60, loop, fetch).In(model.SpanDataWait), testkit.Native(60, loop))
		for _, sp := range p.P.Spans {
			sp.Kind = model.SpanFetch
			p.P.Spans = append(p.P.Spans, sp)
		}
		found := inputFindings(facts.NewFacts(p.S, account.Of(p.S, p.P)))
		if len(found) != 1 || found[0].Sub != "workers" {
			t.Fatalf("findings %+v, want input/workers", found)
		}
		saved[python] = found[0].Run.Mid
	}
	if less := (saved["3.13.2"] - saved["3.14.0"]) / 1e9; less < 0.5 || less > 2 {
		t.Errorf("workers that import for 2 s save %.2f s less than copies do, want 0.5 to 2 s", less)
	}
}
