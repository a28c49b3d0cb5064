package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/confine"
)

// confinedState reads, of every thread of a process, whether it may gain privileges and whether its calls are filtered.
func confinedState(pid int) []string {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	var states []string
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		state := ""
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); name == "NoNewPrivs" || name == "Seccomp" {
				state += name + " " + strings.TrimSpace(value) + " "
			}
		}
		states = append(states, state)
	}
	return states
}

// A command that reads has given up its rights in all threads before it reads the first byte of its input.
func TestReadingIsConfined(t *testing.T) {
	if e := confine.Enforced(); !e.Programs {
		t.Skipf("this kernel has no seccomp: %+v", e)
	}
	b := newBench(t)
	for _, args := range [][]string{{"report", "-"}, {"export", "--to", "csv", "-"}, {"what-if", "--remove", "python", "-"}} {
		cmd := b.command(args...)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		confined := func() bool {
			states := confinedState(cmd.Process.Pid)
			for _, state := range states {
				if state != "NoNewPrivs 1 Seccomp 2 " {
					return false
				}
			}
			return len(states) > 0
		}
		for end := time.Now().Add(limit); !confined(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%v: %v", args, confinedState(cmd.Process.Pid))
				break
			}
		}
		stdin.Close()
		_ = cmd.Wait() // an empty input cannot be used
	}
}

// Whatever a command is asked to read and write works as before: links of ranks, archives, pipes, outputs in folders that are not
// there yet, links as outputs, and another folder for temporary files.
func TestConfinedCommandsWork(t *testing.T) {
	b := newBench(t)
	trace := `{"traceEvents": [` + goodEvent + `]}`
	b.file("elsewhere/rank.json", trace)
	b.file("one.json", trace)
	b.file("s/manifest.json",
		`{"schema": "bottleneck.session/1", "job": "j", "created_unix_ns": 1, "command": ["x"], "host": "h", "bottleneck": "1"}`)
	b.file("s/h-1-1/process.json", `{"schema":"bottleneck.process/1","pid":1,"host":"h","role":"main"}`)
	b.file("old.txt", "old")
	for link, to := range map[string]string{"ranks/a.json": "../elsewhere/rank.json", "out/link.txt": "../elsewhere/target.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(b.dir, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	b.file("elsewhere/target.txt", "old")
	b.env = append(b.env, "TMPDIR="+filepath.Join(b.dir, "scratch"))
	b.file("scratch/keep", "")
	for _, c := range []struct{ args, made string }{
		{"report ranks", ""}, {"report ranks/a.json", ""}, {"report one.json ranks", ""}, {"report s", ""},
		{"report -o new/deep/report.txt --json new/other/r.json one.json", "new/deep/report.txt"},
		{"report -o old.txt one.json", "old.txt"}, {"report -o out/link.txt one.json", "elsewhere/target.txt"},
		{"report -o /dev/null one.json", ""}, {"export --to csv -o t.csv one.json", "t.csv"},
		{"export --to chrome -o t.json.gz one.json", "t.json.gz"}, {"export --to tensorboard -o board one.json", "board"},
		{"pack -o s.tar.zst s", "s.tar.zst"}, {"pack --redact -o r.tar.zst s", "r.tar.zst"}, {"report s.tar.zst", ""},
		{"report r.tar.zst", ""}, {"pack s", ""}, {"report --style torch one.json", ""},
		{"diff --anyway --json d.json one.json elsewhere/rank.json", "d.json"},
	} {
		got := b.run("", strings.Fields(c.args)...)
		if got.code != 0 {
			t.Errorf("%s: %+v", c.args, got)
		}
		if info, err := os.Stat(filepath.Join(b.dir, c.made)); err != nil || !info.IsDir() && info.Size() < 10 {
			t.Errorf("%s: %s was not written: %v", c.args, c.made, err)
		}
	}
	left, err := os.ReadDir(filepath.Join(b.dir, "scratch"))
	if err != nil || len(left) != 1 {
		t.Errorf("in the folder for temporary files: %v, %v", left, err)
	}
}
