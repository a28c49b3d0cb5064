package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// planted writes code that another user hopes to have run, where the agent's once lay: it makes the file "ran".
func (b *bench) planted(folder string) (ran string) {
	ran = filepath.Join(b.dir, "ran")
	for _, name := range []string{"json.py", "os.py", "sitecustomize.py", "_bneck_agent/__init__.py"} {
		b.file(folder+"/"+name, "open("+fmt.Sprintf("%q", ran)+", 'w')\n")
	}
	return ran
}

// Code that lies in a directory given with --out is never run: not by a run that makes its session there, nor by one that joins it.
func TestCodeInTheSessionIsNotRun(t *testing.T) {
	for name, link := range map[string]bool{"a folder": false, "a link to somebody's folder": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.file("s.py",
				"import json, subprocess, sys\nprint('ran', flush=True)\nsubprocess.call([sys.executable, '-c', 'import json'])\n")
			ran := b.planted("theirs")
			if err := os.Mkdir(filepath.Join(b.dir, "o"), 0o755); err != nil {
				t.Fatal(err)
			}
			place := os.Rename
			if link {
				place = os.Symlink
			}
			if err := place(filepath.Join(b.dir, "theirs"), filepath.Join(b.dir, "o/agent")); err != nil {
				t.Fatal(err)
			}
			if got := b.run("", "run", "--out", "o", "s.py"); got.code != 2 || got.stdout != "" {
				t.Errorf("a directory without a session: %+v", got)
			}
			b.file("o/manifest.json",
				`{"schema":"bottleneck.session/1","job":"elastic-7","created_unix_ns":1,"command":null,"host":"x","bottleneck":"1"}`)
			b.env = append(b.env, "TORCHELASTIC_RUN_ID=7", "WORLD_SIZE=2", "RANK=0")
			if got := b.run("", "run", "--out", "o", "s.py"); got.code != 0 || got.stdout != "ran\n" {
				t.Errorf("a session of the same job: %+v", got)
			}
			if got := b.run("", "env", "--out", "o"); got.code != 3 || got.stdout != "" ||
				!strings.Contains(got.stderr, "is not what this version of bottleneck writes") {
				t.Errorf("env: %+v", got)
			}
			b.mustNotExist(ran)
		})
	}
}

// Compiled code counts as code.
func TestEnvRunsNoCompiledCodeThatIsThere(t *testing.T) {
	b := newBench(t)
	script := `eval "$("$BOTTLENECK" env --out o)"; exec ` + python + ` -c "import json; print('ran')"`
	env := func() result {
		cmd := b.exec("sh", "-c", script)
		cmd.Env = append(cmd.Env, "BOTTLENECK="+b.command().Path)
		return b.finish(cmd)
	}
	if got := env(); got.code != 0 || got.stdout != "ran\n" {
		t.Fatalf("first: %+v", got)
	}
	compiled, _ := filepath.Glob(filepath.Join(b.dir, "o/agent/_bneck_agent/__pycache__/core.*.code"))
	if len(compiled) != 1 {
		t.Fatalf("compiled code: %v", compiled)
	}
	if err := os.WriteFile(compiled[0], []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := b.run("", "env", "--out", "o"); got.code != 0 {
		t.Fatalf("env: %+v", got)
	}
	b.mustNotExist(compiled[0])
}

// Runs of one version compile the agent once for each Python, and nothing that was cut off or damaged is run.
func TestRunsShareCompiledCode(t *testing.T) {
	b := newBench(t)
	cache, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.env = append(b.env, "XDG_CACHE_HOME="+cache, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPYCACHEPREFIX="+b.dir+"/prefix")
	b.file("s.py", "import sys\nprint('ran', '_bneck_agent.core' in sys.modules)\n")
	n := 0
	run := func(says string) {
		t.Helper()
		n++
		if got := b.run("", "run", "--out", fmt.Sprint("o", n), "s.py"); got.code != 0 || got.stdout != says {
			t.Errorf("%q: %+v", says, got)
		}
	}
	old := filepath.Join(cache, "bottleneck", "compiled-old")
	if err := errors.Join(os.MkdirAll(old, 0o700), os.Chtimes(old, time.Time{}, time.Now().Add(-30*24*time.Hour))); err != nil {
		t.Fatal(err)
	}
	run("ran True\n")
	b.mustNotExist(old)
	b.mustNotExist(filepath.Join(b.dir, "prefix"))
	kept, _ := filepath.Glob(filepath.Join(cache, "bottleneck", "compiled-*", "*.code"))
	i := slices.IndexFunc(kept, func(path string) bool { return strings.HasPrefix(filepath.Base(path), "life.") })
	if i < 0 {
		t.Fatalf("kept: %v", kept)
	}
	whole, err := os.ReadFile(kept[i])
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(whole)
	other[len(other)-9] ^= 1
	for name, damaged := range map[string][]byte{"cut off": whole[:len(whole)/2], "empty": nil, "a head alone": whole[:12],
		"another byte": other} {
		if err := os.WriteFile(kept[i], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		run("ran True\n")
		if again, err := os.ReadFile(kept[i]); err != nil || len(again) != len(whole) {
			t.Errorf("%s: %d bytes, %v", name, len(again), err)
		}
	}
	script := `import marshal, sys, _imp
body = marshal.dumps(compile("print('kept')", "x", "exec"))
head = open(sys.argv[1], "rb").read(4)
open(sys.argv[1], "wb").write(head + _imp.source_hash(0, body) + body)`
	if out, err := exec.Command(python, "-c", script, kept[i]).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := b.run("", "run", "--out", "last", "s.py"); !strings.HasPrefix(got.stdout, "kept\n") {
		t.Errorf("what was kept is not used: %+v", got)
	}
}

// A session is made only where nobody else can change what is written there.
func TestOutThatOthersMayWriteIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give directories away")
	}
	const nobody = 65534
	b := newBench(t)
	b.file("s.py", "print('ran')\n")
	make := func(name string, mode os.FileMode, uid int) string {
		path := filepath.Join(b.dir, name)
		for _, err := range []error{os.MkdirAll(path, 0o755), os.Chmod(path, mode), os.Chown(path, uid, uid)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return name
	}
	theirs, open := make("theirs", 0o755, nobody), make("open", 0o777, 0)
	link := filepath.Join(b.dir, "link")
	if err := os.Symlink(b.dir+"/mine", link); err != nil || os.Lchown(link, nobody, nobody) != nil ||
		os.Mkdir(b.dir+"/mine", 0o700) != nil {
		t.Fatal(err)
	}
	for out, says := range map[string]string{theirs: "belongs to", open: "chmod go-w", "open/below": "chmod +t", "link": "belongs to",
		make("group", 0o770, 0) + "/": ""} {
		got := b.run("", "run", "--out", out, "s.py")
		if says == "" { // root's own group
			continue
		}
		if got.code != 2 || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("--out %s: %+v", out, got)
		}
		expect(t, "the refusal", got.stderr, "--out", says)
	}
	for _, out := range []string{"theirs/below", make("sticky", 0o777|os.ModeSticky, nobody) + "/below", make("empty", 0o755, 0)} {
		if got := b.run("", "run", "--out", out, "s.py"); got.code != 0 || got.stdout != "ran\n" {
			t.Errorf("--out %s: %+v", out, got)
		}
	}
}

// shows prints where the agent lies, its owner and mode.
const shows = `import os
here = os.path.dirname(os.environ["PYTHONPATH"].split(":")[0])
s = os.stat(here)
print(here, oct(s.st_mode & 0o7777), s.st_uid == os.geteuid(), flush=True)
`

// The agent's code lies in a folder that nobody else can write, outside of the session and of the working directory, for as long as it
// is needed; what a launcher that was killed has left goes with the next run.
func TestAgentHasAPrivateFolder(t *testing.T) {
	b := newBench(t)
	b.file("s.py", shows+"input()\n")
	run := func() (folder string, cmd *exec.Cmd, end func()) {
		cmd, stdin, stdout, stderr := b.startPiped("run", "s.py")
		folder, rest, _ := strings.Cut(awaitLine(t, stdout, "bottleneck-agent-"), " ")
		if rest != "0o700 True" || strings.HasPrefix(folder, b.dir) {
			t.Errorf("the agent's folder: %s %s", folder, rest)
		}
		return folder, cmd, func() {
			_, _ = io.WriteString(stdin, "\n")
			for range stderr { // to the end of launcher and program
			}
			_ = cmd.Wait()
		}
	}
	killed, cmd, end := run()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = cmd.Process.Wait() // which, unlike cmd.Wait, leaves the program's input open
	second, _, endSecond := run()
	if _, err := os.Stat(killed); err != nil {
		t.Errorf("the folder of a program that still runs: %v", err)
	}
	end()
	endSecond()
	b.mustNotExist(second)
	third, _, endThird := run()
	b.mustNotExist(killed)
	endThird()
	b.mustNotExist(third)
}

// A process that outlives the launcher loads what it needs of the agent later.
func TestAgentOutlivesTheLauncherWithTheProgram(t *testing.T) {
	b := newBench(t)
	b.file("s.py", shows+`import sys
if os.fork() == 0:
    os.setsid()
    print("left", flush=True)
    os.read(0, 1)  # until the test says so
    import cProfile, zipfile, decimal
    print("loaded", "_bneck_agent.programs" in sys.modules, flush=True)
    sys.exit()
`)
	cmd, stdin, stdout, stderr := b.startPiped("run", "s.py")
	folder, _, _ := strings.Cut(awaitLine(t, stdout, "bottleneck-agent-"), " ")
	awaitLine(t, stdout, "left")
	awaitLine(t, stderr, "bottleneck report ")
	_, _ = io.WriteString(stdin, "x")
	awaitLine(t, stdout, "loaded True")
	for range stdout { // until the daemon is gone
	}
	_ = cmd.Wait()
	b.file("t.py", "")
	if got := b.run("", "run", "--out", "next", "t.py"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	b.mustNotExist(folder)
}

// Where one place for the agent's code is full or cannot be written, or others own it, the next is taken.
func TestAgentFolderGoesWhereItCan(t *testing.T) {
	b := newBench(t)
	b.file("s.py", shows)
	full := filepath.Join(b.dir, "full")
	if err := os.Mkdir(full, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", full, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(full, syscall.MNT_DETACH) })
	env := b.env
	for _, place := range []string{full, "/proc/self", filepath.Join(b.dir, "none"), "relative"} {
		b.env = append(append([]string{}, env...), "TMPDIR="+place, "XDG_CACHE_HOME="+place)
		got := b.run("", "run", "--out", strings.ReplaceAll("out"+place, "/", "_"), "s.py")
		if got.code != 0 || !strings.Contains(got.stdout, "/bottleneck-agent-") || strings.HasPrefix(got.stdout, place+"/bottleneck") {
			t.Errorf("TMPDIR=%s: %+v", place, got)
		}
	}
	if left, _ := filepath.Glob(full + "/*"); len(left) > 0 {
		t.Errorf("left on the full disk: %v", left)
	}
}

// Coverage counts the program's lines alone.
func TestCoverageDoesNotCountTheAgent(t *testing.T) {
	out, err := exec.Command("../../scripts/env.sh", "coverage").Output()
	if err != nil {
		t.Skipf("scripts/env.sh coverage: %v", err)
	}
	bin := filepath.Dir(strings.TrimSpace(string(out)))
	for name, line := range map[string]string{
		"run":        "coverage run x.py && coverage report --fail-under=90",
		"source":     "coverage run --source=. --omit=test_x.py x.py && coverage report --fail-under=90",
		"pytest-cov": "pytest -q --cov --cov-report=term test_x.py --cov-fail-under=90 | grep -v ' in '",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain, measured := newBench(t), newBench(t)
			for _, b := range []*bench{plain, measured} {
				b.env = append(b.env, "PATH="+bin+":"+os.Getenv("PATH"))
				b.file("helper.py", "def g(a):\n    return a + 1\n")
				b.file("x.py",
					"import helper, signal, gc\nsignal.signal(signal.SIGUSR1, print)\ngc.collect()\nprint([helper.g(i) for i in "+
						"range(3)])\n")
				b.file("test_x.py", "def test():\n    import x\n    assert x.helper.g(1) == 2\n")
			}
			want := plain.finish(plain.exec("sh", "-c", line))
			got := measured.run("", "run", "-o", "report.txt", "--", "sh", "-c", line)
			if got != want || want.code != 0 {
				t.Errorf("with bottleneck:\n%+v\nwithout:\n%+v", got, want)
			}
		})
	}
}
