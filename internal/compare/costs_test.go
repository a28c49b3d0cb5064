package compare

import (
	"bottleneck/internal/report"
	"math"
	"strings"
	"testing"
)

// everyKind is a run whose report has rows of every kind; what grows is ten times as large where more is asked for.
func everyKind(ms, more float64) *report.Report {
	r := steadyRun(ms)
	r.Counts = nil // sums over traces are of Traced.Count steps
	r.Steps[0].Traced = &report.Quantiles{Count: 2, MedianMs: ms}
	line := report.LineRow{File: "/x/t.py", Line: 3, Function: "f", SelfS: 2 * more, Source: "g()"}
	r.Python = &report.Python{ScopeS: 10, Lines: []report.LineRow{line},
		Functions: []report.FuncRow{{File: "/x/t.py", Line: 2, Function: "f", SelfS: 3 * more}}}
	r.Kernels = []report.KernelRow{{Name: "gemm", Count: 4, DeviceUs: 100 * more}}
	r.Communication = []report.CommRow{{Op: "all_reduce", Group: "dp", Dtype: "float", Count: 6, DeviceUs: 50 * more,
		WaitUs: ptr(20 * more)}}
	r.GPU = []report.GPURow{{IdleByCause: []report.IdleRow{{Cause: "launch", Us: 30 * more, Gaps: 8}}}}
	r.Loaders = []report.Loader{{Dataset: "Rows", Batches: 200, WaitMs: more}}
	decode := report.StageRow{Name: "decode", Ms: 3 * more, File: "/x/t.py", Line: 9}
	r.Workers = []report.Worker{{Batches: 200, FetchMs: 4 * more, Stages: []report.StageRow{decode}}}
	r.Memory = []report.MemoryRow{{Device: "cuda:0", PeakBytes: int64(1000 * more),
		Holders: []report.HolderRow{{Op: "aten::mm", Phase: "forward", Bytes: int64(600 * more)}}}}
	r.Tables = []report.Table{{Name: "modules", Columns: []report.TableColumn{{Name: "module"}, {Name: "calls"}, {Name: "self CPU"}},
		Rows: []report.TableRow{{Cells: []report.TableCell{{Text: "Net.fc"}, {Value: ptr(2.0)}, {Value: ptr(40 * more)}}}}}}
	return r
}

// TestEveryKindHasAnAccount: each kind of rows has the one that grew, in milliseconds of a step, and sums to the step's difference.
func TestEveryKindHasAnAccount(t *testing.T) {
	a, b := Side{Path: "a", Runs: []Run{{Report: everyKind(10, 1)}}}, Side{Path: "b", Runs: []Run{{Report: everyKind(12, 10)}}}
	d := mustDiff(t, a, b, Options{}) // which checks the sums
	want := map[[2]string]float64{    // the growth, ninefold, of a step
		{"line", "t.py:3"}:                       (20*12 - 2*10) / 10., // seconds of ten are shares of the step
		{"function", "f"}:                        (30*12 - 3*10) / 10.,
		{"kernel", "gemm"}:                       9 * 0.1 / 2,
		{"collective", "all_reduce float in dp"}: 9 * 0.05 / 2,
		{"wait", "for other ranks: all_reduce"}:  9 * 0.02 / 2,
		{"wait", "GPU idle: launch"}:             9 * 0.03 / 2,
		{"wait", "for batches of Rows"}:          9,
		{"worker", "decode"}:                     27,
		{"worker", "the rest of fetching"}:       9,
		{"module", "Net.fc"}:                     9 * 0.04 / 2,
		{"part", "CPU operators"}:                0.7 * 2,
		{"operator", "aten::mm"}:                 400 * 2 / 1e3 / 2,
	}
	last := map[string]float64{}
	for _, r := range d.Rows {
		key := [2]string{r.Kind, r.Name}
		if ms, has := want[key]; has {
			if math.Abs(r.DifferenceMs-ms) > 1e-9 {
				t.Errorf("%v: %v ms, want %v", key, r.DifferenceMs, ms)
			}
			delete(want, key)
		}
		if size := math.Abs(r.DifferenceMs); r.Name != unexplained {
			if before, has := last[r.Kind]; has && size > before {
				t.Errorf("%v is larger than the row before it", key)
			}
			last[r.Kind] = size
		}
	}
	for key := range want {
		t.Errorf("no row %v", key)
	}
	memory := map[string]int64{}
	for _, m := range d.Memory {
		memory[m.Name] = m.Difference
	}
	if memory["peak"] != 9000 || memory["forward aten::mm"] != 5400 || memory[unexplained] != 3600 {
		t.Errorf("memory: %v", memory)
	}
}

// TestTunedKernelsAreOneRow: a tuner chose another kernel for one operator, and other tiles for the next; neither is gone or new.
func TestTunedKernelsAreOneRow(t *testing.T) {
	side := func(path string, mm, tiles string, us float64) Side {
		s := runsOf(path, 10)
		s.Runs[0].Report.Kernels = []report.KernelRow{
			{Name: mm, Count: 4, DeviceUs: us, Launcher: report.Where{Op: "aten::mm", File: "/x/t.py", Line: 4}},
			{Name: "cutlass_gemm_" + tiles, Count: 4, DeviceUs: 2 * us, Launcher: report.Where{Op: "aten::addmm"}}}
		return s
	}
	kernels := map[string]report.DiffRow{}
	for _, r := range mustDiff(t, side("a", "ampere_sgemm_128x64_tn", "128x128_32x3", 1000),
		side("b", "sm80_xmma_gemm_f32f32", "64x64_64x5", 2000), Options{}).Rows {
		if r.Kind == "kernel" && r.Name != unexplained {
			kernels[r.Name] = r
		}
	}
	if len(kernels) != 2 {
		t.Fatalf("%d rows of two kernels: %+v", len(kernels), kernels)
	}
	for name, r := range kernels {
		if r.Before.Ms == 0 || math.Abs(r.After.Ms-2*r.Before.Ms) > 1e-9 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := kernels["sm80_xmma_gemm_f32f32"]; r.Was != "ampere_sgemm" || r.Under != "of aten::mm" {
		t.Errorf("%q was %q under %q", r.Name, r.Was, r.Under)
	}
}

// TestEveryCounterDecides: one more of whatever is counted exactly differs with one run a side; what is not exact needs more of them.
func TestEveryCounterDecides(t *testing.T) {
	for _, kind := range counterKinds {
		name := ""
		if kind == "op" || strings.HasPrefix(kind, "file") {
			name = "a"
		}
		with := func(path string, runs int, n float64, exact bool) Side {
			s := Side{Path: path}
			for range runs {
				r := steadyRun(10)
				row := count(kind, name, n)
				row.Exact = exact
				r.Counts.Rows = []report.CountRow{row}
				s.Runs = append(s.Runs, Run{Report: r})
			}
			return s
		}
		differs := func(runs int, after float64, exact bool) bool {
			d := mustDiff(t, with("a", runs, 3, exact), with("b", runs, after, exact), Options{})
			if len(d.Counters) != 1 || d.Counters[0].Difference != after-3 {
				t.Fatalf("%s: %+v", kind, d.Counters)
			}
			return d.Counters[0].Different
		}
		if !differs(1, 4, true) || !differs(1, 2, true) || differs(1, 3, true) || differs(1, 4, false) || !differs(8, 4, false) {
			t.Errorf("%s: 3 to 4, 3 to 2 differ, 3 to 3 does not, and what is not exact does with eight runs a side", kind)
		}
	}
}
