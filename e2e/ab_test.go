package e2e

import (
	"bottleneck/internal/testkit"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestABFindsRevision plants a regression in a git repository that holds a copy of a training script: one pair of runs names its line,
// since
// what is counted needs no more, and the repository stays as it is.
func TestABFindsRevision(t *testing.T) {
	testkit.Wide(t, true)
	folder, path := pageFolder(t, environment(t, generations(t)[0]))
	folder = filepath.Join(folder, "project")
	script := filepath.Join(folder, "train.py")
	good := read(t, filepath.Join(root(t), "examples", "language.py"))
	const after = "        loss.backward()\n"
	before, rest, found := strings.Cut(good, after)
	if !found {
		t.Fatal("examples/language.py has no such line any more: " + after)
	}
	commit := " && git add train.py && git -c user.name=n -c user.email=e commit -qm "
	write(t, script, good)
	if status, out := execute(t, folder, path, "git init -q ."+commit+"good"); status != 0 {
		t.Skipf("git: %s", out)
	}
	write(t, script, before+after+"        history = loss.item()  # planted\n"+rest)
	line := 2 + strings.Count(before, "\n")
	if status, out := execute(t, folder, path, "true"+commit+"worse"); status != 0 {
		t.Fatal(out)
	}
	write(t, script, read(t, script)+"# not committed\n")
	// It prints at each 50th step, which reads a loss as well: one run a side decides only where the steps' counts have none in common.
	status, out := execute(t, folder, path, "bottleneck ab --rev HEAD~1 --runs 1 --out both -- python train.py --steps 48")
	if want := "1 more aten::item a step at train.py:" + strconv.Itoa(line); status != 0 ||
		!strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		t.Errorf("exit status %d, and no %q:\n%s", status, want, out)
	}
	if status, out := execute(t, folder, path, "git worktree list | wc -l; git status --porcelain --untracked-files=no"); status != 0 ||
		strings.Join(strings.Fields(out), " ") != "1 M train.py" {
		t.Errorf("the repository is left as %q", out)
	}
}
