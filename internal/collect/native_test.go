package collect

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// nativeProgram blocks its main thread in a Python function that the C library's qsort calls, one thread in a lock and
// one in select.
const nativeProgram = `
import ctypes, select, threading, time
def locked(lock):
    lock.acquire()
def selecting():
    select.select([], [], [], 600)
lock = threading.Lock()
lock.acquire()
threading.Thread(target=locked, args=(lock,), daemon=True, name="locked").start()
threading.Thread(target=selecting, daemon=True, name="selecting").start()
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def compare(a, b):
    print("ready", flush=True)
    time.sleep(600)
    return 0
def sort(n):
    if n:
        return sort(n - 1)
    ctypes.CDLL(None).qsort((ctypes.c_int * 4)(3, 1, 2, 0), 4, 4, kind(compare))
sort(3)
`

// TestDumpNative reads the C stacks of blocked threads on every interpreter, and puts them where they belong: the sleep
// above the function that sorts, qsort between it and the one that asked for it.
func TestDumpNative(t *testing.T) {
	for version, python := range pythons(t) {
		t.Run(version, func(t *testing.T) {
			if strings.HasSuffix(version, "-musl") {
				t.Skip("musl has no unwind tables, and the interpreter was built without ctypes")
			}
			p := startProgram(t, python, "-c", nativeProgram)
			if got := p.line(t); got != "ready" {
				t.Fatal(got)
			}
			byName := map[string]DumpedThread{}
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && len(byName) < 3; {
				list, err := Dump(p.cmd.Process.Pid, DumpOptions{Native: NativeWatch})
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range list[0].Threads {
					if d.State == "blocked" || d.State == "idle" {
						byName[d.Name] = d
					}
				}
			}
			main := byName["MainThread"]
			t.Logf("%s", frameList(main))
			if main.Native != "" {
				t.Errorf("main thread: native frames are missing: %s", main.Native)
			}
			if f := main.Frames[0]; !f.Native || !strings.Contains(f.Function, "sleep") && !strings.Contains(f.Function, "select") {
				t.Errorf("innermost is %+v, not the sleep", f)
			}
			at := func(name string) int {
				return slices.IndexFunc(main.Frames, func(f DumpedFrame) bool { return strings.HasPrefix(f.Function, name) })
			}
			if !(at("compare") == 1 && at("compare") < at("qsort") && at("qsort") < at("sort") && at("qsort") > 0) {
				t.Errorf("order: compare %d, qsort %d, sort %d", at("compare"), at("qsort"), at("sort"))
			}
			if f := main.Frames[len(main.Frames)-1]; f.Function != "<module>" {
				t.Errorf("outermost is %+v", f)
			}
			if f := byName["locked"].Frames; len(f) < 2 || !f[0].Native || !cLibrary(f[0].File) {
				t.Errorf("locked: %s", frameList(byName["locked"]))
			}
			if f := byName["selecting"].Frames; len(f) < 2 || !strings.Contains(f[0].Function, "select") {
				t.Errorf("selecting: %s", frameList(byName["selecting"]))
			}
		})
	}
}

func frameList(d DumpedThread) string {
	var b strings.Builder
	for _, f := range d.Frames {
		b.WriteString("\n\t" + f.Function + " " + f.File)
	}
	return b.String()
}
