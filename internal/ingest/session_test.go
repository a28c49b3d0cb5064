package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// sessionDir is a session under construction.
type sessionDir struct {
	t   *testing.T
	dir string
}

func newSessionDir(t *testing.T) *sessionDir {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	if _, err := record.Create(dir, record.Manifest{Job: "j", Host: "far", Command: []string{"python3", "x.py"}}); err != nil {
		t.Fatal(err)
	}
	return &sessionDir{t, dir}
}

func (d *sessionDir) write(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

func (d *sessionDir) process(folder, facts string) { d.write(folder+"/process.json", facts) }

func (d *sessionDir) launcher(l record.Launcher) {
	d.t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		d.t.Fatal(err)
	}
	d.write("launcher-"+l.Host+"-1-1/launcher.json", string(text))
}

func (d *sessionDir) open() *model.Session {
	d.t.Helper()
	s, err := Open(context.Background(), []string{d.dir}, Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func ptrTo[T any](v T) *T { return &v }

const facts = `{"schema": "bottleneck.process/1", "host": "far", "role": "main", "pid": 500, "argv": ["python3", "x.py"], "python": "3.12.0", "main_thread": 500,
"start_unix_ns": 1000, "torch": {"version": "2.15.0", "num_threads": 8, "num_interop_threads": 4}, "threads_env": {"OMP_NUM_THREADS": "8"}, "exit": {"unix_ns": 9000, "reason": "exit"}}`

func TestSessionJoinsLauncherAndAgent(t *testing.T) {
	d := newSessionDir(t)
	second := int64(1e9)
	d.launcher(record.Launcher{Host: "far", Command: []string{"python3", "x.py"}, ChildPID: 500, StartUnixNS: 1,
		Before: &record.Machine{UnixNS: 0, CPUs: 4, CPUQuota: ptrTo(2.5), ThrottledNS: ptrTo(second), CPUBusyNS: ptrTo(10 * second),
			ThreadSettings: map[string]string{"MKL_NUM_THREADS": "2"}, GPUs: []record.GPU{{Index: 0, Name: "G", ClockMHz: ptrTo(900.0)}}},
		After: &record.Machine{UnixNS: 10 * second, ThrottledNS: ptrTo(3 * second), CPUBusyNS: ptrTo(50 * second)},
		Exit:  &record.Exit{UnixNS: 9 * second, Code: 143, Signal: "SIGTERM", UserSeconds: 18, SystemSeconds: 1},
		Own:   record.Own{CPUNS: second}, Notes: []record.Note{{Code: "x", Text: "something is missing"}}})
	// A worker's folder sorts before the program's, and says of torch what does not hold for the program.
	d.process("far-100-1", strings.NewReplacer(`"main"`, `"worker"`, `"pid": 500`, `"pid": 100`, `"num_threads": 8`,
		`"num_threads": 1`).Replace(facts))
	d.process("far-500-1", facts)
	s := d.open()
	if s.Growing || s.Run.ExitCode != 143 || s.Run.Signal != "SIGTERM" || s.Run.End != model.Time(9*second) {
		t.Errorf("run %+v, growing %v", s.Run, s.Growing)
	}
	if s.Run.TopLevel < 0 || s.Processes[s.Run.TopLevel].PID != 500 {
		t.Errorf("top level %d", s.Run.TopLevel)
	}
	e := s.Environment
	if e.Threads["torch.get_num_threads"] != "8" || e.Threads["MKL_NUM_THREADS"] != "2" || e.Threads["OMP_NUM_THREADS"] != "8" {
		t.Errorf("threads %v", e.Threads)
	}
	if e.CPUQuota == nil || *e.CPUQuota != 2.5 || e.ThrottledSeconds == nil || *e.ThrottledSeconds != 2 || e.Torch != "2.15.0" {
		t.Errorf("environment %+v", e)
	}
	if e.OthersBusyCores == nil || *e.OthersBusyCores != 2 { // 40 s of CPU less the program's 19 and our 1, over 10 s
		t.Errorf("others %v", e.OthersBusyCores)
	}
	if len(e.GPUs) != 1 || e.GPUs[0].ClockMHz == nil {
		t.Errorf("GPUs %+v", e.GPUs)
	}
	if len(s.Run.Notes) != 1 || s.Run.Notes[0] != "something is missing" {
		t.Errorf("notes %q", s.Run.Notes)
	}
}

// How busy a device was just before the run may be the program before this one: it counts where the same process computed on the device
// before the run and after it.
func TestWhoElseUsesADevice(t *testing.T) {
	for name, c := range map[string]struct {
		before, after []int
		shared        bool
	}{
		"nobody is listed":     {nil, nil, false},
		"one that has gone":    {[]int{7}, []int{}, false},
		"one that came":        {nil, []int{8}, false},
		"one after another":    {[]int{7}, []int{8}, false},
		"the same, both times": {[]int{7, 9}, []int{9}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newSessionDir(t)
			look := func(pids []int, busy float64) *record.Machine {
				return &record.Machine{CPUs: 4, GPUs: []record.GPU{{Index: 0, Name: "G", Utilisation: &busy, Processes: pids}}}
			}
			d.launcher(record.Launcher{Host: "far", Command: []string{"python3", "x.py"}, ChildPID: 500, StartUnixNS: 1,
				Before: look(c.before, 0.28), After: look(c.after, 0.9), Exit: &record.Exit{UnixNS: 9000}})
			d.process("far-500-1", facts)
			g := d.open().Environment.GPUs
			if len(g) != 1 || (g[0].UtilisationByOthersPart != nil) != c.shared || c.shared && *g[0].UtilisationByOthersPart != 0.28 {
				t.Errorf("%+v", g)
			}
		})
	}
}

// A program that only starts its ranks is a launcher, also where a fork server stands between them, and what the ranks say of torch
// holds for the session. One that has steps of its own, and one whose children are no ranks, are the program.
func TestSessionLaunchesItsRanks(t *testing.T) {
	child := func(pid, parent int, role, rank string) string {
		return strings.NewReplacer(`"role": "main"`, fmt.Sprintf(`"role": %q, "ppid": %d, "rank": %s, "world_size": 2`, role, parent, rank),
			`"pid": 500`, fmt.Sprintf(`"pid": %d`, pid), `"num_threads": 8`, `"num_threads": 1`).Replace(facts)
	}
	step := `["step", 0, "train", "optimizer", 2, 3, "baseline", 4, 500]` + "\n"
	task := strings.Replace(facts, `"role": "main"`, `"role": "rank", "rank": 0, "world_size": 2`, 1)
	for name, c := range map[string]struct {
		parent, between, role string
		own, theirs           string // rows of the parent and of its children
		want                  model.Role
		threads               string
	}{
		"ranks":                   {facts, "", "rank", "", "", model.RoleLauncher, "1"},
		"by a fork server":        {facts, "other", "rank", "", "", model.RoleLauncher, "1"},
		"by a launcher":           {facts, "launcher", "rank", "", "", model.RoleLauncher, "1"},
		"steps of its own":        {facts, "", "rank", step, step, model.RoleMain, "1"},
		"children no ranks":       {facts, "", "other", "", step, model.RoleMain, "8"},
		"one task of each host":   {task, "", "rank", "", step, model.RoleLauncher, ""},
		"a rank with a helper":    {task, "", "rank", "", "", model.RoleRank, "8"},
		"a rank that takes steps": {task, "", "rank", step, step, model.RoleRank, "8"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newSessionDir(t)
			d.launcher(record.Launcher{Host: "far", ChildPID: 500, StartUnixNS: 1, Exit: &record.Exit{UnixNS: 9000}})
			process := func(pid int, facts, rows string) {
				d.process(fmt.Sprintf("far-%d-1", pid), facts)
				d.write(fmt.Sprintf("far-%d-1/events.jsonl.gz", pid), string(inGzip(t, `["clock", 1, 1001]`+"\n"+rows)))
			}
			process(500, c.parent, c.own)
			parent := 500
			if c.between != "" {
				parent = 501
				process(parent, child(parent, 500, c.between, "null"), "")
			}
			for i, rank := range []string{"0", "1"} {
				if c.role != "rank" {
					rank = "null"
				}
				process(510+i, child(510+i, parent, c.role, rank), c.theirs)
			}
			s := d.open()
			if p := s.Processes[s.Run.TopLevel]; p.PID != 500 || p.Role != c.want ||
				(p.Rank == model.NoRank) != (p.Role != model.RoleRank) {
				t.Errorf("process %d is %s of rank %d, want %s", p.PID, p.Role, p.Rank, c.want)
			}
			if got := s.Environment.Threads["torch.get_num_threads"]; c.threads != "" && got != c.threads {
				t.Errorf("%s threads, want %s", got, c.threads)
			}
		})
	}
}

// A session of another host counts as growing while it is being written, and as left behind once it is not.
func TestSessionGrowing(t *testing.T) {
	d := newSessionDir(t)
	d.launcher(record.Launcher{Host: "far", ChildPID: 500, StartUnixNS: 1})
	d.process("far-500-1", strings.Replace(facts, `, "exit": {"unix_ns": 9000, "reason": "exit"}`, "", 1))
	events := d.write("far-500-1/events.jsonl.gz", string(inGzip(t, `["clock", 1, 1001]`+"\n")))
	if s := d.open(); !s.Growing || s.Run.End != 0 {
		t.Errorf("growing %v, end %v", s.Growing, s.Run.End)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(events, old, old); err != nil {
		t.Fatal(err)
	}
	s := d.open()
	if s.Growing || len(s.Run.Notes) != 1 || !strings.Contains(s.Run.Notes[0], "bottleneck itself was ended") {
		t.Errorf("growing %v, notes %q", s.Growing, s.Run.Notes)
	}
}

// A trace is the same input before and after the launcher has compressed it.
func TestSessionTraceCompressedOrNot(t *testing.T) {
	trace := `{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 500, "tid": 500, "ts": 1.0, "dur": 2.0, "args": {"External id": 1}}]}`
	var inputs []string
	for _, packed := range []bool{false, true} {
		d := newSessionDir(t)
		d.process("far-500-1", facts)
		if packed {
			d.write("far-500-1/trace-0.json.gz", string(inGzip(t, trace)))
		} else {
			d.write("far-500-1/trace-0.json", trace)
			d.write("far-500-1/.trace-0.json.gz.tmp-1", "half") // compression under way
		}
		s := d.open()
		if len(s.Traces) != 1 || s.Traces[0].Process != 0 {
			t.Fatalf("traces %+v", s.Traces)
		}
		in := s.Inputs[s.Traces[0].Input]
		in.Diagnostics = nil
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, string(text))
		if in.Bytes != int64(len(trace)) {
			t.Errorf("%d bytes, want %d", in.Bytes, len(trace))
		}
	}
	if inputs[0] != inputs[1] {
		t.Errorf("plain %s\npacked %s", inputs[0], inputs[1])
	}
}

// Before Python 3.9 the script's frames are named as its command line names it: relative to where it was started.
func TestScriptsNamedRelatively(t *testing.T) {
	s := &model.Session{Strings: &model.Strings{}}
	for folder, want := range map[string]string{"/home/u": "/home/u/train.py", "": "train.py", `C:\u`: "train.py"} {
		p := &model.Process{Folder: folder}
		for _, file := range []string{"train.py", "./train.py", "/x/lib.py", "<string>", `D:\a.py`} {
			p.Samples.Stacks.Frames = append(p.Samples.Stacks.Frames, model.Frame{File: s.Strings.Intern(file)})
		}
		cleanPaths(s, []*model.Process{p})
		wants := []string{want, want, "/x/lib.py", "<string>", `D:\a.py`}
		if want == "train.py" {
			wants[1] = "./train.py"
		}
		for i, fr := range p.Samples.Stacks.Frames {
			if got := s.Strings.Text(fr.File); got != wants[i] {
				t.Errorf("in %q: %q, want %q", folder, got, wants[i])
			}
		}
	}
}

// Whatever is in a session directory, it opens.
func TestSessionDamagedFilesAreDiagnosed(t *testing.T) {
	d := newSessionDir(t)
	d.write("manifest.json", "{")
	d.write("launcher-far-1-1/launcher.json", "[]")
	d.write("launcher-far-1-1/samples.pb.zst", "\xff\xff\xff\xffrubbish")
	d.process("far-1-1", "not JSON")
	d.process("far-2-1", facts)
	d.write("far-2-1/events.jsonl.gz", "not gzip")
	d.write("far-2-1/trace-0.json", "not JSON either")
	d.write("source/index.json", "x")
	s := d.open()
	kinds := map[string]bool{}
	for _, in := range s.Inputs {
		for _, diagnostic := range in.Diagnostics {
			kinds[diagnostic.Kind] = true
		}
		if filepath.IsAbs(in.Path) {
			t.Errorf("input %q is not named relative to the session", in.Path)
		}
	}
	for _, want := range []string{"manifest", "launcher", "samples", "process", "trace", "sources"} {
		if !kinds[want] {
			t.Errorf("no diagnostic %q among %v", want, kinds)
		}
	}
	if len(s.Processes) == 0 {
		t.Error("the readable process is missing")
	}
}

// That the agent of the program is silent is said. A process that a pool ended by a signal had nothing to say yet.
func TestProcessesWithoutEvents(t *testing.T) {
	d := newSessionDir(t)
	d.process("far-500-1", facts)
	d.process("far-501-1", strings.Replace(strings.Replace(facts, `"role": "main"`, `"role": "other"`, 1), "500", "501", 2))
	var silent []string
	for _, in := range d.open().Inputs {
		for _, diagnostic := range in.Diagnostics {
			if diagnostic.Kind == "missing" {
				silent = append(silent, in.Path)
			}
		}
	}
	if len(silent) != 1 || !strings.Contains(silent[0], "far-500-1") {
		t.Errorf("said of %v", silent)
	}
}

func TestCleanPath(t *testing.T) {
	for in, want := range map[string]string{"/a/./b.py": "/a/b.py", "/a//b/././c.py": "/a/b/c.py", "/a/../b.py": "/a/../b.py",
		"<frozen x>": "<frozen x>", "http://h//x": "http://h//x", "a.py": "a.py"} {
		if got := cleanPath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSourcePaths(t *testing.T) {
	s := &model.Session{Strings: &model.Strings{}}
	p := &model.Process{}
	add := func(file string, samples int) {
		p.Samples.Stacks.Frames = append(p.Samples.Stacks.Frames, model.Frame{File: s.Strings.Intern(file)})
		p.Samples.Stacks.Frame = append(p.Samples.Stacks.Frame, model.FrameID(len(p.Samples.Stacks.Frames)-1))
		p.Samples.Stacks.Parent = append(p.Samples.Stacks.Parent, model.NoStack)
		for range samples {
			p.Samples.Stack = append(p.Samples.Stack, model.StackID(len(p.Samples.Stacks.Frame)-1))
		}
	}
	add("/home/u/model.py", 0)
	add("/home/u/train.py", 5)
	add("<frozen importlib>", 50)
	add("/s/agent/_bneck_agent/core.py", 3)
	add("/usr/lib/python3/site-packages/never.py", 0)
	for i := range 20 {
		add("/usr/lib/python3/site-packages/lib"+string(rune('a'+i))+".py", i+1)
		add("/usr/lib/python3/site-packages/torch/nn"+string(rune('a'+i))+".py", 2*i+1)
	}
	s.Processes = []*model.Process{p}
	got := SourcePaths(s)
	if len(got) != 2+maxPackageSources+maxLibrarySources {
		t.Fatalf("%d paths: %v", len(got), got)
	}
	all := strings.Join(got, " ")
	for _, want := range []string{"/home/u/model.py", "/home/u/train.py", "libt.py"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing: %v", want, got)
		}
	}
	for _, not := range []string{"core.py", "never.py", "liba.py", "nna.py", "frozen"} {
		if strings.Contains(all, not) {
			t.Errorf("%s is kept: %v", not, got)
		}
	}
}

func inGzip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
