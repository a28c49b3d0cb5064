package tables

import (
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// compiledTrace is a step with one region of two graphs, of which one is called twice and launches a Triton kernel each time.
func compiledTrace() *slowtrace.Builder {
	b := &slowtrace.Builder{}
	b.Add("cpu_op", "Torch-Compiled Region: 2/1", 1, 1, 0, 100, "")
	b.Add("cpu_op", "## Call CompiledFxGraph fabcdefghijklmnop ##", 1, 1, 10, 40, "")
	b.Add("cpu_op", "triton_poi_fused_add_0", 1, 1, 12, 30, "")
	b.Launch("cuLaunchKernel", 15, 20, "kernel", "triton_poi_fused_add_0", 7, 50, 60)
	b.Add("cpu_op", "## Call CompiledFxGraph fabcdefghijklmnop ##", 1, 1, 45, 70, "")
	b.Add("cpu_op", "aten::mm", 1, 1, 46, 69, "")
	b.Launch("cudaLaunchKernel", 50, 55, "kernel", "sgemm", 7, 60, 90)
	b.Add("cpu_op", "aten::add", 1, 1, 120, 140, "")
	b.Launch("cudaLaunchKernel", 125, 130, "kernel", "outside", 7, 150, 160)
	return b
}

func TestCompiledRegions(t *testing.T) {
	tr, s := compiledTrace().Trace()
	rows := compiledRows(tr, s)
	if len(rows) != 2 {
		t.Fatalf("%d rows, want the region and its graph", len(rows))
	}
	want := map[string][]float64{ // calls, host ns, device ns, share of 50 µs, work, share of Triton, recompiled
		"Torch-Compiled Region: 2/1": {1, 100e3, 40e3, 0.8, 2, 0.25, 1},
		"graph fabcdefghijk":         {2, 55e3, 40e3, 0.8, 2, 0.25, 0},
	}
	for _, row := range rows {
		numbers := want[strings.TrimSpace(row[0].Text)]
		if numbers == nil {
			t.Fatalf("a row of %q", row[0].Text)
		}
		for i, v := range numbers {
			if row[i+1].Number != v {
				t.Errorf("%s, %s: %v, want %v", row[0].Text, compiledRegions.Columns[i+1].Name, row[i+1].Number, v)
			}
		}
	}
	if !rows[1][7].None && !rows[0][7].None {
		t.Error("a graph's hash tells no recompilation")
	}
}

func TestTritonKernels(t *testing.T) {
	tr, s := compiledTrace().Trace()
	for i := range tr.Events.Len() { // the slow reader leaves out what it has no use for
		if tr.Events.Kind[i] == model.KindOp && s.Text(tr.Events.Name[i]) == "triton_poi_fused_add_0" {
			tr.Events.Detail[i] = int32(len(tr.Events.OpDetails))
			tr.Events.OpDetails = append(tr.Events.OpDetails, model.OpDetail{Args: uint32(len(tr.Events.OpArgs))})
			tr.Events.OpArgs = append(tr.Events.OpArgs, model.OpArgs{Extra: s.Intern(
				`{"kernel_backend": "triton", "kernel_file": "/tmp/k/abc.py", "kernel_kwargs": "XBLOCK=256", "num_warps": 4}`)})
		}
	}
	rows := tritonRows(tr, s)
	if len(rows) != 1 || rows[0][1].Number != 1 || rows[0][2].Number != 10e3 || rows[0][5].Text != "/tmp/k/abc.py" ||
		rows[0][4].Text != "XBLOCK=256,num_warps=4" {
		t.Errorf("%+v", rows)
	}
}

// Every row of every such analysis has the cells that its columns promise, on every real trace, and no number is absurd.
func TestTableAnalyses(t *testing.T) {
	for _, a := range All() {
		if a.Name == "" || a.Name != strings.ToLower(a.Name) || a.Title == "" || a.Needs == "" || len(a.Columns) == 0 ||
			a.Columns[0].Unit != UnitText {
			t.Errorf("%q lacks a name, title, columns or what it needs", a.Name)
		}
	}
	slowtrace.OnReal(t, func(t *testing.T, tr *model.Trace, s *model.Strings) {
		for _, a := range All() {
			for _, row := range a.Analyse([]*model.Trace{tr}, s) {
				if len(row) != len(a.Columns) {
					t.Fatalf("%s: %d cells in %d columns", a.Name, len(row), len(a.Columns))
				}
				for i, c := range row {
					if unit := a.Columns[i].Unit; !c.None && unit != UnitText &&
						(c.Number != c.Number || unit != UnitNumber && c.Number < 0 || unit == UnitShare && c.Number > 1.000001) {
						t.Errorf("%s, %s of %s: %v", a.Name, a.Columns[i].Name, row[0].Text, c.Number)
					}
				}
			}
		}
	})
}
