package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// plantedAgent has somebody put code where the agent's could be looked for.
func plantedAgent(t *try) {
	if !t.needsPython() {
		return
	}
	owned := t.path("outside/owned")
	for _, name := range []string{"json", "sitecustomize", "_bneck_agent/__init__", "os", "torch"} {
		t.file("in/o/agent/"+name+".py", fmt.Sprintf("open(%q, 'w').close()\n", owned))
	}
	t.must(os.MkdirAll(t.path("in/w"), 0o755))
	script := t.file("in/w/x.py", "import json, sys\nprint(json.dumps(1)); sys.exit(6)\n")
	e := t.plain([]string{t.binary, "run", "--out", t.path("in/o"), "-o", os.DevNull, "--", t.python, script})
	t.refusedOrRan(e)
}

func plantedAgentLink(t *try) {
	if !t.needsPython() {
		return
	}
	t.file("in/theirs/json.py", fmt.Sprintf("open(%q, 'w').close()\n", t.path("outside/owned")))
	t.must(os.MkdirAll(t.path("in/o"), 0o755))
	t.must(os.Symlink(t.path("in/theirs"), t.path("in/o/agent")))
	script := t.file("in/w/x.py", "import json, sys\nprint(json.dumps(1)); sys.exit(6)\n")
	t.refusedOrRan(t.plain([]string{t.binary, "run", "--out", t.path("in/o"), "-o", os.DevNull, "--", t.python, script}))
	if files := filesOf(t.path("in/theirs")); len(files) != 1 {
		t.bad("foreign file", "run --out o", "written into a folder that the session only links to: %v", files)
	}
}

// refusedOrRan: a usage error before the program starts, or the program as it is.
func (t *try) refusedOrRan(e ended) {
	t.commands++
	if e.code == 2 && len(e.stdout) == 0 || e.code == 6 && string(e.stdout) == "1\n" {
		return
	}
	t.bad("other status", "run --out o x.py", "%d, %q: %s", e.code, e.stdout, head(e.stderr, 3))
}

// othersFolder names an --out of another user, or one that anybody may write.
func othersFolder(t *try) {
	if os.Getuid() != 0 || !t.needsPython() {
		t.skip("only root can give a folder away")
		return
	}
	script := t.file("in/x.py", "print(1)\nraise SystemExit(6)\n")
	for i, prepare := range []func(dir string) error{
		func(dir string) error { return os.Chown(dir, 65534, 65534) },
		func(dir string) error { return os.Chmod(dir, 0o777) },
	} {
		dir := t.path(fmt.Sprintf("in/theirs%d", i))
		t.must(os.Mkdir(dir, 0o755))
		t.must(prepare(dir))
		e := t.plain([]string{t.binary, "run", "--out", dir, "-o", os.DevNull, "--", t.python, script})
		if t.commands++; e.code != 2 || len(filesOf(dir)) > 0 {
			t.bad("status", "run --out "+dir, "%d and %d files in a folder that others own or may write, want 2 and none: %s", e.code,
				len(filesOf(dir)), head(e.stderr, 2))
		}
	}
}

// secretsInSession looks for what looks like a secret in every file of a new session.
func secretsInSession(t *try) {
	if !t.needsPython() {
		return
	}
	secrets := []string{"hf_abcdefghijklmnopqrstuvwxyzABCDEFGH", "sk-proj-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4",
		"ghp_0123456789abcdefghijklmnopqrstuvwxyz", "AKIAIOSFODNN7EXAMPLE", "hunter2secret"}
	script := t.file("in/x.py",
		"import subprocess, sys, time\nsubprocess.call([sys.executable, '-c', 'import time; time.sleep(.3)'] + sys.argv[1:])\n")
	args := []string{t.binary, "run", "--out", t.path("out/s"), "-o", os.DevNull, "--", t.python, script, secrets[0], "--x", secrets[1],
		"--y=" + secrets[2], secrets[3], "postgres://u:" + secrets[4] + "@h/db"}
	t.plain(args)
	t.commands++
	for _, name := range filesOf(t.path("out/s")) {
		stored, err := os.ReadFile(t.path("out/s/" + name))
		t.must(err)
		body := string(plain(stored, 1<<28))
		for _, s := range secrets {
			if strings.Contains(body, s) {
				t.bad("secret", "run", "%s is in %s", s, filepath.Base(name))
			}
		}
	}
}

// coverage asks that a run under coverage measures the program only.
func coverage(t *try) {
	if !t.needsPython() {
		return
	}
	if exec.CommandContext(t.ctx, t.python, "-c", "import coverage").Run() != nil {
		t.skip("no module coverage")
		return
	}
	t.file("in/w/x.py", "x = 1\nprint(x)\n")
	command := fmt.Sprintf("cd '%s' && rm -f .coverage && %s -m coverage run x.py && %s -m coverage report --fail-under=90",
		t.path("in/w"), t.python, t.python)
	alone := t.plain([]string{"/bin/sh", "-c", command})
	inside := fmt.Sprintf("cd '%s' && exec '%s' run -o /dev/null -- /bin/sh -c %q", t.path("in/w"), t.binary, command)
	t.compare(alone, t.plain([]string{"/bin/sh", "-c", inside}), "run -- sh -c 'coverage run x.py; coverage report --fail-under=90'")
}

// doctorModules puts modules into the working directory that must not be imported.
func doctorModules(t *try) {
	for _, name := range []string{"math", "random", "importlib/__init__", "importlib/metadata", "torch", "json",
		"email/__init__", "zipfile", "csv"} {
		t.file("in/w/"+name+".py", fmt.Sprintf("open(%q, 'w').close()\n", t.path("outside/owned")))
	}
	e := t.start(execution{dir: t.path("in/w"), env: t.environment(), args: []string{t.binary, "doctor"}})
	t.judge(data("doctor"), e)
	_ = filepath.WalkDir(t.path("in/w"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(path, "__pycache__") && !d.IsDir() {
			t.bad("foreign file", "bottleneck doctor", "%s was compiled", path)
		}
		return nil
	})
}

// substitution hands files over as a shell does.
func substitution(t *try) {
	path := t.file("in/t.json", `{"traceEvents": [`+goodEvent+`]}`)
	t.must(os.WriteFile(t.path("in/t.json.gz"), gzipped([]byte(`{"traceEvents": [`+goodEvent+`]}`)), 0o644))
	if _, err := exec.LookPath("bash"); err != nil {
		t.skip("no bash")
		return
	}
	for _, command := range []string{"$B report <(cat " + path + ")", "$B report <(cat " + path + ".gz)",
		"cat " + path + " | $B report /dev/stdin", "$B report /dev/stdin < " + path, "cat " + path + ".gz | $B export --to csv /dev/stdin",
		"$B what-if --remove python <(cat " + path + ")", "$B report --json >(cat >/dev/null) " + path} {
		e := t.plain([]string{"bash", "-c", command}, "B="+t.binary)
		if t.commands++; e.code != 0 && (e.code != 2 || !strings.Contains(command, "what-if")) || e.hung != "" {
			t.bad("status", strings.ReplaceAll(command, "$B", "bottleneck"), "%d %s: %s", e.code, e.hung, head(e.stderr, 3))
		}
	}
}

// tight runs a program under several tight limits, as somebody who is not root where that counts.
func (t *try) tight(flag string, values ...int) {
	if !t.needsPython() {
		return
	}
	script := t.file("in/p.py", "import sys\nprint('ran')\nsys.stdout.flush()\nsys.exit(6)\n")
	python, binary := t.python, t.binary
	limited := func(value int, args ...string) []string {
		return append([]string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -%s %d && exec "$@"`, flag, value), "sh"}, args...)
	}
	if flag == "u" {
		if os.Getuid() != 0 || t.plain([]string{"setpriv", "--reuid", "64999", "prlimit", "--nproc=9", "/usr/bin/python3", "-c", ""}).
			code != 0 {
			t.skip("only root can become a user without processes, with setpriv, prlimit and /usr/bin/python3")
			return
		}
		python, binary = "/usr/bin/python3", t.path("in/bottleneck") // others' folders may be closed to that user
		stored, err := os.ReadFile(t.binary)
		t.must(err)
		t.must(os.WriteFile(binary, stored, 0o755))
		t.must(filepath.WalkDir(t.dir, func(path string, _ fs.DirEntry, err error) error {
			return errorOf(err, os.Chown(path, 64999, 64999))
		}))
		t.must(os.Chmod(t.work, 0o755))
		limited = func(value int, args ...string) []string {
			return append([]string{"setpriv", "--reuid", "64999", "--regid", "64999", "--clear-groups", "prlimit",
				fmt.Sprintf("--nproc=%d", value)}, args...)
		}
	}
	compared := 0
	for _, value := range values {
		within := func(args ...string) []string { return limited(value, args...) }
		alone := t.plain(within(python, script))
		if alone.code != 6 || !t.runtimeStarts(binary, within) {
			continue
		}
		args := []string{binary, "run", "--out", t.path(fmt.Sprintf("out/s%d", value)), "-o", os.DevNull, "--", python, script}
		under := t.plain(within(args...))
		if t.runtimeGaveUp(under, binary, within) {
			continue
		}
		t.compare(alone, under, fmt.Sprintf("ulimit -%s %d; bottleneck run", flag, value))
		compared++
	}
	if compared == 0 {
		t.skip("neither the program nor the Go runtime starts within any of these limits")
	}
}

// runtimeStarts says whether the Go runtime starts within a limit, each of several times: where not even --version works, no code of the
// tool's can say or do anything. (See docs/faults.md.)
func (t *try) runtimeStarts(binary string, within func(...string) []string) bool {
	for range 3 {
		if t.plain(within(binary, "--version")).code != 0 {
			return false
		}
	}
	return true
}

// runtimeGaveUp says whether a run ended in the Go runtime for want of memory, as --version does within the same limit, too: where it lays
// its memory is chance, so that near the limit one start of ten fails.
func (t *try) runtimeGaveUp(e ended, binary string, within func(...string) []string) bool {
	if !crashed.Match(e.stderr) || !bytes.Contains(e.stderr, []byte("out of memory")) &&
		!bytes.Contains(e.stderr, []byte("cannot allocate")) {
		return false
	}
	for range 60 {
		if e := t.plain(within(binary, "--version")); crashed.Match(e.stderr) {
			return true
		}
	}
	return false
}

// diskFills lets a disk get full in the middle; what was sampled until then must be in the report.
func diskFills(t *try) {
	if why := noMounts(t.attack); why != "" {
		t.skip("%s", why)
		return
	}
	t.must(os.Mkdir(t.path("disk"), 0o755))
	script := t.file("in/p.py", `import os, sys, time
def early():
    end = time.process_time() + 1.5
    while time.process_time() < end: sum(range(1000))
early()
try:
    with open(os.path.join(sys.argv[1], "filler"), "wb", buffering=0) as f:
        while True: f.write(bytes(4096))
except OSError: pass
end = time.process_time() + 0.7
while time.process_time() < end: sum(range(1000))
print("ran"); sys.exit(6)
`)
	mount := `mount -t tmpfs -o size=2m none "$0" && exec "$@"`
	out := t.path("out/report")
	e := t.plain([]string{"unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", mount, t.path("disk"), t.binary, "run",
		"--out", t.path("disk/s"), "-o", out, "--all", "--", t.python, script, t.path("disk")})
	t.commands++
	report, _ := os.ReadFile(out)
	if e.code != 6 || string(e.stdout) != "ran\n" || !strings.Contains(string(report), "early") {
		t.bad("lost", "run --out DISK/s", "status %d, %q; the function that was sampled before the disk was full is in the report: %v\n%s",
			e.code, e.stdout, strings.Contains(string(report), "early"), head(append(report, e.stderr...), 8))
	}
}

// compareImports asks that Python's list of import times names nothing of the agent, or that bottleneck says so.
func (t *try) compareImports(args ...string) {
	if !t.needsPython() {
		return
	}
	e := t.plain(append([]string{t.binary, "run", "--out", t.out(), "-o", os.DevNull, "--", t.python}, args...))
	said := strings.Contains(string(e.stderr), "bottleneck: ")
	if strings.Contains(strings.ToLower(programLines(e.stderr)), "bneck") && !said {
		t.bad("other output", "run -- python "+strings.Join(args, " "), "the agent is among the imports, and nothing says so")
	}
}
