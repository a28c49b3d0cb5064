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

// realFile is one of the real files beside the repository.
func realFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("../../../shared/traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real traces here: %v", err)
	}
	return path
}
