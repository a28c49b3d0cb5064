package e2e

import (
	"bottleneck/internal/testkit"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// revised is a training script, the line after which a regression is planted, and what that is found by.
type revised struct {
	script, python string
	after, planted string
	counter        string
	command        string
	data           map[string]string // files beside it that are not in git
}

// TestABFindsRevision plants a regression in a git repository that holds a copy of a training script, one of ours and a public one: one
// pair of runs names its line, since what is counted needs no more, and the repository stays as it is.
func TestABFindsRevision(t *testing.T) {
	testkit.Rest(t, true, "make test-proofs")
	generation := generations(t)[0]
	t.Run("ours", func(t *testing.T) {
		// It prints at each 50th step, which reads a loss as well: one run a side decides only where the steps' counts have none in
		// common.
		findsRevision(t, &revised{script: filepath.Join(root(t), "examples", "language.py"), python: environment(t, generation),
			after: "        loss.backward()\n", planted: "        history = loss.item()", counter: "aten::item", command: "--steps 48"})
	})
	t.Run("public", func(t *testing.T) {
		words := strings.Builder{}
		for i := range 2000 {
			words.WriteString("b" + string("aeiou"[i%5]) + string("klmnrst"[i%7]) + string("aeiou"[i/5%5]) + string("dgpvz"[i/25%5]) + "\n")
		}
		findsRevision(t, &revised{script: publicScript(t, "makemore-mlp", "karpathy/makemore", "makemore.py"),
			python: environment(t, "public"), after: "        logits, loss = model(X, Y)\n", planted: "        kept = logits.clone()",
			counter: "aten::clone", command: "--type mlp --max-steps 200 --num-workers 0 --input-file names.txt --work-dir out",
			data: map[string]string{"names.txt": words.String(), ".gitignore": "names.txt\nout/\nboth/\n__pycache__/\n"}})
	})
}

// publicScript is the path of a file of a public repository, as the public bench pins it: from its folder of checkouts, into which
// `make public ONLY=PROGRAM ARGS=-get` brings it. The test does so itself where there are mirrors: what the bench needs besides is large.
func publicScript(t *testing.T, program, repository, name string) string {
	t.Helper()
	cache := os.Getenv("BOTTLENECK_CACHE")
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			t.Skip(err)
		}
		cache = filepath.Join(dir, "bottleneck-dev")
	}
	path := filepath.Join(cache, "public", "checkouts", strings.ReplaceAll(repository, "/", "+"), name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("BOTTLENECK_PUBLIC_MIRRORS") == "" {
			t.Skipf("make public ONLY=%s ARGS=-get brings %s of %s", program, name, repository)
		}
		cmd := exec.Command("go", "run", "./bench/public", "-get", "-only", program, "-work", t.TempDir())
		cmd.Dir = root(t)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%s of %s cannot be had here: %v\n%s", name, repository, err, out)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skip(err)
	}
	sum := sha256.Sum256(text)
	pins := read(t, filepath.Join(root(t), "bench", "public", "files.txt"))
	if !strings.Contains(pins, hex.EncodeToString(sum[:])+" "+name) {
		t.Fatalf("%s is not the file that bench/public/files.txt pins", path)
	}
	return path
}

func findsRevision(t *testing.T, r *revised) {
	folder, path := pageFolder(t, r.python)
	folder = filepath.Join(folder, "project")
	name := filepath.Base(r.script)
	script := filepath.Join(folder, name)
	good := read(t, r.script)
	at := strings.LastIndex(good, r.after) // loops of evaluation stand before that of training
	if at < 0 {
		t.Fatalf("%s has no such line any more: %s", name, r.after)
	}
	before, rest := good[:at], good[at+len(r.after):]
	commit := " && git add " + name + " && git -c user.name=n -c user.email=e commit -qm "
	write(t, script, good)
	for file, text := range r.data {
		write(t, filepath.Join(folder, file), text)
	}
	if status, out := execute(t, folder, path, "git init -q ."+commit+"good"); status != 0 {
		t.Skipf("git: %s", out)
	}
	write(t, script, before+r.after+r.planted+"  # planted\n"+rest)
	line := 2 + strings.Count(before, "\n")
	if status, out := execute(t, folder, path, "true"+commit+"worse"); status != 0 {
		t.Fatal(out)
	}
	write(t, script, read(t, script)+"# not committed\n")
	status, out := execute(t, folder, path, "bottleneck ab --rev HEAD~1 --runs 1 --out both -- python "+name+" "+r.command)
	want := "1 more " + r.counter + " a step at " + name + ":" + strconv.Itoa(line)
	if said := strings.Join(strings.Fields(out), " "); status != 0 || !strings.Contains(said, want) {
		t.Errorf("exit status %d, and no %q:\n%s", status, want, out)
	}
	if status, out := execute(t, folder, path, "git worktree list | wc -l; git status --porcelain --untracked-files=no"); status != 0 ||
		strings.Join(strings.Fields(out), " ") != "1 M "+name {
		t.Errorf("the repository is left as %q", out)
	}
}
