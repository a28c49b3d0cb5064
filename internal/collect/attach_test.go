package collect

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/model"
	"bottleneck/internal/proc"
)

// TestDump prints a program with variables, and refuses what has no Python with the reason.
func TestDump(t *testing.T) {
	p := startProgram(t, newestPython(t), "-c", `
import threading, time
def sleeper(answer):
    print("ready", flush=True)
    time.sleep(60)
threading.Thread(target=time.sleep, args=(60,), daemon=True, name="a name of its own").start()
sleeper(42)
`)
	p.line(t)
	var list []DumpedProcess
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		var err error
		if list, err = Dump(p.cmd.Process.Pid, DumpOptions{Locals: true}); err != nil {
			t.Fatal(err)
		}
		// It can be blocked in the print as well, whose text has been read here before the call returns there.
		if main := list[0].Threads[0]; main.State == "blocked" && len(main.Frames) > 0 && main.Frames[0].Line == 5 {
			break
		}
	}
	if len(list) != 1 || len(list[0].Threads) != 2 {
		t.Fatalf("%+v", list)
	}
	main := list[0].Threads[0]
	if main.TID != p.cmd.Process.Pid || main.Name != "MainThread" || main.HoldsGIL || main.State != "blocked" {
		t.Errorf("main thread %+v", main)
	}
	if f := main.Frames[0]; f.Function != "sleeper" || f.Line != 5 || len(f.Locals) != 1 || f.Locals[0].Value != "42" {
		t.Errorf("frame %+v", f)
	}
	if name := list[0].Threads[1].Name; name != "a name of its own" {
		t.Errorf("the second thread is named %q", name)
	}
	if list[0].Role != model.RoleMain || list[0].Rank != nil {
		t.Errorf("role %s, rank %v", list[0].Role, list[0].Rank)
	}
}

func TestDumpRefused(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skipf("no program to run: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	want := map[int]string{cmd.Process.Pid: "no CPython interpreter", 1 << 30: "does not exist"}
	if st, err := proc.ReadStat(2); err == nil && st.Comm == "kthreadd" {
		want[2] = "kernel thread"
	}
	for pid, text := range want {
		if _, err := Dump(pid, DumpOptions{}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("process %d: %v does not say %q", pid, err, text)
		}
	}
}

// TestRoles tells roles by command lines.
func TestRoles(t *testing.T) {
	for _, c := range []struct {
		args []string
		rank int
		root bool
		want model.Role
	}{
		{[]string{"python", "train.py"}, model.NoRank, true, model.RoleMain},
		{[]string{"python", "train.py"}, 3, false, model.RoleRank},
		{[]string{"python", "/usr/bin/torchrun", "--nproc-per-node", "2", "train.py"}, model.NoRank, true, model.RoleLauncher},
		{[]string{"python3.11", "-m", "torch.distributed.run", "train.py"}, model.NoRank, true, model.RoleLauncher},
		{[]string{"python3.11", "-u", "-m", "pkg.train"}, model.NoRank, true, model.RoleMain},
		{[]string{"bash", "job.sh"}, model.NoRank, true, model.RoleLauncher},
		{[]string{"python", "/x/torch/_inductor/compile_worker/__main__.py"}, 0, false, model.RoleCompile},
		{[]string{"python", "-c", "from multiprocessing.resource_tracker import main;main(4)"}, 0, false, model.RoleOther},
		{[]string{"python", "-c", "torchrun"}, model.NoRank, true, model.RoleMain},
		{nil, model.NoRank, false, model.RoleOther},
	} {
		if got := roleOf(c.args, c.rank, c.root); got != c.want {
			t.Errorf("%v rank %d: %s, want %s", c.args, c.rank, got, c.want)
		}
	}
}
