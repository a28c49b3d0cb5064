package collect

import (
	"strings"
	"testing"
	"time"
)

// computing has a thread that computes in Python beside one that sleeps.
const computing = `
import threading, time
def sleeping():
    time.sleep(1000)
threading.Thread(target=sleeping, daemon=True).start()
def heavy():
    print("ready", flush=True)
    while True:
        sum([1, 2, 3])
heavy()
`

// TestDumpWithoutGIL: of an interpreter without its lock it is said that it has none, and which threads run Python all the
// same; with the lock switched on it is as any other.
func TestDumpWithoutGIL(t *testing.T) {
	tried := false
	for version, python := range pythons(t) {
		if !strings.HasSuffix(version, "t") {
			continue
		}
		tried = true
		for _, gil := range []string{"0", "1"} {
			t.Run(version+"/PYTHON_GIL="+gil, func(t *testing.T) {
				t.Setenv("PYTHON_GIL", gil)
				p := startProgram(t, python, "-c", computing)
				p.line(t)
				checkAttached(t, p.cmd.Process.Pid, gil == "0")
			})
		}
	}
	if !tried {
		t.Skip("no free-threaded CPython on this machine: scripts/env.sh python-3.13t builds one")
	}
}

// checkAttached dumps until the main thread was seen to run Python, by what such an interpreter tells.
func checkAttached(t *testing.T, pid int, noGIL bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		list, err := Dump(pid, DumpOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d := list[len(list)-1]
		if d.NoGIL != noGIL {
			t.Fatalf("without a GIL: %v", d.NoGIL)
		}
		seen := false
		for i, th := range d.Threads {
			if th.HoldsGIL && noGIL || th.Attached && !noGIL {
				t.Fatalf("%+v", th)
			}
			if i == 0 {
				seen = th.Attached || th.HoldsGIL
			}
		}
		if seen && len(d.Threads) == 2 {
			return
		}
	}
	t.Error("the thread that computes was never seen to run Python")
}
