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
