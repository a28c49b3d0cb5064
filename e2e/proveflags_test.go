package e2e

import (
	proofs "bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// saving is the program of the README's proof, shorter, with what it learned written to the path behind --out.
func saving(t *testing.T) string {
	t.Helper()
	const end = "\n\nif __name__"
	text := strings.Replace(read(t, filepath.Join(root(t), "testdata", "proof", "train.py")), "RECORDS = 1600", "RECORDS = 480", 1)
	before, after, found := strings.Cut(strings.Replace(text, "import time\n", "import sys\nimport time\n", 1), end)
	if !found || !strings.Contains(text, "RECORDS = 480") {
		t.Fatal("testdata/proof/train.py has changed")
	}
	return strings.TrimRight(before, "\n") + "\n    if \"--out\" in sys.argv:\n" +
		"        torch.save(model.state_dict(), sys.argv[sys.argv.index(\"--out\") + 1])\n" + end + after
}

// TestProveAsksFirst: runs that would write over each other are refused until told how, saved states are compared, the working directory
// keeps what it has, and sources that changed since the recording are not proven.
func TestProveAsksFirst(t *testing.T) {
	testkit.Rest(t, true, "make test-proofs")
	folder, path := pageFolder(t, environment(t, generations(t)[0]))
	folder = filepath.Join(folder, "project")
	write(t, filepath.Join(folder, "train.py"), saving(t))
	does := func(command string, want int, says string) {
		t.Helper()
		status, out := execute(t, folder, path, command)
		if status != want || !strings.Contains(strings.Join(strings.Fields(out), " "), says) {
			t.Fatalf("%s: exit status %d, want %d and %q:\n%s", command, status, want, says, out)
		}
	}
	does("bottleneck run --out before -o before.txt train.py --out state.pt && rm state.pt", 0, "")
	does("bottleneck prove --runs 2 --out refused before", 2, "each run would write to the same place (--out state.pt): run it in a copy")
	does("bottleneck prove --finding 99 before", 2, "--finding: the report has ")
	does("bottleneck prove --runs 2 --in-temporary-directory --compare state.pt --out proof --json proof.json before", 0, "")
	var p proofs.Proof
	if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, "proof.json"))), &p); err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(p.Notes, "\n"); p.Outputs != proofs.OutputsSame ||
		!strings.Contains(notes, "the saved states are the same, too: state.pt") {
		t.Errorf("outputs %s %s, notes %s", p.Outputs, p.Difference, notes)
	}
	if _, err := os.Stat(filepath.Join(folder, "state.pt")); err == nil {
		t.Error("a run wrote into the working directory")
	}
	does("bottleneck prove --yes --runs 1 --compare none.pt --out none before", 3, "left no none.pt to compare")
	does("echo '# later' >> train.py; bottleneck prove --yes --runs 1 --out later before", 3, "has changed since the recording (line ")
}

// TestRunProvesFinding: the change of the first finding is measured right after the report, within the budget.
func TestRunProvesFinding(t *testing.T) {
	testkit.Wide(t, true)
	folder, path := pageFolder(t, environment(t, generations(t)[0]))
	folder = filepath.Join(folder, "project")
	write(t, filepath.Join(folder, "train.py"), saving(t))
	status, out := execute(t, folder, path, "bottleneck run --prove --budget 15s --out before train.py")
	report, proof, found := strings.Cut(out, "finding 1: train.py:")
	if status != 0 || !found || !strings.Contains(report, "DataLoader") || !strings.Contains(proof, "original and changed in turns") ||
		!strings.Contains(proof, "pair 1: original ") || !strings.Contains(proof, "Promised") && !strings.Contains(proof, "promised") {
		t.Errorf("exit status %d:\n%s", status, out)
	}
}

// TestStatesAreCompared saves state dicts and asks how a changed program's differs from the original's, which differ by themselves.
func TestStatesAreCompared(t *testing.T) {
	testkit.Wide(t, false)
	for _, generation := range generations(t) {
		folder := t.TempDir()
		script := filepath.Join(folder, "save.py")
		write(t, script, `import torch
base = {"weight": torch.arange(6.0).reshape(2, 3), "steps": 7, "none": [torch.zeros(0), {"mean": torch.tensor(1e-9)}]}
def save(name, **more):
    torch.save({**base, **more}, name)
save("one")
save("again", weight=base["weight"] + 0.1)
save("same")
save("rounded", weight=base["weight"] * (1 + 1e-5))
save("near", weight=base["weight"] - 0.15)
save("far", weight=base["weight"] + 1)
save("nan", weight=base["weight"] * float("nan"))
save("counted", steps=8)
save("shaped", weight=torch.arange(6.0))
save("more", bias=torch.ones(2))
torch.save({"steps": 7}, "less")
`)
		python := environment(t, generation)
		cmd := exec.Command(python, script)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, c := range []struct{ again, after, says string }{
			{"one", "same", ""}, {"one", "rounded", ""},
			{"one", "near", "weight differs by up to 0.15, and from run to run of the original by 0"},
			{"again", "near", ""}, // two runs of the original are as far apart as half of it
			{"again", "far", "weight differs by up to 1, and from run to run of the original by 0.1"},
			{"one", "nan", "weight differs by up to nan"}, {"one", "counted", "steps differs by up to 1,"},
			{"one", "shaped", "weight has the shape [6], and had [2, 3]"}, {"one", "more", "bias is new"},
			{"one", "less", "weight is no longer saved"},
		} {
			cmd := exec.Command(python, filepath.Join(root(t), "internal", "cli", "py", "states.py"), "one", c.again, c.after)
			cmd.Dir = folder
			out, err := cmd.CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || !strings.HasPrefix(got, c.says) || c.says == "" && got != "" {
				t.Errorf("%s: %s after %s: %v, %q, want %q", generation, c.after, c.again, err, got, c.says)
			}
		}
	}
}
