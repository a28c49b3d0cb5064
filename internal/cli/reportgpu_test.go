package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTablesOfNvprof: one row per kernel, copy and set in order, and sums by name that add up.
func TestTablesOfNvprof(t *testing.T) {
	path := realFile(t, "nvprof-sqlite/pyprof_net_bert.sql")
	code, stdout, stderr := here("report", "--gpu-trace", path)
	if code != 0 {
		t.Fatal(stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 1+284+35+12 {
		t.Errorf("%d lines, want a heading and a row for each of 331 kernels, copies and sets", len(lines))
	}
	expect(t, "the first kernel", lines[1], "2343.6173 ms", "5.76 µs", "(640 1 1)", "(128 1 1)", "indexSelectLargeIndex")
	expect(t, "a copy", stdout, "8 B", "2.68 MiB/s", "Memcpy DtoH (Device -> Pageable)")
	code, stdout, _ = here("report", "--gpu-summary", "--api-summary", "--row-limit", "2", path)
	expect(t, "summaries", stdout, "GPU activities", "volta_sgemm_32x128_nn", "API calls", "cudaLaunchKernel", "more names")
	if code != 0 {
		t.Error(code)
	}
	code, _, stderr = here("report", "--gpu-trace", realFile(t, "hta-odd-metadata/rank_non_gpu.json.gz"))
	if code == 0 || !strings.Contains(stderr, "no work of a device") {
		t.Errorf("status %d, %q", code, stderr)
	}
	code, stdout, _ = here("report", "--gpu-trace", "--row-limit", "1",
		realFile(t, filepath.FromSlash("luatil-compile-rtx3060/trace_06_cudagraphs.json.gz")))
	if code != 0 || !strings.Contains(stdout, "… and") {
		t.Errorf("a Kineto trace: status %d, %s", code, stdout)
	}
}

// TestTablesOfOtherFiles: the same tables of rocprof's and nvprof's files, of sums that another tool printed, and counters with what
// they mean.
func TestTablesOfOtherFiles(t *testing.T) {
	for _, c := range []struct {
		flag, file string
		texts      []string
	}{
		{"--gpu-trace", "rocprof/7_kernel_trace.csv", []string{"(16 1024 1)", "(64 1 1)", "subtract_kernel", "10.5 µs"}},
		{"--print-gpu-trace", "nvidia/gpu_trace.csv", []string{"(640 1 1)", "12.5 µs", "128 B", "Memcpy HtoD (Pinned -> Device)"}},
		{"--print-gpu-summary", "nvidia/api_summary.csv", []string{"GPU activities", "45", "[CUDA memcpy HtoD]", "79 %"}},
		{"--print-api-summary", "nvidia/api_summary.csv", []string{"API calls", "cudaStreamCreateWithFlags"}},
		{"--gpu-summary", "nvidia/ncu_raw.csv", []string{"1.40 ms in 2 names", "relu"}},
		{"--gpu-summary", "rocprof/results.json", []string{"68.9 µs", "vectorized_elementwise_kernel"}},
		{"--api-summary", "rocprof/hip_api_stats.csv", []string{"hipGetDeviceCount", "12"}},
		{"--api-summary", "rocprof/15_hip_trace.csv", []string{"hipMemcpyAsync"}},
		{"--analysis-metrics", "nvidia/metrics.csv", []string{"achieved_occupancy", "warps that were active, of those that fit"}},
		{"--analysis-metrics", "nvidia/ncu_raw.csv", []string{"sm__throughput", "how busy the multiprocessors were"}},
		{"--analysis-metrics", "rocprof/counter_collection.csv", []string{"SQ_WAVES", "1.638e+04", "wavefronts that were started"}},
	} {
		code, stdout, stderr := here("report", c.flag, filepath.FromSlash("../ingest/testdata/"+c.file))
		if code != 0 {
			t.Errorf("%s %s: %s", c.flag, c.file, stderr)
		}
		expect(t, c.flag+" "+c.file, stdout, c.texts...)
	}
	code, _, stderr := here("report", "--analysis-metrics", filepath.FromSlash("../ingest/testdata/nvidia/gpu_trace.csv"))
	if code == 0 || !strings.Contains(stderr, "no hardware counters") {
		t.Errorf("status %d, %q", code, stderr)
	}
}

// realFile is one of the real files beside the repository.
func realFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("../../../shared/traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real traces here: %v", err)
	}
	return path
}
