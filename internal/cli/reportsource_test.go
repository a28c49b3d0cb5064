package cli

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// threadsProgram keeps one thread at work, one asleep in its own function and one in a pool that waits for work, and
// says when it began.
const threadsProgram = `import threading, time
from concurrent.futures import ThreadPoolExecutor
def work(n):
    return sum(i * i for i in range(n))
def sleeper():
    time.sleep(60)
pool = ThreadPoolExecutor(1)
pool.submit(len, "x").result()
threading.Thread(target=sleeper, daemon=True).start()
print("ready", flush=True)
while True:
    work(20000)
`

// `report --source` shows the file of a recorded run from the session, and says which files there are when it does not know one.
func TestReportSource(t *testing.T) {
	b := newBench(t)
	script := b.file("s.py", busyProgram)
	if got := b.run("", "run", "--rate", "500", "s.py"); got.code != 0 {
		t.Fatalf("run: %+v", got)
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	got := b.run("", "report", "--source", "s.py", b.session())
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	lines := strings.Split(got.stdout, "\n")
	share := func(source string) string {
		for _, line := range lines {
			if text, found := strings.CutSuffix(line, source); found {
				return text
			}
		}
		t.Errorf("no line %q in\n%s", source, got.stdout)
		return ""
	}
	if text := share("total += i * i"); !strings.Contains(text, "%") || !strings.Contains(text, "█") {
		t.Errorf("the hot line has no time: %q", text)
	}
	if text := share("work(20000)"); !strings.Contains(text, "░") {
		t.Errorf("the calling line has no total: %q", text)
	}
	if text := share("    return total"); strings.Contains(text, "░░") || strings.Contains(text, "██") {
		t.Errorf("the return has much time: %q", text)
	}
	hot, plain := percent(t, share("total += i * i")), 0
	// any of them may be met by a sample or two
	for _, source := range []string{"import sys, time", "def work(n):", "total = 0", `print("done")`} {
		if text := share(source); !strings.Contains(text, "%") {
			if _, err := strconv.Atoi(strings.TrimSpace(text)); err != nil {
				t.Errorf("the line %q without samples is not plain: %q", source, text)
			}
			plain++
		} else if own := percent(t, text); own > hot/10 {
			t.Errorf("%q has %v %%, the hot line %v %%", source, own, hot)
		}
	}
	if plain == 0 {
		t.Errorf("no line is without samples:\n%s", got.stdout)
	}
	got = b.run("", "report", "--source", "t.py", b.session())
	if got.code != exitUsage || !strings.Contains(got.stderr, filepath.Join(b.dir, "s.py")) {
		t.Errorf("an unknown file: %+v", got)
	}
}

// percent reads the share of a line of source.
func percent(t *testing.T, text string) float64 {
	t.Helper()
	before, _, found := strings.Cut(text, " %")
	fields := strings.Fields(before)
	if !found || len(fields) == 0 {
		t.Fatalf("no share in %q", text)
	}
	share, err := strconv.ParseFloat(fields[len(fields)-1], 64)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return share
}

// `attach --gil` counts the threads that hold the lock only, `--idle` also those that wait for work.
func TestAttachGILAndIdle(t *testing.T) {
	b := newBench(t)
	program := b.exec(python, "-u", b.file("threads.py", threadsProgram))
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill(); _ = program.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	pid := strconv.Itoa(program.Process.Pid)
	table := func(flags ...string) string {
		got := b.run("", append(append([]string{"attach", "--duration", "500ms", "--out", "out" + strings.Join(flags, "")}, flags...),
			pid)...)
		_, after, found := strings.Cut(got.stdout, "Samples of all threads")
		if got.code != 0 || len(flags) > 0 != found {
			t.Fatalf("%v: %+v", flags, got)
		}
		return after
	}
	table()
	gil, idle := table("--gil"), table("--idle")
	expect(t, "--gil", gil, "held the GIL", "work (")
	expect(t, "--idle", idle, "idle ones too", "work (", "sleeper (", "_worker (")
	if strings.Contains(gil, "sleeper (") || strings.Contains(gil, "_worker (") {
		t.Errorf("--gil counts threads that sleep:\n%s", gil)
	}
	for _, c := range []struct {
		flags           []string
		sleeper, worker bool
	}{{[]string{"--gil"}, false, false}, {nil, true, false}, {[]string{"--idle"}, true, true}} {
		got := b.run("", append([]string{"export", "--to", "folded", "out--idle"}, c.flags...)...)
		if got.code != 0 || !strings.Contains(got.stdout, "work (") || strings.Contains(got.stdout, "sleeper (") != c.sleeper ||
			strings.Contains(got.stdout, "_worker (") != c.worker {
			t.Errorf("export %v: %+v", c.flags, got)
		}
	}
}

func TestChooseSamples(t *testing.T) {
	made := func() *model.Session {
		p := testkit.NewProgram()
		frame := testkit.Frame{File: "/a.py", Function: "f", First: 1, Line: 1}
		p.Do(testkit.Python(3, frame), testkit.Blocked(2, frame), testkit.Act{Ms: 4, State: model.StateIdle, Stack: []testkit.Frame{frame}})
		return p.S
	}
	for _, c := range []struct {
		choice        report.SampleChoice
		format        string
		samples, idle int
	}{{report.SampleChoice{}, "folded", 9, 4}, {report.SampleChoice{GIL: true}, "folded", 3, 0},
		{report.SampleChoice{Idle: true}, "folded", 9, 0}, {report.SampleChoice{Idle: true}, "pprof", 9, 4}} {
		s := made()
		chooseSamples(s, c.choice, c.format)
		sm, idle := &s.Processes[0].Samples, 0
		for _, state := range sm.State {
			if state == model.StateIdle {
				idle++
			}
		}
		if err := s.Check(); err != nil || sm.Len() != c.samples || idle != c.idle {
			t.Errorf("%+v: %d samples, %d idle, %v", c, sm.Len(), idle, err)
		}
	}
}
