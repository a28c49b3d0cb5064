package collect

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bottleneck/internal/proc"
)

// TestZombiesAreNotFollowed: a child that has ended stays in the list of processes until its parent looks; it is none of
// the tree, or it would come and go with every look.
func TestZombiesAreNotFollowed(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Skipf("no program to run: %v", err)
	}
	defer func() { _ = cmd.Wait() }()
	pid := cmd.Process.Pid
	for {
		st, err := proc.ReadStat(pid)
		if err != nil {
			t.Fatal(err)
		}
		if st.State == 'Z' {
			break
		}
	}
	tr := newTree(&Sampler{opts: SamplerOptions{PID: os.Getpid(), Hz: DefaultHz}})
	tr.procs[os.Getpid()] = &treeProcess{}
	if added, foreign := tr.adopt([]int{pid}, 0, nil); added || !slices.Contains(foreign, pid) {
		t.Errorf("a zombie was added: %v, foreign %v", added, foreign)
	}
}

// replacing runs the same interpreter with other arguments in its place, once it is told to.
const replacing = `
import os, sys
def work():
    while True:
        sum(range(1000))
if len(sys.argv) == 1:
    print("ready", flush=True)
    sys.stdin.readline()
    os.execv(sys.executable, [sys.executable, __file__, "again"])
work()
`

// TestExecOfTheSameInterpreter: a process that runs another script on the same interpreter has that one's command.
func TestExecOfTheSameInterpreter(t *testing.T) {
	script := filepath.Join(t.TempDir(), "replacing.py")
	if err := os.WriteFile(script, []byte(replacing), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(newestPython(t), script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := startCommand(t, cmd)
	p.line(t)
	first, again := make(chan struct{}), make(chan struct{})
	begun, done := false, false
	s, err := StartSampler(context.Background(), SamplerOptions{PID: cmd.Process.Pid, Hz: 200, Live: func(l LiveSample) {
		if !begun {
			begun = true
			close(first)
		}
		if args := l.Process.Args; !done && len(args) > 0 && args[len(args)-1] == "again" {
			done = true
			close(again)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	<-first
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-again:
	case <-time.After(time.Minute):
		t.Errorf("the new command was not seen: %+v", s.Stop().Processes)
	}
}
