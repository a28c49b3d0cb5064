package e2e

import (
	proofs "bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// provable are programs of testdata whose finding has a change that a program can make. sizes make them short.
var provable = []struct {
	path, cause string
	sizes       []string // pairs of old and new texts
	wide        bool
}{
	{"zoo/input-workers/slow.py", "input", []string{"ROWS = 4400", "ROWS = 1800"}, false},
	{"zoo/input-restart/slow.py", "input", []string{"EPOCHS = 64", "EPOCHS = 32\ntorch.manual_seed(3)"}, true},
	{"zoo/python-anomaly/slow.py", "python", []string{"STEPS = 300", "STEPS = 150\ntorch.manual_seed(3)"}, true},
	{"zoo/memory-optimizer/slow.py", "memory-bound", []string{"STEPS = 60", "STEPS = 60\ntorch.manual_seed(3)"}, true},
	{"zoo/compile-again/slow.py", "compile", []string{"STEPS = 28", "STEPS = 28\ntorch.manual_seed(3)"}, true},
	{"zoo/threads-many/slow.py", "threads", []string{"STEPS = 780", "STEPS = 390\ntorch.manual_seed(3)"}, true},
	{"proof/objects.py", "gc", nil, true},
}

// repository makes a git repository with a program as train.py.
func repository(t *testing.T, folder, path, text string) {
	t.Helper()
	write(t, filepath.Join(folder, "train.py"), text)
	if status, out := execute(t, folder, path,
		"git init -q . && git add train.py && git -c user.name=n -c user.email=e commit -qm before"); status != 0 {
		t.Skipf("git: %s", out)
	}
}

// TestProveZoo: run, prove, apply the patch, run, diff, gate. How much is saved is not judged here, since other programs run beside the
// tests:
// make zoo does. What is: the change is the one that the finding proposes, nothing of the user's is touched, both sides print the same.
func TestProveZoo(t *testing.T) {
	for _, generation := range generations(t) {
		python := environment(t, generation)
		for _, c := range provable {
			t.Run(generation+"/"+c.path, func(t *testing.T) {
				testkit.Wide(t, c.wide)
				folder, path := pageFolder(t, python)
				folder = filepath.Join(folder, "project")
				original := strings.NewReplacer(c.sizes...).Replace(read(t, filepath.Join(root(t), "testdata", filepath.FromSlash(c.path))))
				repository(t, folder, path, original)
				does := func(command string) string {
					t.Helper()
					status, out := execute(t, folder, path, command)
					if status != 0 {
						t.Fatalf("%s: exit status %d\n%s", command, status, out)
					}
					return out
				}
				does("bottleneck run --out before -o before.txt train.py")
				does("bottleneck prove --runs 2 --out proof --patch faster.patch --json proof.json before")
				var p proofs.Proof
				if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, "proof.json"))), &p); err != nil {
					t.Fatal(err)
				}
				if p.Finding.Cause != c.cause || p.Outputs != proofs.OutputsSame || p.Bound || p.InTurns.Pairs != 2 ||
					p.Promised.RunS == nil || p.Patch != "faster.patch" {
					t.Errorf("%+v: outputs %s %s, patch %q, %d pairs", p.Finding, p.Outputs, p.Difference, p.Patch, p.InTurns.Pairs)
				}
				if read(t, filepath.Join(folder, "train.py")) != original ||
					strings.Contains(does("git status --porcelain --untracked-files=no"), "train.py") {
					t.Error("the user's file was touched")
				}
				does("git apply faster.patch")
				if got := strings.Split(read(t, filepath.Join(folder, "train.py")),
					"\n"); strings.TrimSpace(got[p.Finding.Where.Line-1]) != p.Finding.Change {
					t.Errorf("line %d is %q", p.Finding.Where.Line, got[p.Finding.Where.Line-1])
				}
				does("bottleneck run --out after -o after.txt train.py")
				does("bottleneck diff --anyway before after")
				does("bottleneck gate --baseline perf.json --write-baseline after")
				if out := does("bottleneck gate --baseline perf.json after"); !strings.HasPrefix(out, "Passed: ") {
					t.Error(out)
				}
			})
		}
	}
}

// measured matches a number with its unit, and what aligns it: it differs from machine to machine, and from what the page shows.
var measured = regexp.MustCompile(`\s*\b\d+(\.\d+)?( (ms|µs|s|%)( |\b))?`)

// TestProofPage executes what README.md tells between its marks, on the program that it is of.
func TestProofPage(t *testing.T) {
	testkit.Wide(t, true)
	folder, path := pageFolder(t, environment(t, generations(t)[0]))
	folder = filepath.Join(folder, "project")
	repository(t, folder, path, read(t, filepath.Join(root(t), "testdata", "proof", "train.py")))
	_, page, _ := strings.Cut(read(t, filepath.Join(root(t), "README.md")), "<!-- proof -->")
	page, _, found := strings.Cut(page, "<!-- end of proof -->")
	page = measured.ReplaceAllString(page, "…")
	if !found {
		t.Fatal("README.md has no proof between its marks")
	}
	block := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(block, []byte(strings.ReplaceAll(page, "```text", "```console")), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := readCommands(t, block)
	if len(commands) < 6 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		status, out := execute(t, folder, path, c.command)
		if status != c.status {
			t.Errorf("%s: exit status %d, want %d\n%s", c.command, status, c.status, out)
		}
		if missing, ok := matches(out, c.output); !ok {
			t.Errorf("%s: its output lacks %q:\n%s", c.command, missing, out)
		}
	}
}
