package export

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// torchPython is the interpreter with today's PyTorch, where scripts/env.sh can build it.
func torchPython(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts PyTorch")
	}
	out, err := exec.Command("../../scripts/env.sh", "newest").Output()
	if err != nil {
		t.Skipf("scripts/env.sh newest: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestTorchValidatorSeesNoDifference lets torch's own validator judge recorded traces and what we export of them: an
// export must violate nothing that its input did not, and must not hide what it did.
func TestTorchValidatorSeesNoDifference(t *testing.T) {
	python := torchPython(t)
	dir := t.TempDir()
	var pairs [][2]string
	chrome, err := Find("chrome")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(sharedFiles(t, 250<<10), "../../testdata/torchtable/plain.trace.json.gz") {
		s := &model.Session{Strings: &model.Strings{}}
		if !readInto(s, path) || strings.Contains(path, "malformed") || strings.Contains(path, "foreign") {
			continue
		}
		out := filepath.Join(dir, strings.ReplaceAll(strings.TrimLeft(path, "./"), "/", "_")+".json.gz")
		if err := WriteFile(context.Background(), s, chrome, out, Options{Rank: model.NoRank}); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, [2]string{path, out})
	}
	const program = `
import collections, gzip, json, os, sys, tempfile
from torch.profiler._trace_validator import validate_trace
def judge(path):
    with open(path, "rb") as f:
        if f.read(2) == b"\x1f\x8b" and not path.endswith(".gz"):
            return None
    try:
        return dict(collections.Counter(v.rule_name for v in validate_trace(path)[1]))
    except Exception as e:  # the input is no JSON at all, or has fields that torch's validator cannot read
        return None
print(json.dumps([[before, judge(before), judge(after)] for before, after in json.load(sys.stdin)]))
`
	input, _ := json.Marshal(pairs)
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = strings.NewReader(string(input))
	cmd.Stderr = os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var verdicts [][3]json.RawMessage
	if err := json.Unmarshal(output, &verdicts); err != nil {
		t.Fatal(err)
	}
	judged, violations := 0, 0
	for _, v := range verdicts {
		if string(v[1]) == "null" {
			continue
		}
		judged++
		if string(v[1]) != "{}" {
			violations++
		}
		if string(v[1]) != string(v[2]) {
			t.Errorf("%s: violations %s, of the export %s", v[0], v[1], v[2])
		}
	}
	t.Logf("%d traces judged, %d of them violate something", judged, violations)
	if judged < 10 {
		t.Errorf("only %d traces were judged", judged)
	}
}

// TestHTASeesNoDifference lets Holistic Trace Analysis read recorded traces and what we export of them: its tables must
// be the same.
func TestHTASeesNoDifference(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Holistic Trace Analysis")
	}
	out, err := exec.Command("../../scripts/env.sh", "peers").Output()
	if err != nil {
		t.Skipf("scripts/env.sh peers: %v", err)
	}
	chrome, err := Find("chrome")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var folders []string
	for _, name := range []string{
		"torchao/ref_ep_moe_fwd_b200_rank0of2.json.gz",
		"tracelens-vit-h100-vs-mi300/h100_nsfw_image_detection.json.gz", "tracelens-small/normalization_layers_mi300.json.gz",
	} {
		s := &model.Session{Strings: &model.Strings{}}
		if !readInto(s, filepath.Join(sharedTraces, name)) {
			t.Skipf("%s is not beside this checkout", sharedTraces)
		}
		folder := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		for _, sub := range []string{"before", "after"} {
			if err := os.MkdirAll(filepath.Join(folder, sub), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, "before/t.json.gz"), readFile(t, filepath.Join(sharedTraces, name)),
			0o600); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(context.Background(), s, chrome, filepath.Join(folder, "after/t.json.gz"),
			Options{Rank: model.NoRank}); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	const program = `
import json, logging, sys, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
def tables(folder):
    try:
        analysis = TraceAnalysis(trace_files={0: folder + "/t.json.gz"}, trace_dir=folder)
    except Exception as e:
        return "cannot be read: " + repr(e)
    kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)
    return [table.to_json() for table in (analysis.get_temporal_breakdown(visualize=False), kinds, kernels, *launches.values())]
print(json.dumps([[tables(f + "/before"), tables(f + "/after")] for f in sys.argv[1:]]))
`
	cmd := exec.Command(strings.TrimSpace(string(out)), append([]string{"-c", program}, folders...)...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	cmd.Dir = dir
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	var pairs [][2]json.RawMessage
	if err := json.Unmarshal(output[strings.LastIndexByte(strings.TrimSpace(string(output)), '\n')+1:], &pairs); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	read := 0
	for i, p := range pairs {
		if string(p[0]) != string(p[1]) {
			t.Errorf("%s:\nbefore %.600s\nafter  %.600s", filepath.Base(folders[i]), p[0], p[1])
		}
		if !strings.Contains(string(p[0]), "cannot be read") {
			read++
		}
	}
	if read < 2 {
		t.Errorf("HTA read only %d of %d traces", read, len(pairs))
	}
}
