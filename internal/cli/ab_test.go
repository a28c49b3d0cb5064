//go:build unix

package cli

import (
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestABUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"true", "--", "true"}, "both commands come after a --"},
		{[]string{"--", "true"}, "the second command is missing"},
		{[]string{"--", "true", "--"}, "a command is missing"},
		{[]string{"--", "true", "--", "true", "--", "true"}, "3 times --"},
		{[]string{"--runs", "-1", "--", "true", "--", "true"}, "not between 1 and"},
		{[]string{"--budget", "-1s", "--", "true", "--", "true"}, "must not be negative"},
		{[]string{"--per", "mile", "--", "true", "--", "true"}, "--per"},
		{[]string{"--rev", "HEAD"}, "the command comes after --"},
		{[]string{"--rev", "no-such-revision", "--", "true"}, "git"},
	} {
		code, _, stderr := here(append([]string{"ab"}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: status %d, %q", c.args, code, stderr)
		}
	}
}

// waits is a program that takes a known time, without much of the machine.
const waits = `import sys, time
for name in sys.argv[2:]:
    if name == "fails":
        raise SystemExit("it fails")
time.sleep(float(sys.argv[1]))
print("done")
`

// TestABDecides compares a program that sleeps with one that sleeps far longer: it is decided after the fewest pairs, and the sessions
// can be
// read by diff.
func TestABDecides(t *testing.T) {
	b := newBench(t)
	b.file("s.py", waits)
	got := b.run("", "ab", "--no-trace", "--out", "o", "--json", "d.json", "--", "python3", "s.py", "0.05", "--", "python3", "s.py", "3")
	if got.code != 0 || !strings.HasPrefix(got.stdout, "Slower by ") {
		t.Fatalf("%+v", got)
	}
	text := b.read("d.json")
	validate(t, "diff.schema.json", text)
	var d report.Diff
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if d.Verdict != report.Slower || d.InTurns == nil || d.InTurns.Stopped != "decided" || d.InTurns.Pairs < 4 || *d.Step.LowMs <= 0 ||
		*d.Step.HighMs < 2900 {
		t.Errorf("%s: %+v %+v", d.Sentence, d.Step, d.InTurns)
	}
	if out := b.read("o/output/b-01.out"); out != "done\n" {
		t.Errorf("the program's output is %q", out)
	}
	if again := b.run("", "diff", "o/a", "o/b"); again.code != 0 || !strings.Contains(again.stdout, "runs, run: o/a") {
		t.Errorf("%+v", again)
	}
	if twice := b.run("", "ab", "--out", "o", "--", "true", "--", "true"); twice.code != exitUsage ||
		!strings.Contains(twice.stderr, "not empty") {
		t.Errorf("%+v", twice)
	}
}

// TestPairsShareTheirHashes: both runs of a pair keep strings in the same order in sets, another pair in another one; a seed that the user
// chose is kept.
func TestPairsShareTheirHashes(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import os, time\ntime.sleep(0.1)\nprint(hash('a'), os.environ['PYTHONHASHSEED'])\n")
	args := []string{"ab", "--runs", "2", "--no-trace", "--", "python3", "s.py", "--", "python3", "s.py", "other"}
	if got := b.run("", slices.Insert(args, 1, "--out", "o")...); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	first, second := b.read("o/output/a-01.out"), b.read("o/output/a-02.out")
	if first != b.read("o/output/b-01.out") || second != b.read("o/output/b-02.out") || first == second {
		t.Errorf("pairs %q and %q, others %q and %q", first, second, b.read("o/output/b-01.out"), b.read("o/output/b-02.out"))
	}
	b.env = append(b.env, "PYTHONHASHSEED=17")
	if got := b.run("", slices.Insert(args, 1, "--out", "p")...); got.code != 0 || !strings.HasSuffix(b.read("p/output/b-02.out"), " 17\n") {
		t.Errorf("%+v: %q", got, b.read("p/output/b-02.out"))
	}
}

// TestABFails names the side that fails, with its last words.
func TestABFails(t *testing.T) {
	b := newBench(t)
	b.file("s.py", waits)
	got := b.run("", "ab", "--no-trace", "--out", "o", "--", "python3", "s.py", "0", "--", "python3", "s.py", "0", "fails")
	if got.code != exitUnusable || !strings.Contains(got.stderr, "b, run 1: ended with exit status 1: it fails") ||
		!strings.Contains(got.stderr, "nothing is compared: b fails") {
		t.Errorf("%+v", got)
	}
	// A run that fails later is left out, and the others count.
	b.file("once.py",
		"import os, sys\nn = len(os.listdir(sys.argv[1]))\nopen(f'{sys.argv[1]}/{n}', 'w')\nraise SystemExit('the third time' "+
			"if n == 2 else 0)\n")
	if err := os.Mkdir(filepath.Join(b.dir, "count"), 0o700); err != nil {
		t.Fatal(err)
	}
	got = b.run("", "ab", "--anyway", "--runs", "3", "--no-trace", "--out", "p", "--", "python3", "s.py", "0", "--",
		"python3", "once.py", "count")
	if got.code > 1 || !strings.Contains(got.stderr, "b, run 3: ended with exit status 1: the third time") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "p", "failed", "b-03", "manifest.json")); err != nil {
		t.Error(err)
	}
}

// TestABInterrupted asks for the answer so far.
func TestABInterrupted(t *testing.T) {
	b := newBench(t)
	b.file("s.py", waits)
	cmd := b.command("ab", "--no-trace", "--runs", "50", "--out", "o", "--", "python3", "s.py", "0.2", "--", "python3", "s.py", "0.2")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(b.dir, "o", "b", "02"))
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if !strings.HasPrefix(stdout.String(), "Cannot say: ") || !strings.Contains(stdout.String(), "until it was interrupted") {
		t.Errorf("%s\n%s", stdout.String(), stderr.String())
	}
}

// TestABRevNeedsGit names what is missing: a repository, and git itself.
func TestABRevNeedsGit(t *testing.T) {
	b := newBench(t)
	b.file("s.py", waits)
	b.env = append(b.env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(b.dir))
	if got := b.run("", "ab", "--rev", "HEAD", "--", "python3", "s.py", "0"); got.code != exitUsage ||
		!strings.Contains(got.stderr, "--rev: git") {
		t.Errorf("no repository: %+v", got)
	}
	empty := t.TempDir()
	b.env = append(b.env, "PATH="+empty)
	if got := b.run("", "ab", "--rev", "HEAD", "--", python, "s.py", "0"); got.code != exitUsage ||
		!strings.Contains(got.stderr, "--rev: git") || !strings.Contains(got.stderr, "not found") {
		t.Errorf("no git: %+v", got)
	}
	b.mustNotExist(filepath.Join(b.dir, "bottleneck-out"))
}

// TestInterferenceIsSaid names how many runs other programs disturbed, by how much, and which one most.
func TestInterferenceIsSaid(t *testing.T) {
	ran := func(cores float64) ranOnce {
		return ranOnce{run: compare.Run{Report: &report.Report{Environment: report.Environment{OthersBusyCores: &cores}}}}
	}
	r := &repeater{variants: [2]variant{{name: "a"}, {name: "b"}}}
	if notes := interference(r, [][2]ranOnce{{ran(0.1), ran(0)}, {ran(0.2), {run: compare.Run{Report: &report.Report{}}}}}); notes != nil {
		t.Errorf("a quiet machine: %q", notes)
	}
	notes := interference(r, [][2]ranOnce{{ran(0.1), ran(0.5)}, {ran(1.5), ran(0)}})
	const want = "other programs ran beside 2 of the 4 runs: they kept 1.00 cores busy on average, at most 1.50 (a, run 2)"
	if len(notes) != 1 || notes[0] != want {
		t.Errorf("%q, want %q", notes, want)
	}
}

func await(t *testing.T, path string) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s does not appear", path)
}

// TestABRev compares a revision with a working tree that is not committed, and asks that nothing of the user's changes.
func TestABRev(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	b := newBench(t)
	repository := filepath.Join(b.dir, "repository")
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	b.file("repository/work.py", "import time\nfrom pause import PAUSE\nopen('data/in').read()\ntime.sleep(PAUSE)\n")
	b.file("repository/pause.py", "PAUSE = 0.05\n")
	b.file("repository/.gitignore", "data/\n__pycache__/\n")
	b.file("repository/data/in", "ignored data")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "before")
	b.file("repository/pause.py", "PAUSE = 3\n")
	b.file("repository/new.txt", "not committed")
	git("add", "pause.py")
	before := git("status", "--porcelain") + git("stash", "list") + git("branch", "-a")
	cmd := b.command("ab", "--rev", "HEAD", "--no-trace", "--out", filepath.Join(b.dir, "o"), "--json", filepath.Join(b.dir, "d.json"),
		"--", "python3", "work.py")
	cmd.Dir = repository
	got := b.finish(cmd)
	if got.code != 0 || !strings.HasPrefix(got.stdout, "Slower by ") {
		t.Errorf("%+v", got)
	}
	if after := git("status", "--porcelain") + git("stash", "list") + git("branch", "-a"); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
	if list := git("worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("a worktree is left: %s", list)
	}
	cmd = b.command("ab", "--rev", "HEAD", "--no-trace", "--out", filepath.Join(b.dir, "stopped"), "--", "python3", "work.py")
	cmd.Dir = repository
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, filepath.Join(b.dir, "stopped", "b", "01"))
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if list := git("worktree", "list"); strings.Count(list, "\n") != 1 || cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("after Ctrl-C: exit status %d, worktrees %s\n%s", cmd.ProcessState.ExitCode(), list, stderr.String())
	}
	if text := b.read("repository/data/in"); text != "ignored data" {
		t.Errorf("data is %q", text)
	}
}

// TestABBudget starts no pair that would end after the budget, and says what it could have shown.
func TestABBudget(t *testing.T) {
	b := newBench(t)
	b.file("s.py", waits)
	got := b.run("", "ab", "--no-trace", "--budget", "1ms", "--out", "o", "--json", "d.json", "--", "python3", "s.py", "0", "--",
		"python3", "s.py", "0.1")
	var d report.Diff
	if err := json.Unmarshal([]byte(b.read("d.json")), &d); err != nil {
		t.Fatal(err)
	}
	if got.code != 0 || d.InTurns == nil || d.InTurns.Pairs != 1 || d.InTurns.Stopped != "budget" || d.Verdict != report.Undecided {
		t.Errorf("%+v: %+v", got, d.InTurns)
	}
}
