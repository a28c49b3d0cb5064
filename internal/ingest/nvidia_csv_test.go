package ingest

import (
	"context"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// TestNvprofCSV: units stand in a row of their own, kilobytes have 1,024 bytes, and lines of nvprof's log are no rows.
func TestNvprofCSV(t *testing.T) {
	s := openRocprof(t, "testdata/nvidia/gpu_trace.csv")
	ev := &s.Traces[0].Events
	seen := 0
	for i, kind := range ev.Kind {
		a := ev.DeviceArgsOf(ev.Detail[i])
		switch name := s.Strings.Text(ev.Name[i]); kind {
		case model.KindKernel:
			if seen++; ev.Dur[i] != 12500 || a.Grid[0] != 640 || a.SharedBytes != 2048 || a.Registers != 32 ||
				name != "void gemm<float, 4>(float*, int)" {
				t.Errorf("%s: %d ns, %+v", name, ev.Dur[i], a)
			}
		case model.KindMemset:
			if seen++; a.Bytes != 1028-1 && a.Bytes != 1028 {
				t.Errorf("%s: %d bytes", name, a.Bytes)
			}
		case model.KindMemcpy:
			if seen++; a.Bytes != 128 || ev.Start[i] != 4643346 || name != "Memcpy HtoD (Pinned -> Device)" {
				t.Errorf("%s at %d: %d bytes", name, ev.Start[i], a.Bytes)
			}
		}
	}
	if in := s.Inputs[0]; seen != 3 || len(in.Diagnostics) > 0 || s.Traces[0].Header.Devices[0].Name != "GeForce RTX 2080 Ti" {
		t.Errorf("%d rows, %+v", seen, in)
	}
	s = openRocprof(t, "testdata/nvidia/api_trace.csv")
	if n, _ := countKinds(s.Traces[0]); n[model.KindRuntime] != 2 || s.Traces[0].Events.Dur[0] != 2866 {
		t.Errorf("%v", n)
	}
}

func TestSummariesOfNvidia(t *testing.T) {
	s := openRocprof(t, "testdata/nvidia/api_summary.csv")
	if len(s.FileTables) != 2 || s.FileTables[0].Name != tableGPUSummary || len(s.FileTables[1].Rows) != 3 {
		t.Fatalf("%+v", s.FileTables)
	}
	if cell(t, s.FileTables[1], "cudaFree", 2) != 357751097 || cell(t, s.FileTables[0], "[CUDA memcpy HtoD]", 3) != 45 {
		t.Errorf("%+v", s.FileTables[1])
	}
	for name, want := range map[string]string{"cuda_gpu_kern_sum": tableGPUSummary, "cuda_api_sum": tableAPISummary} {
		if table := openTable(t, "testdata/nvidia/"+name+".csv"); table.Name != want || !strings.Contains(table.Sentence, "1 ms in 2 names") {
			t.Errorf("%s: %q %s", name, table.Name, table.Sentence)
		}
	}
	m := openTable(t, "testdata/nvidia/metrics.csv")
	if m.Rows[1][4].Number != 102.5*(1<<30) || m.Rows[1][2].Text != "B/s" || m.Rows[2][4].Number != 92 || m.Rows[2][2].Text != "%" ||
		m.Rows[0][6].Text != "Achieved Occupancy" {
		t.Errorf("%+v", m.Rows)
	}
}

// TestNcu: what the kernels reach, on each page that ncu writes, and what limits them by the rule of its first section.
func TestNcu(t *testing.T) {
	for name, want := range map[string]struct {
		kernel, bound       string
		launches, ns, share float64
	}{
		"ncu_details": {"gemm", "memory", 1, 1234560, 0.9983},
		"ncu_raw":     {"relu", "latency", 1, 1e6, 1e6 / 1.4e6},
		"ncu_summary": {"kernel_a", "latency", 2, 4000, 1},
	} {
		s, err := Open(context.Background(), []string{"testdata/nvidia/" + name + ".csv"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		top := s.FileTables[0].Rows[0]
		if top[0].Text != want.kernel || top[1].Number != want.launches || top[2].Number != want.ns || top[9].Text != want.bound ||
			top[3].Number < want.share-1e-3 || top[3].Number > want.share+1e-3 {
			t.Errorf("%s: %+v", name, top)
		}
		if s.FileTables[len(s.FileTables)-1].Name != tableMetrics || !strings.Contains(s.FileTables[0].Sentence, want.kernel) {
			t.Errorf("%s: %s", name, s.FileTables[0].Sentence)
		}
	}
	s := openRocprof(t, "testdata/nvidia/ncu_details.csv")
	if rules := s.FileTables[1]; rules.Name != "ncu-rules" || rules.Rows[0][2].Number != 0.175 {
		t.Errorf("%+v", rules)
	}
	if memory := cell(t, s.FileTables[0], "gemm", 5); memory != 0.825 {
		t.Errorf("memory %v: not the bytes per second of the same name", memory)
	}
	raw := openRocprof(t, "testdata/nvidia/ncu_raw.csv").FileTables[0]
	if cell(t, raw, "gemm", 2) != 400_000 || cell(t, raw, "gemm", 7) != 0.42 || raw.Rows[1][9].Text != "compute" {
		t.Errorf("%+v", raw.Rows)
	}
}

func TestNumbersWithCommas(t *testing.T) {
	for text, want := range map[string]float64{"1,215,000,000.00": 1215e6, "12": 12, "-1,000": -1000, "1e3": 1000} {
		if v, ok := csvNumber(text); !ok || v != want {
			t.Errorf("%s: %v", text, v)
		}
	}
	for _, text := range []string{"1,2", "1,2345", "n/a", "", "NaN", "Inf"} {
		if v, ok := csvNumber(text); ok {
			t.Errorf("%s: %v", text, v)
		}
	}
}
