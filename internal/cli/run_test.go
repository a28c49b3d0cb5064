package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bottleneck/internal/record"
)

// A program cannot tell from its arguments, streams, directory, names and status that bottleneck started it.
func TestRunLeavesTheProgramAlone(t *testing.T) {
	program := `import os, sys
print([sys.argv, __name__, __file__, sys.path[0], os.getcwd(), sys.stdin.read(), sys.flags.interactive])
print("problem", file=sys.stderr)
sys.exit(7)
`
	b := newBench(t)
	b.file("sub/s.py", program)
	args := []string{"sub/s.py", "--epochs", "1", "-m", "--", "a b"}
	plain := b.exec(python, args...)
	plain.Stdin = strings.NewReader("input\n")
	want := b.finish(plain)
	got := b.run("input\n", append([]string{"run"}, args...)...)
	if got.stdout != want.stdout || got.code != want.code || got.code != 7 {
		t.Errorf("got %d %q, plainly %d %q", got.code, got.stdout, want.code, want.stdout)
	}
	if !strings.HasPrefix(got.stderr, want.stderr) || got.stderr == want.stderr {
		t.Errorf("standard error should be the program's and then the report:\n%s", got.stderr)
	}
}

func TestRunModule(t *testing.T) {
	b := newBench(t)
	b.file("pkg/__init__.py", "")
	b.file("pkg/train.py", "import sys\nprint(sys.argv[1:], __name__, __package__)\n")
	for _, args := range [][]string{{"-m", "pkg.train"}, {"--module=pkg.train"}, {"--no-trace", "-m", "pkg.train"}, {"-mpkg.train"}} {
		got := b.run("", append(append([]string{"run", "--no-sample"}, args...), "-v", "--", "--out", "x")...)
		if want := "['-v', '--', '--out', 'x'] __main__ pkg\n"; got.stdout != want || got.code != 0 {
			t.Errorf("%v: %d %q, want %q; %s", args, got.code, got.stdout, want, got.stderr)
		}
	}
}

func TestRunCommandWithoutPython(t *testing.T) {
	b := newBench(t)
	got := b.run("", "run", "--", "sh", "-c", "echo out; exit 3")
	if got.code != 3 || got.stdout != "out\n" {
		t.Errorf("got %+v", got)
	}
	if l := b.launcher(); !hasNote(l, "no-python") || l.Exit == nil || l.Exit.Code != 3 {
		t.Errorf("launcher.json: %+v", l)
	}
}

func TestRunPassesTheSignalOn(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			b := newBench(t)
			b.file("s.py",
				"import os, signal, sys\nn = int(sys.argv[1])\nif n != 9: signal.signal(n, signal.SIG_DFL)\nos.kill(os.getpid(), n)\n")
			got := b.run("", "run", "s.py", string(rune('0'+int(sig)/10))+string(rune('0'+int(sig)%10)))
			if got.signal != sig {
				t.Errorf("ended by %v (status %d), want %v; %s", got.signal, got.code, sig, got.stderr)
			}
			if l := b.launcher(); l.Exit == nil || l.Exit.Code != 128+int(sig) || !strings.HasPrefix(l.Exit.Signal, "SIG") {
				t.Errorf("exit noted as %+v", l.Exit)
			}
			expect(t, "the report", got.stderr, "bottleneck report ")
		})
	}
}

func TestRunThatCannotStart(t *testing.T) {
	b := newBench(t)
	b.file("job.sh", "#!/bin/sh\necho hi\n")
	b.file("data.txt", "no program")
	b.file("wrong.py", "x = 1")
	cases := []struct {
		code int
		text string
		args []string
	}{
		{127, "cannot run missing.py: no such file", []string{"run", "missing.py"}},
		{127, "cannot run sh: no such file", []string{"run", "--python", "python3", "sh"}},
		{127, "cannot run no-such-command: no such command", []string{"run", "--", "no-such-command"}},
		{126, "cannot run ./data.txt: not executable", []string{"run", "--", "./data.txt"}},
		{126, "cannot run ./: a directory", []string{"run", "--", "./"}},
		{126, "job.sh is a shell script, not a Python script; run it as: bottleneck run -- ./job.sh", []string{"run", "job.sh"}},
		{127, "cannot run snake: no such command", []string{"run", "--python", "snake", "wrong.py"}},
		{2, "what to run is missing", []string{"run"}},
		{2, `unknown command "rn" (did you mean "run"?)`, []string{"rn", "x.py"}},
		{2, `unknown command "rport" (did you mean "report"?)`, []string{"rport", "--all", "x"}},
		{2, `(did you mean "python"?)`, []string{"run", "--pythn", "x", "y"}},
		{2, `unknown value "cud" (did you mean "cuda"?)`, []string{"run", "--activities", "cpu,cud", "wrong.py"}},
		{2, `unknown part "wat" (did you mean "wait"?)`, []string{"run", "--schedule", "wat=1", "wrong.py"}},
		{2, "--stop-after needs", []string{"run", "--stop-after", "wrong.py"}},
		{2, "standard output is the program's", []string{"run", "--json", "-", "wrong.py"}},
		{2, "--max-size", []string{"run", "--max-size", "big", "wrong.py"}},
		{2, `unknown value "gree"`, []string{"--color", "gree", "run", "wrong.py"}},
	}
	for _, c := range cases {
		got := b.run("", c.args...)
		if got.code != c.code || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%v: status %d, want %d and one line: %q", c.args, got.code, c.code, got.stderr)
		}
		expect(t, strings.Join(c.args, " "), got.stderr, c.text)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "bottleneck-out")); err == nil {
		t.Error("a session was left behind by a command that never started")
	}
}

// A command that is named where a script is expected is run as what it is.
func TestRunCommandWithoutDashes(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import sys\nprint('ran', sys.argv[1:])\nsys.exit(3)\n")
	b.file("job.sh", "#!/bin/sh\nexec python3 s.py \"$@\"\n")
	if err := os.Chmod(filepath.Join(b.dir, "job.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"python3", "s.py", "--out", "x"}, {"job.sh", "--out", "x"}, {"./job.sh", "--out", "x"}} {
		got := b.run("", append([]string{"run", "--out", "session-" + args[0]}, args...)...)
		if got.code != 3 || got.stdout != "ran ['--out', 'x']\n" {
			t.Errorf("%v: status %d, %q, %s", args, got.code, got.stdout, got.stderr)
		}
	}
}

// What Python itself says about a program is better than what we could say.
func TestRunSyntaxError(t *testing.T) {
	b := newBench(t)
	b.file("bad.py", "def f(:\n")
	got := b.run("", "run", "bad.py")
	if got.code != 1 {
		t.Errorf("status %d", got.code)
	}
	expect(t, "standard error", got.stderr, "SyntaxError", "bottleneck report ")
}

func TestRunInsideRunMeasuresOnce(t *testing.T) {
	b := newBench(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b.file("s.py", "print('done')\n")
	got := b.run("", "run", "--", "env", asBottleneck+"=1", self, "run", "--out", "inner", "s.py")
	if got.code != 0 || got.stdout != "done\n" || strings.Count(got.stderr, "Look further") != 1 {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "inner")); err == nil {
		t.Error("the inner run made a session of its own")
	}
}

// Interpreters that ignore the environment keep the agent out: seen, said, and watched from outside all the same.
func TestRunWithoutAgentSaysSo(t *testing.T) {
	busy := "import time\nend = time.monotonic() + 0.7\nwhile time.monotonic() < end:\n    sum(range(1000))\n"
	cases := []struct {
		name, code string
		args       []string
	}{
		{"-I", "agent-isolated", []string{"--", python, "-I", "s.py"}},
		{"-S", "agent-isolated", []string{"--", python, "-S", "s.py"}},
		{"-E in a group", "agent-isolated", []string{"--", python, "-uE", "s.py"}},
		{"a shebang", "agent-isolated", []string{"--", "./isolated.py"}},
		{"dropped environment", "agent-absent", []string{"--", "env", "-i", python, "s.py"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.file("s.py", busy)
			if err := os.Chmod(b.file("isolated.py", "#!"+python+" -I\n"+busy), 0o755); err != nil {
				t.Fatal(err)
			}
			got := b.run("", append([]string{"run"}, c.args...)...)
			if got.code != 0 {
				t.Fatalf("%+v", got)
			}
			l := b.launcher()
			if !hasNote(l, c.code) {
				t.Errorf("notes %+v, want %s", l.Notes, c.code)
			}
			if info, err := os.Stat(filepath.Join(b.launcherFolder(), record.SamplesName)); err != nil || info.Size() < 200 {
				if !hasNote(l, "not-sampled") {
					t.Errorf("no samples from outside (%v), and no word why: %+v", err, l.Notes)
				}
			}
		})
	}
}

// launcherFolder is the only launcher's folder of the bench's session.
func (b *bench) launcherFolder() string {
	b.t.Helper()
	launchers, _, err := record.Folders(b.session())
	if err != nil || len(launchers) != 1 {
		b.t.Fatalf("launchers %v (%v)", launchers, err)
	}
	return launchers[0]
}

func (b *bench) launcher() *record.Launcher {
	b.t.Helper()
	l, err := record.ReadLauncher(b.launcherFolder())
	if err != nil {
		b.t.Fatal(err)
	}
	return l
}

func hasNote(l *record.Launcher, code string) bool {
	for _, n := range l.Notes {
		if n.Code == code {
			return true
		}
	}
	return false
}
