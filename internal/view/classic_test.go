package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"strings"
	"testing"
)

func classicText(t *testing.T, r *report.Report, debug bool, calls *model.Calls, rows []TorchRow) string {
	t.Helper()
	var out strings.Builder
	if err := Classic(&out, r, debug, calls, rows, NewTorchTableOptions()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestClassicHasItsSections(t *testing.T) {
	r := report.EmptyReport()
	r.Environment = report.Environment{Torch: "9.9", Python: "3.99", CUDA: "13.2",
		Packages: []report.Package{{Name: "numpy", Version: "5.0"}}}
	r.GPU = []report.GPURow{{SpanUs: 1000, BusyUs: 950}}
	calls := &model.Calls{
		Functions: []model.CallFunction{{File: "a.py", Line: 3, Name: "f", Primitive: 2, Calls: 7, Own: 4e9, Cumulative: 5e9}},
	}
	rows := []TorchRow{{Name: "aten::slow", SelfCPU: 10, CPU: 10, Count: 1},
		{Name: "aten::mm", SelfCPU: 2, CPU: 2, SelfDevice: 900, Device: 900, Count: 1}}
	text := classicText(t, r, true, calls, rows)
	from := 0
	for _, want := range []string{"Environment Summary", "PyTorch 9.9 DEBUG compiled w/ CUDA 13.2", "debug build",
		"numpy==5.0", "cProfile output", "7 function calls (2 primitive calls) in 4.000 seconds", "a.py:3(f)", "(CPU mode)", "aten::slow",
		"aten::mm", "(device mode)", "aten::mm", "aten::slow", "GPU-bound: the device was busy for 95 %", "device mode",
		"what launching took"} {
		at := strings.Index(text[from:], want)
		if at < 0 {
			t.Fatalf("%q is missing after byte %d of\n%s", want, from, text)
		}
		from += at
	}
}

func TestClassicJudgement(t *testing.T) {
	cpu := report.EmptyReport()
	cpu.GPU = []report.GPURow{{SpanUs: 1000, BusyUs: 300}}
	cpu.Breakdown = []report.Part{{Part: "Python", Ms: 9}, {Part: "CPU operators", Ms: 1}}
	rows := []TorchRow{{Name: "aten::mm", SelfCPU: 2, CPU: 2, Count: 1}}
	counted := &model.Calls{}
	for _, c := range []struct {
		name  string
		r     *report.Report
		calls *model.Calls
		rows  []TorchRow
		want  string
	}{
		{"Python before operators", cpu, counted, rows,
			"busy for 30 % of the traced time and waited for the CPU otherwise; look at the cProfile output."},
		{"calls not counted", cpu, nil, rows, "look at the operators in CPU mode."},
		{"nothing traced", report.EmptyReport(), counted, nil, "no work of a device was recorded; look at the cProfile output."},
	} {
		if text := classicText(t, c.r, false, c.calls, c.rows); !strings.Contains(text, c.want) {
			t.Errorf("%s: %q is not in\n%s", c.name, c.want, text)
		}
	}
}
