package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// standIn puts an executable of a tool's name on the path that does what the tool does with its command line: it writes what it was
// asked for into LOG, starts the program behind its own flags, and makes the files that the tool would make.
func standIn(t *testing.T, names map[string]string) (log string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts stand in for the tools")
	}
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	for name, text := range names {
		script := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\necho words of the tool\n%s", log, text)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return log
}

// behindFlags runs the program that stands behind a tool's own flags: the last shell of the command line begins it.
const behindFlags = "while [ \"$1\" != /bin/sh ]; do shift; done\n\"$@\"\ncode=$?\n"

func asked(t *testing.T, log string) string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRunWithTools: each tool is started as its manual says, what it writes is part of the session, and exit status and output stay
// the program's.
func TestRunWithTools(t *testing.T) {
	nsys, _ := filepath.Abs(realFile(t, "nsys-sqlite/cs336_rtx3070ti_nsys2025.1.sqlite"))
	sql, _ := filepath.Abs(realFile(t, "nvprof-sqlite/pyprof_net_bert.sql"))
	data, _ := filepath.Abs(filepath.FromSlash("../ingest/testdata"))
	for _, c := range []struct {
		tool, script, name string
		flags, asks, says  []string
	}{
		{"nsys", `if [ "$1" = export ]; then cp ` + nsys + ` "$7"; exit; fi
for a; do [ "$last" = -o ] && out=$a; last=$a; done
` + behindFlags + `exit 0`, "nsys", nil, []string{"profile -t cuda,nvtx,osrt", "--capture-range=cudaProfilerApi --capture-range-end=stop",
			"export -t sqlite"}, []string{"GPU compute", "with-nsys.sqlite"}},
		{"nvprof", `for a; do [ "$last" = -o ] && out=$a; last=$a; done
cp ` + sql + ` $(echo "$out" | sed s/%p/77/)
` + behindFlags + `exit 0`, "nvprof", nil, []string{"--profile-from-start off -f -o"}, []string{"GPU compute", "with-nvprof-77.sqlite"}},
		{"nvprof", `for a; do [ "$last" = --log-file ] && out=$a; last=$a; done
cp ` + data + `/nvidia/metrics.csv $(echo "$out" | sed s/%p/77/)
` + behindFlags + `exit 0`, "nvprof", []string{"--analysis-metrics"}, []string{"--csv --metrics all --log-file"}, []string{"achieved_occupancy"}},
		{"ncu", `if [ "$1" = -i ]; then cat ` + data + `/nvidia/ncu_raw.csv; exit; fi
` + behindFlags + `exit 0`, "ncu", nil, []string{"--set basic --profile-from-start off --nvtx", "--csv --page raw"},
			[]string{"Kernels of Nsight Compute", "relu"}},
		{"rocprof", `while [ "$1" != -d ]; do shift; done
cp ` + data + `/rocprof/7_kernel_trace.csv "$2/with-rocprof-7_kernel_trace.csv"
` + behindFlags + `exit 0`, "rocprofv3", nil, []string{"--hip-trace --kernel-trace --memory-copy-trace --marker-trace --output-format csv"},
			[]string{"GPU compute", "with-rocprof-7_kernel_trace.csv"}},
		{"vtune", `if [ "$1" = -report ]; then for a; do out=$a; done
printf 'Function,CPU Time,Module,Source File\nmkl_gemm,2.5,libmkl.so,\n' >"$out"; exit; fi
` + behindFlags + `exit 0`, "vtune", nil, []string{"-collect hotspots -result-dir"}, []string{"Hot functions of VTune", "mkl_gemm"}},
	} {
		log := standIn(t, map[string]string{c.name: c.script})
		dir := filepath.Join(t.TempDir(), "s")
		args := append([]string{"run", "--with", c.tool, "--all", "--out", dir}, c.flags...)
		code, stdout, stderr := here(append(args, "--", "sh", "-c", "echo the program; exit 7")...)
		if code != 7 || stdout != "the program\n" {
			t.Errorf("%s: status %d, output %q", c.tool, code, stdout)
		}
		expect(t, c.tool+": the report", stderr, append(c.says, "words of the tool")...)
		expect(t, c.tool+": the command line", asked(t, log), c.asks...)
		if len(c.flags) == 0 {
			code, stdout, _ = here("report", "--all", dir)
			expect(t, c.tool+": the report again", stdout, c.says...)
		}
		if code != 0 && len(c.flags) == 0 {
			t.Errorf("%s: report ends with %d", c.tool, code)
		}
	}
}

// TestRunWithoutTool: a tool that is not installed is a mistake of the command line, and the answer says what to do.
func TestRunWithoutTool(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for tool, says := range map[string]string{"nvprof": "below compute capability 8.0", "nsys": "Nsight Systems",
		"ncu":     "performance counters",
		"rocprof": "AMD GPUs", "vtune": "Intel"} {
		code, _, stderr := here("run", "--with", tool, "--", "/bin/true")
		if code != 2 || !strings.Contains(stderr, says) || !strings.Contains(stderr, "is not installed") {
			t.Errorf("%s: status %d, %q", tool, code, stderr)
		}
	}
	if code, _, stderr := here("run", "--with", "nsis", "--", "/bin/true"); code != 2 || !strings.Contains(stderr, `"nsys"`) {
		t.Errorf("status %d, %q", code, stderr)
	}
}

// TestRunWithToolThatFails: a tool that ends before the program is said, with its status.
func TestRunWithToolThatFails(t *testing.T) {
	standIn(t, map[string]string{"nsys": "echo no such license >&2\nexit 3"})
	code, stdout, stderr := here("run", "--with", "nsys", "--out", filepath.Join(t.TempDir(), "s"), "--", "sh", "-c", "echo never")
	if code != 3 || stdout != "" {
		t.Errorf("status %d, output %q", code, stdout)
	}
	expect(t, "what is said", stderr, "no such license", "--with nsys: it ended with status 3 before the program did")
}
