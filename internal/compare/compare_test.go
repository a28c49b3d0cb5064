package compare

import (
	"bottleneck/internal/report"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func ptr[T any](v T) *T { return &v }

// steadyRun is a run of 200 steps of that many milliseconds.
func steadyRun(ms float64) *report.Report {
	return &report.Report{
		Run: &report.Run{Command: []string{"python", "train.py"}, WallS: ms / 5},
		Steps: []report.StepKind{
			{Kind: "train", Source: "optimizer", Count: 200, Baseline: &report.Quantiles{Count: 180, MedianMs: ms, ErrorMs: ptr(ms / 500)},
				Items: ptr(32.0)},
		},
		Account:   &report.Account{Unit: "step", TotalMs: ms},
		Breakdown: []report.Part{{Part: "CPU operators", Ms: 0.7 * ms}, {Part: "Python", Ms: 0.2 * ms}, {Part: "unknown", Ms: 0.1 * ms}},
		KeyAverages: []report.OpRow{{Name: "aten::mm", Count: 40, SelfCPUUs: 400 * ms, DeviceType: "cpu"},
			{Name: "aten::add", Count: 20, SelfCPUUs: 100 * ms, DeviceType: "cpu"}},
		Counts: &report.Counts{
			Per: "step", Steps: 10, Rows: []report.CountRow{count("operators", "", 6), count("op", "aten::mm", 4),
				count("op", "aten::add", 2)},
		},
	}
}

func count(kind, name string, n float64) report.CountRow {
	return report.CountRow{Kind: kind, Name: name, Per: "step", Unit: "calls", Value: n, Low: n, High: n, Exact: true}
}

// runsOf is a side of runs with those times.
func runsOf(path string, ms ...float64) Side {
	s := Side{Path: path}
	for _, v := range ms {
		s.Runs = append(s.Runs, Run{Report: steadyRun(v)})
	}
	return s
}

func mustDiff(t *testing.T, a, b Side, opt Options) *report.Diff {
	t.Helper()
	d, err := Diff(a, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, d)
	return d
}

// checkSums asks that the rows of every kind sum to the step's difference, and each row to its two parts.
func checkSums(t *testing.T, d *report.Diff) {
	t.Helper()
	sums, sizes := map[string]float64{}, map[string]float64{}
	for _, r := range d.Rows {
		sums[r.Kind] += r.DifferenceMs
		sizes[r.Kind] += math.Abs(r.DifferenceMs) + r.Before.Ms + r.After.Ms
		if r.CallsMs != nil && math.Abs(*r.CallsMs+*r.PriceMs-r.DifferenceMs) > 1e-9*(math.Abs(*r.CallsMs)+math.Abs(*r.PriceMs)+1e-12) {
			t.Errorf("%s %s: %v more calls and %v dearer calls are not %v", r.Kind, r.Name, *r.CallsMs, *r.PriceMs, r.DifferenceMs)
		}
	}
	for kind, sum := range sums {
		if scale := sizes[kind] + d.Step.BeforeMs; math.Abs(sum-d.Step.DifferenceMs) > 1e-9*scale {
			t.Errorf("%s: rows sum to %v, the step differs by %v", kind, sum, d.Step.DifferenceMs)
		}
	}
}

func TestVerdicts(t *testing.T) {
	base := []float64{10, 10.05, 9.95, 10.02, 9.98, 10.01, 10.03, 9.97}
	times := func(factor float64) []float64 {
		out := make([]float64, len(base))
		for i, v := range base {
			out[i] = factor*v + 0.001*float64(i)
		}
		return out
	}
	for _, c := range []struct {
		a, b    []float64
		verdict string
		starts  string
	}{
		{base, times(1.03), report.Slower, "slower by "},
		{base, times(0.9), report.Faster, "faster by "},
		{base, times(1.001), report.Equal, "equal within "},
		{[]float64{10, 12, 9, 11}, []float64{11, 9, 13, 10}, report.Undecided, "cannot say: these runs could only show "},
		// not even twice the time: three a side decide nothing
		{base[:3], times(2)[:3], report.Undecided, "cannot say: 3 runs against 3 runs could only show "},
		{base[:1], times(1.5)[:1], report.Undecided, "cannot say: one run against one run could only show "},
	} {
		d := mustDiff(t, runsOf("a", c.a...), runsOf("b", c.b...), Options{})
		if d.Verdict != c.verdict || !strings.HasPrefix(d.Sentence, c.starts) {
			t.Errorf("%v against %v: %s: %s", c.a, c.b, d.Verdict, d.Sentence)
		}
		if d.SmallestMs == nil || *d.SmallestMs <= 0 {
			t.Errorf("%v against %v: the smallest difference that could be shown is missing", c.a, c.b)
		}
		if few := len(c.a) < 4; few == d.NoiseCovered || few && (d.MoreRuns == nil || *d.MoreRuns < 1 || d.Step.LowMs != nil) {
			t.Errorf("%v against %v: noise covered %v, more runs %v", c.a, c.b, d.NoiseCovered, d.MoreRuns)
		}
	}
}

// TestMoreRunsShow asks that as many runs as are asked for do show the difference, half of the time at least.
func TestMoreRunsShow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(n int, mean float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = mean * (1 + 0.02*r.NormFloat64())
		}
		return out
	}
	n, ok := moreRuns(draw(200, 10), draw(200, 10), 0.2, independent)
	if ok || n != 0 {
		t.Errorf("200 runs a side that spread by 2 %% need %d more to show 2 %%", n)
	}
	more := 0
	for range 50 {
		n, _ := moreRuns(draw(4, 10), draw(4, 10), 0.2, independent)
		more += n + 4
	}
	shown := 0
	for range 300 {
		if s, _ := shift(draw(more/50, 10), draw(more/50, 10.2)); differs(s) {
			shown++
		}
	}
	if shown < 135 {
		t.Errorf("%d runs a side show 2 %% in %d of 300", more/50, shown)
	}
}

// TestFalseAlarms draws sides of the same distribution: normal, and heavy-tailed with neighbours alike.
func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	draws := map[string]func() float64{
		"normal": func() float64 { return 10 + 0.15*r.NormFloat64() },
		"heavy":  func() float64 { return 10 * math.Exp(0.05*math.Abs(r.NormFloat64()/(0.3+r.Float64()))) },
	}
	for name, draw := range draws {
		for _, n := range []int{4, 5, 8, 12} {
			false1, rounds := 0, 4000
			for range rounds {
				a, b := make([]float64, n), make([]float64, n)
				for i := range a {
					a[i], b[i] = draw(), draw()
				}
				if s, _ := shift(a, b); differs(s) {
					false1++
				}
			}
			if share := float64(false1) / float64(rounds); share > 0.014 { // 1 % and what 4,000 draws leave open
				t.Errorf("%s, %d runs a side: %.2f %% of equal sides are called different", name, n, 100*share)
			}
		}
	}
}

func TestRowsAreJudgedTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	judged := func(factor float64) (different int) {
		sides := [2]Side{{Path: "a"}, {Path: "b"}}
		for side := range sides {
			for range 8 {
				rep := steadyRun(10)
				for i := range 40 {
					us := 1000 * (1 + 0.02*r.NormFloat64())
					if side == 1 && i == 0 {
						us *= factor
					}
					rep.KeyAverages = append(rep.KeyAverages, report.OpRow{Name: fmt.Sprint("op", i), Count: 10,
						SelfCPUUs: us, DeviceType: "cpu"})
				}
				sides[side].Runs = append(sides[side].Runs, Run{Report: rep})
			}
		}
		for _, row := range mustDiff(t, sides[0], sides[1], Options{}).Rows {
			if row.Kind == "operator" && row.Different {
				different++
			}
		}
		return different
	}
	wrong := 0
	for range 50 {
		wrong += judged(1)
	}
	if wrong > 1 {
		t.Errorf("%d of 50 × 42 rows without a difference have one", wrong)
	}
	if n := judged(1.3); n != 1 {
		t.Errorf("%d rows differ, one should", n)
	}
}

func TestCountersDecideAtOnce(t *testing.T) {
	a, b := runsOf("a", 10), runsOf("b", 10)
	rep := b.Runs[0].Report
	rep.Counts.Rows = append(rep.Counts.Rows, count("op", "aten::item", 1))
	rep.Counts.Rows[0] = count("operators", "", 7)
	a.Runs[0].Sources = map[string][]string{"/x/train.py": {"def step():", "    loss = f()", "    return loss"}}
	b.Runs[0].Sources = map[string][]string{"/y/train.py": {"def step():", "    loss = f()", "    seen = loss.item()", "    return loss"}}
	d := mustDiff(t, a, b, Options{})
	if !strings.Contains(d.Sentence, "1 more aten::item a step at train.py:3") {
		t.Error(d.Sentence)
	}
	for _, c := range d.Counters {
		if c.Different != (c.Name == "aten::item" || c.Kind == "operators") {
			t.Errorf("%+v", c)
		}
	}
	// of several that one line brings, the one that is written there stands first: a clone copies
	c := runsOf("c", 10)
	c.Runs[0].Report.Counts.Rows = append(c.Runs[0].Report.Counts.Rows, count("op", "aten::copy_", 1), count("op", "aten::clone", 1))
	c.Runs[0].Sources = map[string][]string{"/y/train.py": {"def step():", "    loss = f()", "    seen = loss.clone()", "    return loss"}}
	if d := mustDiff(t, a, c, Options{}); !strings.Contains(d.Sentence, "1 more aten::clone a step at train.py:3") {
		t.Error(d.Sentence)
	}
	// a count that varies from step to step decides only where the sides have none in common
	rep.Counts.Rows[1] = report.CountRow{Kind: "op", Name: "aten::mm", Per: "step", Unit: "calls", Value: 5, Low: 4, High: 6, Exact: true}
	for _, c := range mustDiff(t, a, b, Options{}).Counters {
		if c.Name == "aten::mm" && c.Different {
			t.Errorf("%+v", c)
		}
	}
	// what one side cannot count is not 0 there
	a.Runs[0].Report.Counts.Rows = append(a.Runs[0].Report.Counts.Rows, count("launches", "", 3))
	for _, c := range mustDiff(t, a, b, Options{}).Counters {
		if c.Kind == "launches" {
			t.Errorf("only one side knows of launches: %+v", c)
		}
	}
}

const before = `import helpers

def load(path):
    with open(path) as f:
        return f.read()

def crunch(x):
    y = x + 1
    y = y * 2
    return y

for i in range(9):
    crunch(load("a"))
`

// TestMovedAndRenamedIsNoChange: crunch has a new name and stands before load, and both are in another file.
func TestMovedAndRenamedIsNoChange(t *testing.T) {
	after := `import helpers
# a comment

def grind(x):

    y = x + 1
    y = y * 2
    return y

def load(path):
    with open(path) as f:
        return f.read()

for i in range(9):
    grind(load("a"))
`
	lines := func(src, file, name string, numbers ...int) *report.Python {
		text := strings.Split(src, "\n")
		p := &report.Python{ScopeS: 10}
		for i, n := range numbers {
			p.Lines = append(p.Lines, report.LineRow{File: file, Line: n, Function: "f", SelfS: float64(i + 1),
				Source: strings.TrimSpace(text[n-1])})
		}
		p.Functions = []report.FuncRow{{File: file, Line: numbers[0] - 1, Function: name, SelfS: 3}}
		return p
	}
	a, b := runsOf("a", 10), runsOf("b", 10)
	a.Runs[0].Report.Python, b.Runs[0].Report.Python = lines(before, "/a/train.py", "crunch", 8, 9, 4, 13),
		lines(after, "/b/train.py", "grind", 6, 7, 11, 15)
	a.Runs[0].Report.Python.Functions[0].Line, b.Runs[0].Report.Python.Functions[0].Line = 7, 4
	a.Runs[0].Sources = map[string][]string{"/a/train.py": strings.Split(before, "\n")}
	b.Runs[0].Sources = map[string][]string{"/b/train.py": strings.Split(after, "\n")}
	d := mustDiff(t, a, b, Options{})
	lineRows, functionRows := 0, 0
	for _, r := range d.Rows {
		if math.Abs(r.DifferenceMs) > 1e-9 {
			t.Errorf("%+v", r)
		}
		if r.Kind == "line" && r.Name != unexplained {
			lineRows++
		}
		if r.Kind == "function" && r.Name != unexplained {
			functionRows++
			if r.Was != "crunch" || r.Name != "grind" {
				t.Errorf("%q was %q", r.Name, r.Was)
			}
		}
	}
	if lineRows != 4 || functionRows != 1 {
		t.Errorf("%d rows of lines, %d of functions", lineRows, functionRows)
	}
	tx := relate(userSources(a), userSources(b))
	if len(tx.added)+len(tx.removed) != 0 {
		t.Errorf("added %v, removed %v", tx.added, tx.removed)
	}
}

func TestChangedLines(t *testing.T) {
	after := strings.Replace(before, "    y = y * 2\n", "    y = y * 3\n    z = y.clone()\n", 1)
	tx := relate(map[string][]string{"t.py": strings.Split(before, "\n")}, map[string][]string{"t.py": strings.Split(after, "\n")})
	if fmt.Sprint(tx.added, tx.removed) != "[{t.py 9} {t.py 10}] [{t.py 9}]" {
		t.Errorf("added %v, removed %v", tx.added, tx.removed)
	}
	if was := tx.lineBefore[place{"t.py", 11}]; was.line != 10 {
		t.Errorf("line 11 was %v", was)
	}
}

// TestOperatorsWithoutCounterpart are matched by the narrowest caller that both sides have.
func TestOperatorsWithoutCounterpart(t *testing.T) {
	a, b := runsOf("a", 10), runsOf("b", 9)
	add := func(s Side, name string, us float64, under ...string) {
		r := s.Runs[0].Report
		r.KeyAverages = append(r.KeyAverages, report.OpRow{Name: name, Count: 10, SelfCPUUs: us, DeviceType: "cpu"})
		row := count("op", name, 1)
		row.Under = under
		r.Counts.Rows = append(r.Counts.Rows, row)
	}
	add(a, "aten::_foreach_add_", 3000, "step", "Adam")
	add(a, "aten::_foreach_mul_", 2000, "step", "Adam")
	add(b, "aten::_fused_adam_", 1000, "step", "Adam")
	add(b, "aten::other", 500, "elsewhere")
	d := mustDiff(t, a, b, Options{})
	found := 0
	for _, r := range d.Rows {
		switch r.Name {
		case "aten::_fused_adam_":
			found++
			if r.Was != "aten::_foreach_add_, aten::_foreach_mul_" || r.Under != "in step › Adam" || math.Abs(r.DifferenceMs+0.4) > 1e-9 {
				t.Errorf("%+v", r)
			}
		case "aten::other":
			found++
			if r.Was != "" || r.Before.Ms != 0 {
				t.Errorf("%+v", r)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 rows", found)
	}
}

func TestKernelNames(t *testing.T) {
	for _, pair := range [][2]string{
		{"ampere_sgemm_128x64_tn", "ampere_sgemm_32x128_nn"},
		{"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_stage5_warpsize2x2x1_tensor16x8x16_kernel",
			"sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x64x64_stage3_warpsize2x2x1_tensor16x8x16_kernel"},
		{"triton_poi_fused_add_relu_3", "triton_poi_fused_add_relu_12"},
		{"volta_scudnn_128x32_relu_interior_nn_v1", "volta_scudnn_128x64_relu_interior_nn_v1"},
	} {
		if a, b := kernelName(pair[0]), kernelName(pair[1]); a != b {
			t.Errorf("%s and %s", a, b)
		}
	}
	if a, b := kernelName("triton_poi_fused_add_3"), kernelName("triton_poi_fused_mul_3"); a == b {
		t.Errorf("%s and %s are one", a, b)
	}
}

func TestUnlikeSidesAreRefused(t *testing.T) {
	other := func(change func(*report.Report)) Side {
		s := runsOf("b", 10)
		change(s.Runs[0].Report)
		return s
	}
	foreign := func(r *report.Report) {
		r.Run.Command[1] = "serve.py"
		r.KeyAverages = []report.OpRow{{Name: "aten::conv2d", Count: 10, SelfCPUUs: 1000, DeviceType: "cpu"}}
	}
	for name, c := range map[string]struct {
		change func(*report.Report)
		says   string
	}{
		"program": {foreign, "train.py and serve.py"},
		"batch":   {func(r *report.Report) { r.Steps[0].Items = ptr(64.0) }, "--per item"},
		"kind":    {func(r *report.Report) { r.Steps[0].Kind = "validation" }, "train and validation"},
		"ranks":   {func(r *report.Report) { r.Ranks = make([]report.Rank, 8) }, "1 and 8"},
	} {
		d := mustDiff(t, runsOf("a", 10), other(c.change), Options{})
		if d.Verdict != report.Unlike || !strings.Contains(d.Sentence, c.says) || len(d.Rows) > 0 {
			t.Errorf("%s: %s: %s", name, d.Verdict, d.Sentence)
		}
		if d := mustDiff(t, runsOf("a", 10), other(c.change), Options{Anyway: true}); d.Verdict == report.Unlike || len(d.Rows) == 0 {
			t.Errorf("%s: --anyway does not compare", name)
		}
	}
	same := mustDiff(t, runsOf("a", 10), other(func(r *report.Report) { r.Run.Command = []string{"python3", "/copy/of/train.py"} }),
		Options{})
	if same.Verdict == report.Unlike {
		t.Error(same.Sentence)
	}
	// A fix that takes away what took nearly all of the time is no other program, where the text says so.
	a, b := runsOf("a", 10), runsOf("b", 1)
	b.Runs[0].Report.KeyAverages = []report.OpRow{{Name: "aten::conv2d", Count: 10, SelfCPUUs: 1000, DeviceType: "cpu"}}
	if d := mustDiff(t, a, b, Options{}); d.Verdict != report.Unlike {
		t.Errorf("nothing in common, and no text: %s", d.Sentence)
	}
	a.Runs[0].Sources = map[string][]string{"/a/train.py": {"import torch", "loader = slow()", "train(loader)"}}
	b.Runs[0].Sources = map[string][]string{"/b/train.py": {"import torch", "loader = fast()", "train(loader)"}}
	if d := mustDiff(t, a, b, Options{}); d.Verdict == report.Unlike {
		t.Error(d.Sentence)
	}
	b.Runs[0].Sources = map[string][]string{"/b/train.py": {"import jax", "serve()"}}
	if d := mustDiff(t, a, b, Options{}); d.Verdict != report.Unlike {
		t.Errorf("other texts of one name: %s", d.Sentence)
	}
}

func TestUnits(t *testing.T) {
	b := runsOf("b", 18)
	b.Runs[0].Report.Steps[0].Items = ptr(64.0)
	d := mustDiff(t, runsOf("a", 10), b, Options{Per: "item"})
	if math.Abs(d.Step.BeforeMs-10.0/32) > 1e-12 || math.Abs(d.Step.AfterMs-18.0/64) > 1e-12 {
		t.Errorf("%+v", d.Step)
	}
	if _, err := Diff(runsOf("a", 10), b, Options{Per: "token"}); err == nil || !strings.Contains(err.Error(), "aten::embedding") {
		t.Errorf("%v", err)
	}
	for _, s := range []Side{b} {
		r := s.Runs[0].Report
		r.KeyAverages = append(r.KeyAverages, report.OpRow{Name: "aten::embedding", Count: 10, SelfCPUUs: 1, DeviceType: "cpu",
			InputShapes: "[[50257, 768], [8, 128], [], [], []]"})
		r.Counts.Rows = append(r.Counts.Rows, count("op", "aten::embedding", 1))
		if n := tokens(r); n != 1024 {
			t.Errorf("%v tokens", n)
		}
	}
	if d := mustDiff(t, runsOf("a", 10), runsOf("b", 12), Options{Per: "run"}); d.Step.BeforeMs != 2000 || d.Step.AfterMs != 2400 {
		t.Errorf("%+v", d.Step)
	}
}

func TestNothingInCommon(t *testing.T) {
	empty := Side{Path: "empty", Runs: []Run{{Report: &report.Report{}}}}
	if _, err := Diff(runsOf("a", 10), empty, Options{}); err == nil || !strings.Contains(err.Error(), "empty has no times") {
		t.Errorf("%v", err)
	}
	noSteps := runsOf("b", 10)
	noSteps.Runs[0].Report.Steps = nil
	d := mustDiff(t, runsOf("a", 10), noSteps, Options{})
	if d.Per != "run" || !strings.Contains(strings.Join(d.Notes, "\n"), "b has no steps") {
		t.Errorf("per %s: %v", d.Per, d.Notes)
	}
	if _, err := Diff(runsOf("a", 10), noSteps, Options{Per: "step"}); err == nil || !strings.Contains(err.Error(), "--per run") {
		t.Errorf("%v", err)
	}
}

func TestFindingsOfBothSides(t *testing.T) {
	finding := func(cause, file string, line int, ms float64) report.Finding {
		return report.Finding{Cause: cause, Title: cause, Where: report.Where{File: file, Line: line, Function: "f", Source: "x"},
			Saving: &report.Saving{StepMs: &report.Range{Mid: ms}, RunS: &report.Range{Mid: ms}}}
	}
	a, b := runsOf("a", 10), runsOf("b", 10)
	a.Runs[0].Report.Findings = []report.Finding{finding("sync", "/a/t.py", 3, 2), finding("gone", "/a/t.py", 9, 1)}
	b.Runs[0].Report.Findings = []report.Finding{finding("new", "/b/t.py", 1, 5), finding("sync", "/b/t.py", 7, 3)}
	f := mustDiff(t, a, b, Options{}).Findings
	if len(f.Gone) != 1 || len(f.New) != 1 || len(f.Changed) != 1 || f.Gone[0].Cause != "gone" || f.New[0].Cause != "new" {
		t.Fatalf("%+v", f)
	}
	if c := f.Changed[0]; *c.Before != 2 || *c.After != 3 || c.Was == nil || c.Was.Line != 3 || c.Where.Line != 7 {
		t.Errorf("%+v", c)
	}
}
