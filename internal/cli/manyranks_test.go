package cli

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/ingest"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// collectiveRank is the trace of one rank: two operators, copies, kernels that differ from rank to rank, and a collective at
// whose end the ranks meet, on a clock of its own.
func collectiveRank(rank int) string {
	clock, own := int64(rank)*7000, int64(100*rank)
	t := testkit.NewTrace().Key("baseTimeNanoseconds", 1_000_000).Key("distributedInfo",
		map[string]any{"rank": rank, "world_size": 4, "backend": "nccl"})
	for step := range int64(4) {
		at := clock + 100_000*(step+1)
		args := []any{"correlation", 10*step + 2, "stream", 7, "device", 0, "Collective name", "allreduce", "Process Group Name", "0",
			"Process Group Ranks", "[0, 1, 2, 3]", "In msg nelems", 1024, "Group size", 4, "dtype", "Float", "Seq", step}
		t.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", step), 100, 1, at, 90_000).
			Op("aten::mm", 1, at+1000, 2000, "External id", 10*step+1, "Input Dims", [][]int{{64, 32}, {32, 16}}, "Input type",
				[]string{"float", "float"}).
			Launch("gemm", 1, at+1200, 100, at+2000, 5000+own, int(10*step+1)).
			Op("nccl:all_reduce", 1, at+4000, 500, "External id", 10*step+2).
			X("cuda_runtime", "cudaLaunchKernel", 100, 1, at+4100, 100, "correlation", 10*step+2).
			X("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 7, at+8000+own, 12_000-own, args...).
			X("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, at+30_000, 500, "bytes", 4096, "correlation", 10*step+3, "stream", 7).
			Memory(1, at+1100, 512).Memory(1, at+50_000, -512)
	}
	return t.String()
}

// TestMergedReportEqualsWhole holds the report that is merged rank by rank against that of all ranks in memory.
func TestMergedReportEqualsWhole(t *testing.T) {
	dir := t.TempDir()
	for rank := range 4 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank_%d.json", rank)), []byte(collectiveRank(rank)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []analyse.Window{{}, {Steps: []int64{1, 3}}, {From: 150 * 1000, To: 350 * 1000}} {
		compareMerged(t, w, dir)
	}
	merge := report.NewMerge(report.Options{})
	if _, err := quietApp().loadEach(context.Background(), []string{dir}, ingest.Options{}, analyse.Window{Steps: []int64{9}},
		merge); err == nil || !strings.Contains(err.Error(), "the steps 0-3") {
		t.Errorf("a step that is not there: %v", err)
	}
	if v, err := ingest.SurveyOf([]string{dir}); err != nil || v.Files != 4 || len(v.Sessions) > 0 {
		t.Errorf("survey of 4 files: %+v, %v", v, err)
	}
}

func TestMergedReportEqualsWholeOfRealRanks(t *testing.T) {
	ranks, err := filepath.Glob("../../../shared/traces/megatron-tp8-a100/megatron_kineto_*.json.gz")
	if err != nil || len(ranks) == 0 {
		t.Skip("no real traces here")
	}
	compareMerged(t, analyse.Window{}, ranks...)
}

// compareMerged holds the report of a window that is merged against that of a session in memory.
func compareMerged(t *testing.T, window analyse.Window, paths ...string) {
	t.Helper()
	whole, err := ingest.Open(context.Background(), paths, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := analyse.Cut(whole, window); err != nil {
		t.Fatal(err)
	}
	merge := report.NewMerge(report.Options{})
	rest, err := quietApp().loadEach(context.Background(), paths, ingest.Options{}, window, merge)
	if err != nil {
		t.Fatal(err)
	}
	want, got := asDocument(t, report.Build(whole, report.Options{})), asDocument(t, merge.Report(rest))
	if rows, ok := got["critical_path"].([]any); !ok || len(rows) == 0 {
		t.Error("the merged report has no critical path")
	}
	for _, alone := range []string{"critical_path", "critical_path_ranks", "verdict"} { // of one rank and of all: not the same by design
		delete(want, alone)
		delete(got, alone)
	}
	for key := range want {
		if key == "kernels" || key == "memory" {
			dropKeys(want[key], "launcher", "timeline") // of the rank with most of it; thinner
			dropKeys(got[key], "launcher", "timeline")
		}
		if key == "findings" { // whose prices come from a replay of all ranks, where their traces are there
			dropKeys(want[key], "saving", "evidence", "caveat", "confidence")
			dropKeys(got[key], "saving", "evidence", "caveat", "confidence")
			byTitle(want[key]) // ranked by those prices
			byTitle(got[key])
		}
		if !reflect.DeepEqual(want[key], got[key]) {
			t.Errorf("%s: merged\n%v\nwhole\n%v", key, got[key], want[key])
		}
	}
}

// byTitle sorts a document's findings.
func byTitle(findings any) {
	slices.SortFunc(findings.([]any), func(a, b any) int {
		return strings.Compare(a.(map[string]any)["title"].(string), b.(map[string]any)["title"].(string))
	})
}

func quietApp() *app { return &app{stdout: io.Discard, stderr: io.Discard} }

func asDocument(t *testing.T, r *report.Report) map[string]any {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func dropKeys(rows any, keys ...string) {
	list, _ := rows.([]any)
	for _, row := range list {
		for _, key := range keys {
			delete(row.(map[string]any), key)
		}
	}
}
