package e2e

import (
	proofs "bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// bounded are programs whose finding has no change that a program can make, and is bounded. before is what only the original's report
// or output holds, after what only the changed one's does.
var bounded = []struct {
	program, cause, words string
	sizes                 []string // pairs of old and new texts
	before, after         string
	rest                  bool
}{
	{"zoo/io-logging/slow.py", "io", "what train.py:19 and the lines around it write to files goes nowhere",
		[]string{"STEPS = 292", "STEPS = 90"}, "calls of write: logging.emit", "", narrow}, // what makes the lines stays
	{"zoo/io-checkpoint/slow.py", "io", "what train.py:15 and the lines around it write to files goes nowhere",
		[]string{"STEPS = 200", "STEPS = 60"}, "writing checkpoints", "", rest},
	{"proof/compiled.py", "warmup", "a second start: the code that torch.compile made for the first one is there (the original starts " +
		"with empty caches)", nil, "code was made", "code was there", rest},
}

// TestProveBounds takes causes away that no line can: the changed program's report does not name them any more, the answer says that it is
// a bound, and what a program cannot do without is no bound.
func TestProveBounds(t *testing.T) {
	for _, generation := range generations(t) {
		python := environment(t, generation)
		for _, c := range bounded {
			t.Run(generation+"/"+c.program, func(t *testing.T) {
				testkit.Rest(t, c.rest, "make test-proofs")
				folder, path := pageFolder(t, python)
				text := strings.NewReplacer(c.sizes...).Replace(read(t, filepath.Join(root(t), "testdata", filepath.FromSlash(c.program))))
				write(t, filepath.Join(folder, "train.py"), text)
				out := ""
				for _, command := range []string{"TORCHINDUCTOR_CACHE_DIR=$PWD/caches bottleneck run --out before -o before.txt train.py",
					"bottleneck prove --runs 1 --out proof --json proof.json before",
					"bottleneck report proof/original/01; cat proof/output/original-01.out; echo CHANGED; " +
						"bottleneck report proof/changed/01; cat proof/output/changed-01.out"} {
					status := 0
					if status, out = execute(t, folder, path, command); status != 0 {
						t.Fatalf("%s: exit status %d\n%s", command, status, out)
					}
				}
				var p proofs.Proof
				if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, "proof.json"))), &p); err != nil {
					t.Fatal(err)
				}
				if p.Finding.Cause != c.cause || !p.Bound || p.Finding.Change != c.words || p.Patch != "" || p.InTurns.Pairs != 1 ||
					len(p.Notes) == 0 || !strings.HasPrefix(p.Notes[0], "this is a bound: ") {
					t.Errorf("%+v, bound %v, patch %q, notes %q", p.Finding, p.Bound, p.Patch, p.Notes)
				}
				out = strings.Join(strings.Fields(out), " ")
				original, changed, _ := strings.Cut(out, "CHANGED")
				if !strings.Contains(original, c.before) || strings.Contains(changed, c.before) || !strings.Contains(changed, c.after) {
					t.Errorf("the original shall hold %q, the changed one %q in place of it:\n%s", c.before, c.after, out)
				}
			})
		}
	}
}

// TestProveNoBound refuses bounds of programs that do not run without what they write.
func TestProveNoBound(t *testing.T) {
	testkit.Rest(t, true, "make test-proofs")
	slow := read(t, filepath.Join(root(t), "testdata", "zoo", "io-checkpoint", "slow.py"))
	slow = strings.Replace(slow, "STEPS = 200", "STEPS = 60", 1)
	folder, path := pageFolder(t, environment(t, generations(t)[0]))
	reads := "    print(f\"loss"
	if !strings.Contains(slow, reads) {
		t.Fatal("the program has changed")
	}
	write(t, filepath.Join(folder, "train.py"), strings.Replace(slow, reads,
		"        torch.load(os.path.join(folder, \"state.pt\"))\n"+reads, 1))
	status, out := execute(t, folder, path,
		"bottleneck run --out before -o before.txt train.py && bottleneck prove --runs 1 --out proof before")
	if status == 0 || !strings.Contains(out, "does not run with its cause taken away, so that there is no bound") {
		t.Errorf("exit status %d\n%s", status, out)
	}
}
