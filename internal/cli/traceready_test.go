//go:build unix

package cli

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/record"
)

// readySession is a session with n announced traces, plain ones and compressed ones in turn.
func readySession(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's [a] session")
	folder := filepath.Join(dir, "host-1-1")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		name := fmt.Sprintf("trace-%d.json", i)
		f, err := os.Create(filepath.Join(folder, name+map[bool]string{true: ".gz"}[i%2 == 1]))
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			z := gzip.NewWriter(f)
			fmt.Fprint(z, "{}")
			z.Close()
		} else {
			fmt.Fprint(f, "{}")
		}
		f.Close()
		ready := fmt.Sprintf(`{"file": %q, "first_step": %d, "step": %d, "cycle": %d, "rank": 3}`, name, 10*i, 10*i+2, i)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("trace-%d.ready", i)), []byte(ready), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runReady(t *testing.T, dir, command string, limit time.Duration) *record.Launcher {
	t.Helper()
	r := startReady(dir, "host", command)
	r.limit = limit
	l := &record.Launcher{}
	r.stop(l)
	return l
}

func TestOnTraceReadyRunsForEachTrace(t *testing.T) {
	dir := readySession(t, 3)
	t.Setenv("RESULT", filepath.Join(t.TempDir(), "result"))
	l := runReady(t, dir, `gzip -t {path} && echo "{step} {cycle} {rank} $BNECK_TRACE_STEP $BNECK_TRACE_CYCLE $BNECK_TRACE_RANK $(basename "$BNECK_TRACE_PATH")" >> "$RESULT"`, time.Minute)
	if len(l.Notes) != 0 {
		t.Errorf("notes %v", l.Notes)
	}
	got, _ := os.ReadFile(os.Getenv("RESULT"))
	const want = "2 0 3 2 0 3 trace-0.json.gz\n12 1 3 12 1 3 trace-1.json.gz\n22 2 3 22 2 3 trace-2.json.gz\n"
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestOnTraceReadyThatFailsOrHangsIsNoted(t *testing.T) {
	for _, c := range []struct {
		command string
		limit   time.Duration
		want    string
	}{
		{"echo nothing works >&2; exit 3", time.Minute, "failed for 2 of 2 traces: trace-0.json.gz: exit status 3 (nothing works)"},
		{"sleep 1000 & sleep 1000", 100 * time.Millisecond, "ended after 100ms"},
	} {
		l := runReady(t, readySession(t, 2), c.command, c.limit)
		if len(l.Notes) == 0 || !strings.Contains(l.Notes[0].Text, c.want) {
			t.Errorf("%s: %v", c.command, l.Notes)
		}
	}
	if l := runReady(t, readySession(t, 0), "true", time.Minute); len(l.Notes) != 1 || !strings.Contains(l.Notes[0].Text, "never ran") {
		t.Errorf("without traces: %v", l.Notes)
	}
}

func TestScheduleIsJudgedBeforeTheStart(t *testing.T) {
	b := newBench(t)
	b.file("own.py", "from torch.profiler import (ProfilerAction)\nimport os\ndef my_plan(step):\n    return 1\nother = my_plan\n")
	b.file("program.py", "print('ran')\n")
	for _, c := range []struct{ flags, want string }{
		{"--schedule wait=5,active=1 --steps 5", "nothing would be recorded"},
		{"--schedule wait=5,activ=1", `did you mean "active"?`},
		{"--schedule wait=5", "active must be at least 1"},
		{"--schedule active=1 --schedule-py own.py:my_plan", "exclude each other"},
		{"--schedule-py own.py:my_plam", `did you mean "my_plan"?`},
		{"--schedule-py absent.py:f", "no such file"},
		{"--schedule-py own.py", "is not FILE:FUNC"},
	} {
		out, err := b.command(append(append([]string{"run"}, strings.Fields(c.flags)...), "program.py")...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "ran") {
			t.Errorf("%s: %v\n%s", c.flags, err, out)
		}
	}
}
