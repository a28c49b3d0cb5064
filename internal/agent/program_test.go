package agent

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"bottleneck/internal/testkit"
)

// generations are the environments of scripts/env.sh to test with: the newest, or those that BOTTLENECK_E2E names.
func generations() []string {
	if names := os.Getenv("BOTTLENECK_E2E"); names != "" {
		return strings.Split(names, ",")
	}
	return []string{"newest"}
}

// python gives the interpreter of a generation, for a test that need not run on all of them.
func python(t *testing.T, generation string) string {
	t.Helper()
	testkit.Shared(t, generation, "")
	return interpreterOf(t, generation)
}

func interpreterOf(t *testing.T, generation string) string {
	t.Helper()
	out, err := exec.Command("../../scripts/env.sh", generation).Output()
	if err != nil {
		t.Skipf("scripts/env.sh %s: %v", generation, err)
	}
	return strings.TrimSpace(string(out))
}

// outcome is what a program showed to the world.
type outcome struct {
	stdout, stderr string
	status         int // negative: ended by that signal
}

// once is what libtorch 2.4 writes where a session of the program's is open at the end and there was another one before.
var once = regexp.MustCompile(`(?m)^.*Requested callback is not found.*\n`)

// changing are process ids, times and torch's own numbers of callbacks in messages of Python and Kineto.
var changing = regexp.MustCompile(
	`pid=\d+|:\d{4}-\d\d-\d\d [\d:]+ \d+:\d+ |\[W\d{4} [\d:.]+ |W\d{8} [\d:.]+ +\d+ |callback handle: \d+| at 0x[0-9a-f]+`)

// start runs a program of testdata and waits for it.
func start(t *testing.T, interpreter string, environ []string, arguments ...string) outcome {
	t.Helper()
	command := exec.Command(interpreter, arguments...)
	command.Env, command.Dir = environ, "testdata"
	command.WaitDelay = 20 * time.Second // a fork server (Python 3.14) holds the pipes until it has taken torch down
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(5*time.Minute, func() { command.Process.Kill() })
	err := command.Wait()
	if !hung.Stop() {
		t.Errorf("%q hangs", arguments)
	}
	result := outcome{stdout: stdout.String(), stderr: changing.ReplaceAllString(once.ReplaceAllString(stderr.String(), ""), "")}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		result.status = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%q: %v", arguments, err)
	}
	return result
}

var plainRuns sync.Map // interpreter and arguments -> func() outcome

// startPlain runs a program without the agent, once for all tests that compare with it.
func startPlain(t *testing.T, interpreter string, arguments ...string) outcome {
	t.Helper()
	once, _ := plainRuns.LoadOrStore(interpreter+" "+strings.Join(arguments, " "), sync.OnceValue(func() outcome {
		return start(t, interpreter, environment(), arguments...)
	}))
	return once.(func() outcome)()
}

// environment is the tests' own without what would change Python.
func environment(extra ...string) []string {
	kept := []string{"PYTHONDONTWRITEBYTECODE=1"}
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "PYTHON") && !strings.HasPrefix(entry, "BNECK_") {
			kept = append(kept, entry)
		}
	}
	return append(kept, extra...)
}

// session makes a session directory with the agent in it.
func session(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o711); err != nil { // a program that changes its user still finds the agent's files
		t.Fatal(err)
	}
	if err := Extract(filepath.Join(dir, "agent")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// withAgent runs a program under the agent; "SESSION" in its arguments stands for the session directory.
func withAgent(t *testing.T, interpreter string, c Config, extra []string, arguments ...string) (outcome, string) {
	t.Helper()
	dir := session(t)
	c.Session, c.Verbose = dir, true
	replaced := make([]string, len(arguments))
	for i, argument := range arguments {
		replaced[i] = strings.ReplaceAll(argument, "SESSION", dir)
	}
	return start(t, interpreter, Environ(environment(extra...), filepath.Join(dir, "agent"), c), replaced...), dir
}

// same fails the test if the program shows that the agent was there.
func same(t *testing.T, plain, agent outcome) {
	t.Helper()
	if plain.status != agent.status {
		t.Errorf("exit status %d, without the agent %d", agent.status, plain.status)
	}
	if plain.stdout != agent.stdout {
		t.Errorf("standard output:\n%s\nwithout the agent:\n%s", agent.stdout, plain.stdout)
	}
	if plain.stderr != agent.stderr {
		t.Errorf("standard error:\n%s\nwithout the agent:\n%s", agent.stderr, plain.stderr)
	}
}

// rows are the decoded lines of one process's events; process is its process.json.
type written struct {
	dir     string
	process map[string]any
	rows    [][]any
}

// read gives what each process of a session wrote, in order of their folders' names.
func read(t *testing.T, dir string) []written {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "process.json"))
	var all []written
	for _, path := range paths {
		w := written{dir: filepath.Dir(path)}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &w.process); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		w.rows = events(t, filepath.Join(w.dir, "events.jsonl.gz"))
		all = append(all, w)
	}
	return all
}

func events(t *testing.T, path string) [][]any {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil // nothing was written, or a test put something else there
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var rows [][]any
	for line := range strings.Lines(string(text)) {
		var row []any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

// of gives the rows of one kind, further elements as strings ("" is any).
func (w written) of(kind string, further ...string) [][]any {
	var found [][]any
rows:
	for _, row := range w.rows {
		if row[0] != kind {
			continue
		}
		for i, want := range further {
			if want != "" && (len(row) <= i+1 || row[i+1] != want) {
				continue rows
			}
		}
		found = append(found, row)
	}
	return found
}

// role gives the processes of one role.
func role(all []written, name string) []written {
	var found []written
	for _, w := range all {
		if w.process["role"] == name {
			found = append(found, w)
		}
	}
	return found
}

// noHookFailed fails the test if a hook did.
func noHookFailed(t *testing.T, all []written) {
	t.Helper()
	for _, w := range all {
		for _, row := range w.of("note", "", "hook-failed") {
			t.Errorf("%v", row)
		}
	}
}

// noFailures fails the test if any hook or the profiler did.
func noFailures(t *testing.T, all []written) {
	t.Helper()
	for _, w := range all {
		for _, row := range w.of("note") {
			if code := row[2].(string); strings.HasSuffix(code, "failed") || code == "profiler-open" {
				t.Errorf("%v", row)
			}
		}
	}
}
