package ingest

import (
	"math"
	"strings"
	"testing"

	"bottleneck/internal/analyse/allocations"
)

// A real table of Nsight Compute 2025.3 on an H200, with all columns of its raw page: its heading alone is longer than what is looked at to
// recognise a file. The sum is that of Python's csv module.
func TestRealNcu(t *testing.T) {
	s := openRocprof(t, "../../testdata/gpu/files/ncu-raw.csv.gz")
	if len(s.Inputs) != 1 || s.Inputs[0].Format != "ncu" || len(s.FileTables) != 2 {
		t.Fatalf("%+v", s.Inputs)
	}
	kernels, launches, ns := s.FileTables[0], 0.0, 0.0
	for _, row := range kernels.Rows {
		launches += row[1].Number
		ns += row[2].Number
	}
	if len(kernels.Rows) != 19 || launches != 74 || ns != 449728 || !strings.Contains(kernels.Rows[0][0].Text, "at::reduce_kernel") {
		t.Errorf("%d kernels, %v launches, %v ns: %+v", len(kernels.Rows), launches, ns, kernels.Rows[0])
	}
}

// A real snapshot of running out of memory, on an H200 of which the program may have 1 GiB. The error's text said: 1001.07 MiB allocated,
// 4.93 MiB reserved beside them.
func TestRealOutOfMemory(t *testing.T) {
	const mib = 1 << 20
	s := openSnapshot(t, "../../testdata/gpu/files/out-of-memory.pickle.gz")
	u := allocations.Snapshots(s.Snapshots[0], s.Strings)[0]
	if len(u.OOMs) != 1 {
		t.Fatalf("out of memory: %+v", u.OOMs)
	}
	oom := u.OOMs[0]
	if oom.Asked != 8*mib || math.Abs(float64(oom.Active)/mib-1001.07) > 0.005 || oom.DeviceFree < 130<<30 || u.Unexplained != 0 {
		t.Errorf("%+v", oom)
	}
	if h := oom.Holders[0]; h.Where.Line != 16 || h.Blocks != 216 {
		t.Errorf("alive at the failure: %+v", h)
	}
}
