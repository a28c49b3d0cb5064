package view

import (
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// foreignReport is the report of a trace's text.
func foreignReport(t *testing.T, text string) *report.Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := realReport(t, path)
	return r
}

// TestTracedFindingsCostWhatTheySave: the program waits for each kernel and then prepares the next for long in Python. The wait comes
// first in every gap, but without it nothing would be faster: it must not be named, and no price exceeds its finding's own time.
func TestTracedFindingsCostWhatTheySave(t *testing.T) {
	b := testkit.NewTrace()
	const step = 1_000_000 // ns
	for i := range 8 {
		at := int64(1_000_000 + i*step)
		b.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 100, 1, at, step)
		b.Op("aten::mm", 1, at+700_000, 20_000)
		b.Launch("gemm", 1, at+705_000, 5_000, at+712_000, 30_000, i+1)
		b.X("cuda_runtime", "cudaStreamSynchronize", 100, 1, at+725_000, 19_000)
	}
	r := foreignReport(t, b.String())
	if len(r.Findings) == 0 || r.Findings[0].Cause != "python" {
		t.Fatalf("findings %+v, want Python first", r.Findings)
	}
	span := r.GPU[0].SpanUs / 1e6
	before := r.Findings[0].Saving.RunS.Mid
	for _, f := range r.Findings {
		if f.Cause == "sync" {
			t.Errorf("a wait that costs nothing is named: %s", f.Title)
		}
		if f.Saving == nil {
			continue
		}
		if f.Saving.RunS.Mid > before {
			t.Errorf("%s saves more than the finding before it", f.Title)
		}
		if before = f.Saving.RunS.Mid; f.Saving.RunS.High > 1.001*f.Share*span {
			t.Errorf("%s: %g s of %g s", f.Title, f.Saving.RunS.High, f.Share*span)
		}
	}
}

// TestOperatorsOnTheCPUAreNoLaunches: what keeps the device waiting is one operator that computes on the CPU, which fusing cannot help.
func TestOperatorsOnTheCPUAreNoLaunches(t *testing.T) {
	b := testkit.NewTrace()
	for i := range 4 {
		at := int64(1_000_000 + i*10_000_000)
		b.Op("aten::randn", 1, at, 7_000_000)
		b.Op("aten::mm", 1, at+7_050_000, 50_000)
		b.Launch("gemm", 1, at+7_060_000, 5_000, at+7_070_000, 2_800_000, i+1)
	}
	f := foreignReport(t, b.String()).Findings[0]
	if f.Cause != "launch" || f.Sub != "cpu-operator" || f.Where.Op != "aten::randn" {
		t.Errorf("%s/%s at %q: %s", f.Cause, f.Sub, f.Where.Op, f.Title)
	}
}

// TestTraceOfCollectivesOnTheCPU: a step that waits for gloo is communication, one without operators says so.
func TestTraceOfCollectivesOnTheCPU(t *testing.T) {
	b := testkit.NewTrace().X("user_annotation", "ProfilerStep#1", 100, 1, 1_000_000, 1_000_000)
	r := foreignReport(t, b.Op("aten::mm", 1, 1_000_000, 100_000).X("user_annotation", "gloo:all_reduce", 100, 2,
		1_050_000, 850_000).String())
	if top := r.Breakdown[0]; top.Part != "communication, exposed" || top.Share < 0.79 || top.Share > 0.81 {
		t.Errorf("%+v, want 80 %% communication", r.Breakdown)
	}
	b = testkit.NewTrace().X("user_annotation", "ProfilerStep#1", 100, 1, 1_000_000, 1_000_000)
	r = foreignReport(t, b.Op("aten::mm", 1, 1_000_000, 100_000).String())
	if !strings.Contains(r.Verdict.Sentence, "no operator for 90 %") {
		t.Error(r.Verdict.Sentence)
	}
}
