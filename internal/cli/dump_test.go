package cli

import (
	"bufio"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"bottleneck/internal/collect"
	"bottleneck/internal/cpython"
	"bottleneck/internal/model"
)

// ranksProgram starts three ranks of a job of four that stand where a hung job does, without torch: their files are
// named as torch's are. Each says when it is about to sleep.
const ranksProgram = `import os, subprocess, sys
if "RANK" not in os.environ:
    env = dict(os.environ, WORLD_SIZE="4")
    ranks = [subprocess.Popen([sys.executable, __file__], env=dict(env, RANK=str(i)), stdin=subprocess.PIPE) for i in range(3)]
    for rank in ranks:
        rank.wait()
    sys.exit()
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "site-packages"))
from torch.distributed.distributed_c10d import all_reduce
from torch.autograd.graph import run_backward
def evaluate():
    run_backward(os.environ["RANK"])
def straggle():
    print("ready", os.environ["RANK"], flush=True)
    sys.stdin.read()
[lambda: all_reduce(), evaluate, straggle][int(os.environ["RANK"])]()
`

const fakeCollectives = `import sys
def all_reduce():
    _wait()
def _wait():
    print("ready 0", flush=True)
    get_world_size()
def get_world_size():
    sys.stdin.read()
`

const fakeBackward = `import sys
def run_backward(rank):
    print("ready", rank, flush=True)
    sys.stdin.read()
`

func TestDumpRanksSideBySide(t *testing.T) {
	b := newBench(t)
	for name, text := range map[string]string{"site-packages/torch/__init__.py": "", "site-packages/torch/distributed/__init__.py": "",
		"site-packages/torch/autograd/__init__.py": "", "site-packages/torch/distributed/distributed_c10d.py": fakeCollectives,
		"site-packages/torch/autograd/graph.py": fakeBackward} {
		b.file(name, text)
	}
	job := b.exec(python, "-u", b.file("job.py", ranksProgram))
	out, err := job.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = job.Process.Kill(); _ = job.Wait() })
	for lines, n := bufio.NewScanner(out), 0; n < 3; n++ {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), "ready ") {
			t.Fatalf("%q, %v", lines.Text(), lines.Err())
		}
	}
	var got result
	for { // until the ranks sleep; the job is killed at the test's limit
		got = b.run("", "dump", strconv.Itoa(job.Process.Pid))
		if got.code != 0 {
			t.Fatalf("%+v", got)
		}
		if _, after, _ := strings.Cut(got.stdout, "Ranks side by side"); strings.Count(after, " blocked ") == 3 {
			break
		}
	}
	_, table, _ := strings.Cut(got.stdout, "Ranks side by side\n")
	table = strings.Join(strings.Fields(strings.ReplaceAll(table, b.dir+"/", "")), " ")
	for _, want := range []string{"all_reduce blocked <lambda> (job.py:16)", "backward blocked evaluate (job.py:12)",
		"- blocked straggle (job.py:15)", "all_reduce: in it rank 0; missing ranks 1-2", "backward: in it rank 1; missing ranks 0, 2",
		"1 of the job's 4 ranks were not looked at"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, got.stdout)
		}
	}
	asJSON := b.run("", "dump", "--json", "-", strconv.Itoa(job.Process.Pid))
	var doc struct{ Processes []collect.DumpedProcess }
	if err := json.Unmarshal([]byte(asJSON.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	stands := map[int]string{}
	for _, p := range doc.Processes {
		if p.Rank != nil && p.WorldSize == 4 {
			stands[*p.Rank] = p.Collective
		}
	}
	if len(stands) != 3 || stands[0] != "all_reduce" || stands[1] != "backward" || stands[2] != "" {
		t.Errorf("the document has %v", stands)
	}
}

func TestWriteRanks(t *testing.T) {
	rank := func(n int, collective, reason string) collect.DumpedProcess {
		p := collect.DumpedProcess{PID: 100 + n, Role: model.RoleRank, Rank: &n, WorldSize: 3, Collective: collective, Reason: reason}
		p.Threads = []collect.DumpedThread{{State: "cpu", Collective: collective, HoldsGIL: true}}
		return p
	}
	for _, c := range []struct {
		all  []collect.DumpedProcess
		want []string
	}{
		{[]collect.DumpedProcess{rank(2, "barrier", ""), rank(0, "barrier", ""), rank(1, "barrier", "")},
			[]string{"barrier: every rank stands in it.", "on CPU, GIL"}},
		{[]collect.DumpedProcess{rank(1, "", ""), rank(0, "", "")}, []string{"No rank stands in a collective", "1 of the job's 3 ranks"}},
		{[]collect.DumpedProcess{rank(0, "barrier", ""), rank(1, "", "no permission")},
			[]string{"not read: no permission", "missing rank 1"}},
		{[]collect.DumpedProcess{rank(0, "barrier", "")}, nil},
	} {
		var b strings.Builder
		writeRanks(&b, c.all)
		if (b.Len() > 0) != (c.want != nil) {
			t.Errorf("%d ranks: %q", len(c.all), b.String())
		}
		expect(t, "the table", b.String(), c.want...)
	}
	if got := rankList([]int{0, 1, 2, 5, 7, 8}); got != "ranks 0-2, 5, 7-8" {
		t.Error(got)
	}
}

// TestDumpSteersNoTerminal prints names and values that hold control characters: they stay on their lines and do nothing.
func TestDumpSteersNoTerminal(t *testing.T) {
	const hostile = "a\x1b[2J\x07\nProcess 1: b\u202e"
	frames := []collect.DumpedFrame{{Function: hostile, File: hostile, Line: 3, Locals: []cpython.Local{{Name: hostile, Value: hostile}}},
		{Function: hostile, File: hostile, Native: true}}
	rank, other := 0, 1
	p := collect.DumpedProcess{PID: 7, Rank: &rank, Role: model.RoleRank, Python: "3.13.0", Command: []string{"python", hostile},
		Collective:    hostile,
		Threads:       []collect.DumpedThread{{TID: 7, Name: hostile, State: "cpu", Collective: hostile, Frames: frames}},
		NativeThreads: []collect.DumpedThread{{TID: 8, Name: hostile, State: "idle", Frames: frames[1:]}},
		Tasks:         []collect.DumpedTask{{Name: hostile, Awaits: hostile, Frames: frames[:1]}}}
	q := p
	q.Rank, q.PID = &other, 9
	var out strings.Builder
	writeDump(&out, []collect.DumpedProcess{p, q})
	for line := range strings.SplitSeq(out.String(), "\n") {
		if strings.ContainsAny(line, "\x1b\x07\u202e") || strings.HasPrefix(line, "Process 1") {
			t.Errorf("line %q", line)
		}
	}
	if !strings.Contains(out.String(), "a·[2J· Process 1: b·") {
		t.Errorf("the names are missing:\n%s", out.String())
	}
}
