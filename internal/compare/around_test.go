package compare

import (
	"bottleneck/internal/report"
	"testing"
)

// TestAround changes one thing around a run at a time, and asks that it is listed with both values, and nothing else.
func TestAround(t *testing.T) {
	full := func() Side {
		s := runsOf("a", 10)
		r := s.Runs[0].Report
		r.Environment = report.Environment{Python: "3.13.0", Torch: "2.15.0", CUDA: "13.0", HIP: "7.0", OS: "Linux 6.1", Host: "one",
			CPUs: 2, CPUModel: "fast", CPUQuota: ptr(1.5), Affinity: []int{0, 1}, Threads: map[string]string{"OMP_NUM_THREADS": "1"},
			OthersBusyCores: ptr(0.1), GPUs: []report.GPU{{Name: "H100", ClockMHz: ptr(1980.0)}},
			Packages: []report.Package{{Name: "numpy", Version: "2.4.0"}}}
		r.Loaders = []report.Loader{{Workers: 2}}
		return s
	}
	if d := mustDiff(t, full(), full(), Options{}); len(d.Around) > 0 {
		t.Errorf("nothing differs, and it says %+v", d.Around)
	}
	for _, c := range []struct {
		what, before, after string
		change              func(*report.Report)
	}{
		{"Python", "3.13.0", "3.12.0", func(r *report.Report) { r.Environment.Python = "3.12.0" }},
		{"PyTorch", "2.15.0", "2.4.0", func(r *report.Report) { r.Environment.Torch = "2.4.0" }},
		{"CUDA", "13.0", "", func(r *report.Report) { r.Environment.CUDA = "" }},
		{"HIP", "7.0", "6.4", func(r *report.Report) { r.Environment.HIP = "6.4" }},
		{"system", "Linux 6.1", "Linux 6.8", func(r *report.Report) { r.Environment.OS = "Linux 6.8" }},
		{"host", "one", "two", func(r *report.Report) { r.Environment.Host = "two" }},
		{"CPU", "fast", "slow", func(r *report.Report) { r.Environment.CPUModel = "slow" }},
		{"cores", "2", "64", func(r *report.Report) { r.Environment.CPUs = 64 }},
		{"CPU quota", "1.5", "", func(r *report.Report) { r.Environment.CPUQuota = nil }},
		{"cores that may be used", "0 1", "1", func(r *report.Report) { r.Environment.Affinity = []int{1} }},
		{"GPU", "H100", "2 × A100", func(r *report.Report) {
			r.Environment.GPUs = []report.GPU{{Name: "A100", ClockMHz: ptr(1980.0)}, {Name: "A100"}}
		}},
		{"GPU clock", "1980 MHz", "1200 MHz", func(r *report.Report) { r.Environment.GPUs[0].ClockMHz = ptr(1200.0) }},
		{"OMP_NUM_THREADS", "1", "4", func(r *report.Report) { r.Environment.Threads["OMP_NUM_THREADS"] = "4" }},
		{"KMP_BLOCKTIME", "", "0", func(r *report.Report) { r.Environment.Threads["KMP_BLOCKTIME"] = "0" }},
		{"package numpy", "2.4.0", "1.26.0", func(r *report.Report) { r.Environment.Packages[0].Version = "1.26.0" }},
		{"arguments", "python train.py", "python train.py --amp", func(r *report.Report) {
			r.Run.Command = []string{"/elsewhere/python", "/a/copy/train.py", "--amp"}
		}},
		{"batch size", "32", "64", func(r *report.Report) { r.Steps[0].Items = ptr(64.0) }},
		{"DataLoader workers", "2", "0", func(r *report.Report) { r.Loaders[0].Workers = 0 }},
		{"cores that other programs kept busy", "0.1", "1.5", func(r *report.Report) { r.Environment.OthersBusyCores = ptr(1.5) }},
	} {
		b := full()
		c.change(b.Runs[0].Report)
		d := mustDiff(t, full(), b, Options{Per: "item"})
		if want := (report.DiffFact{What: c.what, Before: c.before, After: c.after}); len(d.Around) != 1 || d.Around[0] != want {
			t.Errorf("%+v, want %+v", d.Around, want)
		}
	}
}
