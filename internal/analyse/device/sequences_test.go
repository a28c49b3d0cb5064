package device

import (
	"slices"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func TestSequences(t *testing.T) {
	b := &slowtrace.Builder{}
	for i := range 3 {
		at := float64(i) * 100
		b.Add("cpu_op", "block", 1, 1, at, at+50, "")
		b.Add("cpu_op", "inner", 1, 1, at+1, at+40, "")
		for k, name := range []string{"a", "b", "c"} {
			b.Launch("cudaLaunchKernel", at+5+3*float64(k), at+6+3*float64(k), "kernel", name, 7, at+10+5*float64(k), at+13+5*float64(k))
		}
	}
	b.Add("cpu_op", "block", 1, 1, 400, 450, "") // the same operator with other kernels, once
	b.Launch("cudaLaunchKernel", 405, 406, "kernel", "a", 7, 410, 411)
	b.Launch("cudaLaunchKernel", 408, 409, "kernel", "c", 7, 412, 413)
	b.Launch("cudaLaunchKernel", 410, 411, "kernel", "b", 7, 414, 415)
	trace, s := b.Trace()
	got := Sequences(trace, s, 3, 10)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	q := got[0]
	if q.Op != "block" || q.Count != 3 || q.Length != 3 || q.Device != slowtrace.Micros(27) || q.CPU != slowtrace.Micros(150) ||
		!slices.Equal(q.Kernels, []string{"a", "b", "c"}) {
		t.Errorf("%+v", q)
	}
	if len(Sequences(trace, s, 4, 10)) != 0 {
		t.Error("nothing is four kernels long")
	}
}

func TestBandwidths(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, 0, 10, `"bytes": 100000, "memory bandwidth (GB/s)": 10.0`)
	b.Add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 8, 5, 15, `"bytes": 50000, "memory bandwidth (GB/s)": 5.0`)
	b.Add("gpu_memset", "Memset (Device)", 0, 8, 20, 20, `"bytes": 512, "memory bandwidth (GB/s)": 2.0`)
	trace, s := b.Trace()
	got := Bandwidths(trace, s)
	if len(got) != 2 || got[0].Kind != "Memcpy HtoD" || got[0].Max != 15 || got[0].Mean != 10 || len(got[0].Points) != 4 ||
		got[1].Max != 2 || got[1].Points[1].Time != 21_000 {
		t.Errorf("%+v", got)
	}
}

func TestSequencesOnRealTraces(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		for _, q := range Sequences(trace, s, 3, 20) {
			if q.Count < 2 || q.Length < 3 || len(q.Kernels) > q.Length || q.Device <= 0 {
				t.Errorf("%+v", q)
			}
		}
	})
}
