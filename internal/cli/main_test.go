package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asBottleneck makes the test binary be bottleneck itself, so that tests run the real command line in real processes.
const asBottleneck = "BNECK_TEST_AS_BOTTLENECK"

func TestMain(m *testing.M) {
	if os.Getenv(asBottleneck) != "" {
		os.Unsetenv(asBottleneck)
		os.Exit(Run(Confined(context.Background()), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// python is the interpreter that tests run, free of version managers' wrappers.
var python = func() string {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		return "" // as bottleneck, or what that starts of itself, it asks no interpreter unless it is told to
	}
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}()

// limit bounds every wait of a test: well beyond what a loaded machine needs.
const limit = 90 * time.Second

// bench is a directory in which a test runs bottleneck.
type bench struct {
	t   *testing.T
	dir string
	env []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if python == "" {
		t.Skip("no python3 on PATH")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{asBottleneck + "=1", "PATH=" + filepath.Dir(python) + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8"}
	return &bench{t: t, dir: dir, env: env}
}

// file writes a file into the bench's directory.
func (b *bench) file(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// command prepares one bottleneck.
func (b *bench) command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	return b.exec(self, args...)
}

func (b *bench) exec(name string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	b.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.dir, b.env, limit
	return cmd
}

// result is how a command ended.
type result struct {
	code           int
	signal         syscall.Signal
	stdout, stderr string
}

// run runs bottleneck to its end.
func (b *bench) run(stdin string, args ...string) result {
	b.t.Helper()
	cmd := b.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	return b.finish(cmd)
}

// finish runs a prepared command to its end.
func (b *bench) finish(cmd *exec.Cmd) result {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatalf("%s: %v", cmd.Args, err)
	}
	return ended(cmd, stdout.String(), stderr.String())
}

func ended(cmd *exec.Cmd, stdout, stderr string) result {
	r := result{code: cmd.ProcessState.ExitCode(), stdout: stdout, stderr: stderr}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.signal = ws.Signal()
	}
	return r
}

// session is the only session directory below the bench.
func (b *bench) session() string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.dir, "bottleneck-out", "*", "manifest.json"))
	if err != nil || len(found) != 1 {
		b.t.Fatalf("sessions: %v (%v), want one", found, err)
	}
	return filepath.Dir(found[0])
}

// mustNotExist fails the test if something is there.
func (b *bench) mustNotExist(path string) {
	b.t.Helper()
	if _, err := os.Lstat(path); err == nil {
		b.t.Errorf("%s is there", path)
	}
}

// expect fails the test unless text holds every part.
func expect(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

// awaitLine waits until a line with one of the given texts comes, and returns it.
func awaitLine(t *testing.T, lines <-chan string, parts ...string) string {
	t.Helper()
	timeout := time.After(limit)
	var seen []string
	for {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatalf("no line with any of %q came; there were:\n%s", parts, strings.Join(seen, "\n"))
			}
			seen = append(seen, line)
			if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) }) {
				return line
			}
		case <-timeout:
			t.Fatalf("no line with any of %q within %v; there were:\n%s", parts, limit, strings.Join(seen, "\n"))
		}
	}
}
