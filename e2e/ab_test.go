package e2e

import (
	"bottleneck/internal/testkit"
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// regressions are changes of a training script that cost something in each step. The public one is fetched, and checked, by
// make public ONLY=mingpt-chargpt ARGS=-get.
var regressions = []struct {
	name, repository string   // "" of ours
	files            []string // below the repository, "" examples
	file, old, new   string   // a line that changes; new is more lines, of which the planted one has the mark
	command          string
	counts           string
}{
	// It prints at each 50th step, which reads a loss as well: one run a side decides only where the steps' counts have none in common.
	{"ours", "", []string{"language.py"}, "language.py", "        loss.backward()\n",
		"        loss.backward()\n        history = loss.item()  # planted\n", "python language.py --steps 48", "1 more aten::item a step"},
	{"minGPT", "karpathy/minGPT", []string{"projects/chargpt/chargpt.py", "mingpt/__init__.py", "mingpt/model.py", "mingpt/trainer.py",
		"mingpt/utils.py"}, "mingpt/trainer.py", "            x, y = batch\n", "            x, y = (t.clone() for t in batch)  # planted\n",
		"PYTHONPATH=. python projects/chargpt/chargpt.py --trainer.max_iters=24 --trainer.num_workers=0 --model.model_type=gpt-nano " +
			"--data.block_size=32", "2 more aten::copy_ a step"},
}

// TestABFindsRevision plants a regression in a git repository that holds a copy of a training script: one pair of runs names its line,
// since what is counted needs no more, and the repository stays as it is.
func TestABFindsRevision(t *testing.T) {
	testkit.Wide(t, true)
	for _, c := range regressions {
		t.Run(c.name, func(t *testing.T) {
			sources := filepath.Join(root(t), "examples")
			if c.repository != "" {
				sources = checkedOut(t, c.repository, c.files)
			}
			folder, path := pageFolder(t, environment(t, generations(t)[0]))
			folder = filepath.Join(folder, "project")
			for _, name := range c.files {
				write(t, filepath.Join(folder, name), read(t, filepath.Join(sources, name)))
			}
			write(t, filepath.Join(folder, "input.txt"), strings.Repeat("O God! The quick brown fox jumps, over the lazy dog\n", 100))
			script := filepath.Join(folder, c.file)
			before, rest, found := strings.Cut(read(t, script), c.old)
			if !found {
				t.Fatalf("%s has no such line any more: %s", c.file, c.old)
			}
			commit := " && git add . && git -c user.name=n -c user.email=e commit -qm "
			if status, out := execute(t, folder, path, "git init -q ."+commit+"good"); status != 0 {
				t.Skipf("git: %s", out)
			}
			write(t, script, before+c.new+rest)
			planted, _, _ := strings.Cut(c.new, "# planted")
			line := 1 + strings.Count(before+planted, "\n")
			if status, out := execute(t, folder, path, "true"+commit+"worse"); status != 0 {
				t.Fatal(out)
			}
			write(t, script, read(t, script)+"# not committed\n")
			command, environment := c.command, ""
			if variable, rest, some := strings.Cut(command, " "); some && strings.Contains(variable, "=") {
				environment, command = variable+" ", rest
			}
			status, out := execute(t, folder, path, environment+"bottleneck ab --rev HEAD~1 --runs 1 --out both -- "+command)
			if want := c.counts + " at " + filepath.Base(c.file) + ":" + strconv.Itoa(line); status != 0 ||
				!strings.Contains(strings.Join(strings.Fields(out), " "), want) {
				t.Errorf("exit status %d, and no %q:\n%s", status, want, out)
			}
			status, out = execute(t, folder, path, "git worktree list | wc -l; git status --porcelain --untracked-files=no")
			if status != 0 || strings.Join(strings.Fields(out), " ") != "1 M "+c.file {
				t.Errorf("the repository is left as %q", out)
			}
		})
	}
}

// checkedOut is the folder of a public repository's files, as bench/public has brought them; each must be the pinned one.
func checkedOut(t *testing.T, repository string, files []string) string {
	t.Helper()
	cache := os.Getenv("BOTTLENECK_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Skip(err)
		}
		cache = filepath.Join(dir, "bottleneck-dev")
	}
	folder := filepath.Join(cmp.Or(os.Getenv("BOTTLENECK_PUBLIC"), filepath.Join(cache, "public")), "checkouts",
		strings.ReplaceAll(repository, "/", "+"))
	pins := strings.Split(read(t, filepath.Join(root(t), "bench", "public", "files.txt")), "\n")
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Skipf("%s is not here: %v", repository, err)
		}
		hash := fmt.Sprintf("%x", sha256.Sum256(text))
		if !slices.ContainsFunc(pins, func(pin string) bool {
			return strings.HasPrefix(pin, repository+" ") && strings.HasSuffix(pin, " "+hash+" "+name)
		}) {
			t.Fatalf("%s of %s is not the file that is pinned", name, repository)
		}
	}
	return folder
}
