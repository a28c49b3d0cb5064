package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bottleneck/internal/record"
)

// bottleneckLines are the lines of standard error that bottleneck itself warns with.
func bottleneckLines(stderr string) []string {
	var out []string
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "bottleneck: ") {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

// Where no session can be written the program runs all the same, with one line that says so.
func TestSessionCannotBeWritten(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import sys\nprint('ran')\nsys.exit(6)\n")
	b.file("plain", "a file")
	for _, out := range []string{"/proc/no/such", "/sys/session", filepath.Join(b.dir, "plain"), filepath.Join(b.dir, "plain", "below")} {
		got := b.run("", "run", "--out", out, "s.py")
		if lines := bottleneckLines(got.stderr); got.code != 6 || got.stdout != "ran\n" || len(lines) != 1 ||
			strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("--out %s: %+v", out, got)
		}
	}
}

// Without --out a working directory that cannot be written gives way to the directory for temporary files.
func TestWorkingDirectoryCannotBeWritten(t *testing.T) {
	b := newBench(t)
	script := b.file("s.py", "print('ran')\n")
	b.env = append(b.env, "TMPDIR="+b.dir)
	cmd := b.command("run", script)
	cmd.Dir = "/proc/self"
	got := b.finish(cmd)
	if got.code != 0 || got.stdout != "ran\n" || len(bottleneckLines(got.stderr)) != 1 {
		t.Errorf("got %+v", got)
	}
	found, _ := filepath.Glob(filepath.Join(b.dir, "bottleneck-out-*", "s-*", record.ManifestName))
	if len(found) != 1 {
		t.Errorf("no session in the directory for temporary files; %s", got.stderr)
	}
}

// The program, or somebody else, removes the session while it runs.
func TestSessionVanishes(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import os, shutil, sys\nshutil.rmtree(os.environ['BNECK_SESSION'])\nprint('ran')\nsys.exit(6)\n")
	got := b.run("", "run", "s.py")
	lines := bottleneckLines(got.stderr)
	if got.code != 6 || got.stdout != "ran\n" || len(lines) != 1 {
		t.Fatalf("got %+v", got)
	}
	expect(t, "the warning", lines[0], "the report is missing", "gone")
}

// The disk is full, from the start or during the run.
func TestDiskFull(t *testing.T) {
	for name, fill := range map[string]string{"from the start": "size=8k", "during the run": "size=400k"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			disk := filepath.Join(b.dir, "disk")
			if err := os.Mkdir(disk, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fill); err != nil {
				t.Skipf("cannot mount a small disk: %v", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
			b.file("s.py", `import os, sys
try:
    with open(os.path.join(sys.argv[1], "filler"), "wb", buffering=0) as f:
        while True: f.write(bytes(4096))
except OSError: pass
print('ran')
sys.exit(6)
`)
			got := b.run("", "run", "--out", filepath.Join(disk, "s"), "s.py", disk)
			if got.code != 6 || got.stdout != "ran\n" {
				t.Fatalf("got %+v", got)
			}
			said := len(bottleneckLines(got.stderr)) + strings.Count(got.stderr, "the disk of the session is full")
			if said < 1 || said > 2 {
				t.Errorf("%d warnings, want one or two:\n%s", said, got.stderr)
			}
			if strings.Contains(got.stderr, "panic") || strings.Contains(got.stderr, "Traceback") {
				t.Errorf("standard error:\n%s", got.stderr)
			}
		})
	}
}

// What was sampled until the disk was full is in the report, and how the program ended, too.
func TestDiskFillsInMidRun(t *testing.T) {
	b := newBench(t)
	disk := filepath.Join(b.dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	b.file("s.py", `import os, sys, time
def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end: sum(range(1000))
compute(0.5)
try:
    with open(os.path.join(sys.argv[1], "filler"), "wb", buffering=0) as f:
        while True: f.write(bytes(4096))
except OSError: print('full')
compute(2.5)
sys.exit(6)
`)
	got := b.run("", "run", "--json", "report.json", "--out", filepath.Join(disk, "s"), "s.py", disk)
	if got.code != 6 || got.stdout != "full\n" || len(bottleneckLines(got.stderr)) > 0 {
		t.Fatalf("got %+v", got)
	}
	expect(t, "the report", got.stderr, "exit code 6", "compute", "the disk of the session is full")
	launchers, _, err := record.Folders(filepath.Join(disk, "s"))
	if err != nil || len(launchers) != 1 {
		t.Fatal(launchers, err)
	}
	if l, err := record.ReadLauncher(launchers[0]); err != nil || l.Exit == nil || l.Exit.Code != 6 {
		t.Errorf("the end is noted as %+v (%v)", l, err)
	}
	b.mustNotExist(filepath.Join(launchers[0], record.RoomName))
}

// A directory that holds another run's session is refused before the program starts; the same job joins.
func TestTwoRunsInOneDirectory(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "print('ran')\n")
	if got := b.run("", "run", "--out", "x", "s.py"); got.code != 0 {
		t.Fatalf("first: %+v", got)
	}
	got := b.run("", "run", "--out", "x", "s.py")
	if got.code != 2 || got.stdout != "" {
		t.Errorf("second: %+v", got)
	}
	expect(t, "the refusal", got.stderr, "x holds the session of another run")
	b.file("notes/keep.txt", "mine")
	if got := b.run("", "run", "--out", "notes", "s.py"); got.code != 2 || got.stdout != "" {
		t.Errorf("a directory with other files: %+v", got)
	}
}

// Launchers of one job agree on one session without being told, and only rank 0 prints.
func TestLaunchersOfOneJobShareASession(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import os\nprint('rank', os.environ['RANK'], flush=True)\ninput()\n")
	env := b.env
	start := func(rank string) (end func() result, ready func()) {
		b.env = append(append([]string{}, env...), "TORCHELASTIC_RUN_ID=job7", "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2",
			"RANK="+rank, "LOCAL_RANK="+rank)
		cmd, stdin, stdout, stderr := b.startPiped("run", "--no-sample", "s.py")
		return func() result {
				_, _ = stdin.Write([]byte("\n"))
				var text strings.Builder
				for line := range stderr {
					text.WriteString(line + "\n")
				}
				_ = cmd.Wait()
				return ended(cmd, "", text.String())
			}, func() {
				awaitLine(t, stdout, "rank "+rank)
			}
	}
	end0, ready0 := start("0")
	end1, ready1 := start("1")
	ready0()
	ready1()
	one, zero := end1(), end0()
	if one.code != 0 || one.stderr != "" {
		t.Errorf("rank 1 printed or failed: %+v", one)
	}
	if zero.code != 0 {
		t.Errorf("rank 0: %+v", zero)
	}
	expect(t, "rank 0's report", zero.stderr, "bottleneck report ")
	dir := b.session()
	launchers, processes, err := record.Folders(dir)
	if err != nil || len(launchers) != 2 || len(processes) != 2 {
		t.Errorf("launchers %v, processes %v, %v", launchers, processes, err)
	}
	if !strings.HasSuffix(dir, "s-elastic-job7") {
		t.Errorf("the session is called %s", dir)
	}
}

// Programs that do what breaks careless tools.
func TestHardPrograms(t *testing.T) {
	cases := map[string]string{
		"closes all file descriptors": "import os, sys\nprint('ran', flush=True)\nos.closerange(0, 4096)\nos._exit(6)\n",
		"changes user":                "import os, sys\nos.setgid(65534); os.setuid(65534)\nprint('ran')\nsys.exit(6)\n",
		"replaces itself": "import os, sys\nsys.stdout.flush()\nos.execv(sys.executable, [sys.executable, '-c', 'import sys; " +
			"print(\"ran\"); sys.exit(6)'])\n",
		"clears its environment": "import os, subprocess, sys\nos.environ.clear()\nsys.exit(subprocess.call([sys.executable, '-c', " +
			"'print(\"ran\"); raise SystemExit(6)']))\n",
		"changes directory":   "import os, sys\nos.chdir('/')\nprint('ran')\nsys.exit(6)\n",
		"ends hard":           "import os\nprint('ran', flush=True)\nos._exit(6)\n",
		"leaves by exception": "import atexit, os\nprint('ran', flush=True)\natexit.register(os._exit, 6)\nraise RuntimeError('mine')\n",
		"spawns": "import multiprocessing as m, sys\ndef f(q): q.put('ran')\nif __name__ == '__main__':\n    " +
			"m.set_start_method('spawn')\n    q = m.Queue()\n    p = m.Process(target=f, args=(q,)); p.start(); print(q.get()); " +
			"p.join(); sys.exit(6)\n",
		"forks workers": "import multiprocessing as m, sys\ndef f(x): return 'ran'\nif __name__ == '__main__':\n    with " +
			"m.get_context('fork').Pool(2) as p: print(p.map(f, [1])[0])\n    sys.exit(6)\n",
		"has sitecustomize": "import sys, sitecustomize\nprint(sitecustomize.ANSWER)\nsys.exit(6)\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			if name == "changes user" && os.Getuid() != 0 {
				t.Skip("only root can")
			}
			b := newBench(t)
			b.file("s.py", text)
			b.file("site/sitecustomize.py", "ANSWER = 'ran'\n")
			b.env = append(b.env, "PYTHONPATH="+filepath.Join(b.dir, "site"))
			got := b.run("", "run", "s.py")
			if got.code != 6 || got.stdout != "ran\n" {
				t.Errorf("got %+v", got)
			}
			if warnings := bottleneckLines(got.stderr); len(warnings) > 0 {
				t.Errorf("warnings: %q", warnings)
			}
		})
	}
}

// Nobody else can read what is in a session: command lines, paths and program texts.
func TestSessionIsReadableByItsOwnerOnly(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import time\nend = time.monotonic() + 0.5\nwhile time.monotonic() < end: sum(range(999))\n")
	if got := b.run("", "run", "s.py", "--password", "hunter2"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	err := filepath.WalkDir(b.session(), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.Name() == "__pycache__" { // made by Python with the program's umask, of the agent's own files
			return filepath.SkipDir
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "hunter2") {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
