package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// operatorTrace is a trace of operators with their inputs, and of one with a hostile name.
func operatorTrace(t *testing.T, shapes bool) string {
	t.Helper()
	tr := testkit.NewTrace()
	inputs := func(n int, line int) []any {
		args := []any{"External id", line, "Call stack", fmt.Sprintf("train.py(%d): step;torch/nn.py(3): forward", line)}
		if shapes {
			args = append(args, "Input Dims", [][]int{{n, n}, {n, n}}, "Input Strides", [][]int{{n, 1}, {1, n}},
				"Input type", []string{"float", "float"}, "Concrete Inputs", []string{"", ""})
		}
		return args
	}
	for i := range int64(4) {
		at := i * 1_000_000
		tr.Op("aten::mm", 1, at, 300_000, inputs(128, 12)...)
		tr.Op("aten::mm", 1, at+400_000, 30_000, inputs(16, 14)...)
		tr.Op("aten::mul", 1, at+500_000, 5000, inputs(16, 15)...)
		tr.Op("aten::add\"]\nimport os", 1, at+600_000, 350_000, inputs(8, 16)...)
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(tr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestIsolate writes the script of the operator that is asked for, and never over a file that is there.
func TestIsolate(t *testing.T) {
	trace := operatorTrace(t, true)
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args []string
		file string
		says []string
	}{
		{[]string{"--op", "aten::mm"}, "isolate_mm.py", []string{`"shapes": [[128, 128], [128, 128]]`, `"strides": [[128, 1], [1, 128]]`,
			`"recorded_us": 300`, `"flops": 4194304`}},
		{[]string{"--op", "mul", "-o", "small.py"}, "small.py", []string{`"name": "aten::mul"`, `"recorded_us": 5`}},
		{[]string{"--line", "train.py:14"}, "isolate_mm.py", []string{`"shapes": [[16, 16], [16, 16]]`}},
		{[]string{"--top", "3"}, "isolate_top2.py", []string{`[[128, 128], [128, 128]]`, `[[16, 16], [16, 16]]`}},
	} {
		os.Remove("isolate_mm.py")
		code, stdout, stderr := here(append([]string{"isolate", trace}, c.args...)...)
		if code != 0 || !strings.Contains(stdout, "run it: python "+c.file) {
			t.Fatalf("%v: status %d, %s%s", c.args, code, stdout, stderr)
		}
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, strings.Join(c.args, " "), string(text), c.says...)
		if strings.Contains(string(text), "import os\"") || strings.Contains(string(text), "bottleneck.") {
			t.Errorf("%v: the script holds what it must not", c.args)
		}
	}
	if err := os.WriteFile("isolate_mm.py", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := here("isolate", trace, "--op", "aten::mm")
	if text, _ := os.ReadFile("isolate_mm.py"); code != exitUsage || !strings.Contains(stderr, "--force") || string(text) != "mine" {
		t.Errorf("over a file: status %d, %s, %q", code, stderr, text)
	}
	if code, _, stderr := here("isolate", trace, "--op", "aten::mm", "--force"); code != 0 {
		t.Errorf("--force: status %d, %s", code, stderr)
	}
}

// TestIsolateSaysWhatIsMissing names the next step where there is nothing to write.
func TestIsolateSaysWhatIsMissing(t *testing.T) {
	trace, bare := operatorTrace(t, true), operatorTrace(t, false)
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{exitUsage, `did you mean "aten::mm"?`, []string{trace, "--op", "aten::mn"}},
		{exitUsage, "--section operators", []string{trace}},
		{exitUsage, `no operator "aten::mm" was recorded at train.py:15`, []string{trace, "--op", "aten::mm", "--line", "train.py:15"}},
		{exitUsage, "is not like train.py:42", []string{trace, "--line", "train.py"}},
		{exitUsage, "give two interpreters", []string{trace, "--op", "aten::mm", "--compare", "python3"}},
		{exitUnusable, "--record-shapes", []string{bare, "--op", "aten::mm"}},
		{exitUnusable, "needs other ranks", []string{trace, "--op", "c10d::allreduce_"}},
		{exitUnusable, "not PyTorch's own", []string{trace, "--op", "vllm::attention"}},
		{exitUnusable, "no operator's name", []string{trace, "--op", "aten::add\"]\nimport os"}},
	} {
		code, stdout, stderr := here(append([]string{"isolate"}, c.args...)...)
		if code != c.status || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%q: status %d, %q, want %q", c.args[1:], code, stderr, c.want)
		}
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("files were written: %v", left)
	}
}

// newestPython is a Python with a PyTorch.
func newestPython(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("../../scripts/env.sh", "newest").Output()
	if err != nil {
		t.Skip("no PyTorch here")
	}
	return strings.TrimSpace(string(out))
}

// TestIsolateRuns runs a script with a real PyTorch, and under two interpreters in turns.
func TestIsolateRuns(t *testing.T) {
	python := newestPython(t)
	trace := operatorTrace(t, true)
	t.Chdir(t.TempDir())
	code, stdout, stderr := here("isolate", trace, "--op", "aten::mm", "--run", "--python", python, "--seconds", "0.3")
	if code != 0 {
		t.Fatalf("status %d, %s%s", code, stdout, stderr)
	}
	expect(t, "isolate", stdout, "aten::mm [[128, 128], [128, 128]]", "95 % interval", "recorded  300.0 us", "reproduced", "GB/s",
		"GFLOP/s (2·M·N·K)")
	code, stdout, stderr = here("isolate", trace, "--line", "train.py:14", "--force", "--run", "--python", python, "--seconds", "0.1")
	if code != 0 {
		t.Fatalf("status %d, %s%s", code, stdout, stderr)
	}
	expect(t, "isolate", stdout, "in its place ", "in its place, new memory ", "after what ran before it (calls: 1; not made again: 0)",
		"the median of 4 calls")
	code, stdout, stderr = here("isolate", trace, "--op", "aten::mm", "--seconds", "0.1", "--budget", "1ns", "--compare", python, python)
	if code != 0 {
		t.Fatalf("status %d, %s%s", code, stdout, stderr)
	}
	expect(t, "isolate --compare", stdout, "A  "+python+", PyTorch ", "B  "+python, "not decided: fewer than")
	code, _, stderr = here("isolate", trace, "--op", "aten::mm", "--compare", python+",/no/such/python")
	if code != exitUnusable || !strings.Contains(stderr, "/no/such/python") {
		t.Errorf("status %d, %s", code, stderr)
	}
}

// TestIsolateOnADevice writes the time of an operator's own kernels and what the device could do; without a device the script says so.
func TestIsolateOnADevice(t *testing.T) {
	trace, err := filepath.Abs(realFile(t, "sidnb13-transformer-h100/dcb0aa1a78e7_4399.1752181589621105859.pt.trace.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	python := newestPython(t)
	t.Chdir(t.TempDir())
	if code, _, stderr := here("isolate", trace, "--op", "aten::addmm"); code != 0 {
		t.Fatalf("status %d, %s", code, stderr)
	}
	text, err := os.ReadFile("isolate_addmm.py")
	if err != nil {
		t.Fatal(err)
	}
	// 2·2048·2048·512 operations; the trace has 20 µs for the kernel of such a product.
	expect(t, "isolate", string(text), `"shapes": [[512], [2048, 2048], [2048, 512], [], []]`, `"device": "cuda"`, `"flops": 4294967296`,
		`"peak_flops": 67000000000000`, `"peak_bytes": 3350000000000`, `"peak_of": "H100 SXM (fp32)"`)
	if exec.Command(python, "-c", "import sys, torch; sys.exit(torch.cuda.is_available())").Run() != nil {
		t.Skip("a GPU is here")
	}
	out, err := exec.Command(python, "isolate_addmm.py").Output()
	if err == nil || !strings.Contains(string(out), "PyTorch sees none here") {
		t.Errorf("%v: %s", err, out)
	}
}
