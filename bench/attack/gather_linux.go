package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// input is a file that cases begin with.
type input struct {
	name string // of its format
	text []byte // unpacked
}

// Bounds of what cases begin with.
const (
	maxStored = 1 << 20
	maxPlain  = 6 << 20
)

// recorded are the programs whose sessions are attacked, by whether they need torch.
var recorded = map[bool]string{
	false: `import gc, os, subprocess, sys, threading, time
def work(n):
    return sum(i * i for i in range(n))
def loop():
    for _ in range(60): work(20000); time.sleep(0.002)
t = threading.Thread(target=loop, name="helper"); t.start()
loop(); t.join(); gc.collect()
subprocess.call([sys.executable, "-c", "print(sum(range(300000)))"])
`,
	true: `import torch
from torch.utils.data import DataLoader
net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
opt = torch.optim.SGD(net.parameters(), 0.1)
data = [(torch.randn(32), i % 4) for i in range(800)]
for epoch in range(3):
    for x, y in DataLoader(data, batch_size=16, num_workers=1):
        opt.zero_grad(); torch.nn.functional.cross_entropy(net(x), y).backward(); opt.step()
`,
}

// findPython finds interpreters; PyTorch's only where its environment is already there.
func (a *attack) findPython() {
	if out, err := exec.CommandContext(a.ctx, "python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		a.python = strings.TrimSpace(string(out)) // not a script that looks for it each time
	}
	cache := os.Getenv("BOTTLENECK_CACHE")
	if cache == "" {
		base, _ := os.UserCacheDir()
		cache = filepath.Join(base, "bottleneck-dev")
	}
	if _, err := os.Stat(filepath.Join(cache, "envs", "newest", "complete")); err != nil {
		return
	}
	cmd := exec.CommandContext(a.ctx, filepath.Join(a.root, "scripts", "env.sh"), "newest")
	if out, err := cmd.Output(); err == nil {
		a.torch = strings.TrimSpace(string(out))
	}
}

// gather records sessions and reads the files that are to be changed.
func (a *attack) gather() error {
	a.formats = a.formatNames()
	for _, torch := range []bool{false, true} {
		python := a.python
		if torch {
			python = a.torch
		}
		if python == "" {
			continue
		}
		dir, err := a.record(python, torch)
		if err != nil {
			return err
		}
		a.sessions = append(a.sessions, dir)
	}
	if len(a.sessions) > 0 {
		packed := filepath.Join(a.work, "packed.tar.zst")
		if e := a.start(execution{dir: a.work, env: os.Environ(), args: []string{a.binary, "pack", "-o", packed, a.sessions[0]}}); e.code !=
			0 {
			return fmt.Errorf("the session to be attacked could not be packed: status %d: %s", e.code, head(e.stderr, 5))
		}
		a.packed = packed
	}
	a.readTraces(filepath.Join(a.root, "testdata"))
	a.readTraces(filepath.Join(a.root, "internal", "ingest", "testdata"))
	a.readTraces(a.traces)
	for _, dir := range a.sessions {
		a.exportAll(dir)
	}
	a.profiles()
	slices.SortStableFunc(a.inputs, func(x, y input) int { return strings.Compare(x.name, y.name) })
	fmt.Printf("%d files of %d formats, %d sessions, PyTorch: %v\n", len(a.inputs), len(a.kinds()), len(a.sessions), a.torch != "")
	return nil
}

func (a *attack) kinds() map[string][]input {
	kinds := map[string][]input{}
	for _, in := range a.inputs {
		kinds[in.name] = append(kinds[in.name], in)
	}
	return kinds
}

func (a *attack) formatNames() []string {
	out, err := exec.CommandContext(a.ctx, a.binary, "export", "--list").Output()
	if err != nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 1 {
			names = append(names, f[0])
		}
	}
	return names
}

// record makes a session with everything in it that a recording can have.
func (a *attack) record(python string, torch bool) (string, error) {
	script := filepath.Join(a.work, fmt.Sprintf("program%v.py", torch))
	if err := os.WriteFile(script, []byte(recorded[torch]), 0o644); err != nil {
		return "", err
	}
	dir := filepath.Join(a.work, fmt.Sprintf("session%v", torch))
	args := []string{a.binary, "run", "--out", dir, "-o", os.DevNull, "--calls"}
	if torch {
		args = append(args, "--with-modules", "--profile-memory", "--with-stack")
	}
	e := a.start(execution{dir: a.work, env: append(os.Environ(), "TMPDIR="+a.work), args: append(args, "--", python, script)})
	if e.code != 0 {
		return "", fmt.Errorf("the session to be attacked could not be recorded: status %d: %s", e.code, head(e.stderr, 5))
	}
	return dir, nil
}

// readTraces takes the small files of a folder.
func (a *attack) readTraces(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "zoo" || d.Name() == "fuzz") {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".golden") {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxStored {
			return nil
		}
		if text, err := os.ReadFile(path); err == nil {
			a.take("trace "+filepath.Base(filepath.Dir(path)), text)
		}
		return nil
	})
}

func (a *attack) take(name string, text []byte) {
	if text = plain(text, maxPlain+1); len(text) <= maxPlain {
		a.inputs = append(a.inputs, input{name, text})
	}
}

// exportAll writes a session in every form, which are formats of others that the reader knows.
func (a *attack) exportAll(dir string) {
	for _, format := range a.formats {
		out := filepath.Join(a.work, "exported")
		if a.start(execution{dir: a.work, env: os.Environ(), args: []string{a.binary, "export", "--to", format, "-o", out, dir}}).
			code != 0 {
			continue
		}
		for _, name := range append(filesOf(out), "") {
			if text, err := os.ReadFile(filepath.Join(out, name)); err == nil {
				a.take(format, text)
			}
		}
		_ = os.RemoveAll(out)
	}
	for _, name := range filesOf(dir) {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil && !strings.HasPrefix(name, "agent") && len(text) <= maxStored {
			a.take("session's "+filepath.Base(name), text)
		}
	}
}

// profiles has Python write profiles of its own.
func (a *attack) profiles() {
	if a.python == "" {
		return
	}
	out := filepath.Join(a.work, "own.pstats")
	const program = "import cProfile, sys; cProfile.run('import json, decimal; [json.dumps({\"a\": i}) for i in range(99)]', sys.argv[1])"
	cmd := exec.CommandContext(a.ctx, a.python, "-c", program, out)
	cmd.WaitDelay = time.Second
	if cmd.Run() != nil {
		return
	}
	if text, err := os.ReadFile(out); err == nil {
		a.take("pstats", text)
	}
}

func noInputs(a *attack) string {
	if len(a.inputs) == 0 {
		return "no files to begin with"
	}
	return ""
}

func noSessions(a *attack) string {
	if len(a.sessions) == 0 {
		return "no Python to record a session with"
	}
	return ""
}

func noPython(a *attack) string {
	if a.python == "" {
		return "no Python"
	}
	return ""
}
