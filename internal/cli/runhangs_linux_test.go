package cli

import (
	"strings"
	"syscall"
	"testing"
)

// Programs that have done their work and do not end: interrupted or asked to end, they are reported like any other.
func TestRunHangsAtExit(t *testing.T) {
	hangs := map[string]string{
		"a thread that never ends": `import os, threading
def endless():
    threading.main_thread().join()
    switches, same = None, 0
    while same < 20:  # until the main thread waits for this one: a signal just before that would be missed
        now = [line for line in open("/proc/self/task/%d/status" % os.getpid()) if "ctxt_switches" in line]
        switches, same = now, same + 1 if now == switches else 0
        threading.Event().wait(0.01)
    os.write(1, b"hanging\n")
    threading.Event().wait()
threading.Thread(target=endless).start()
`,
		"an atexit that blocks": `import atexit, os, threading
def block():
    os.write(1, b"hanging\n")
    while True:
        threading.Event().wait(0.5)
atexit.register(block)
`,
	}
	for name, hang := range hangs {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.file("s.py", hang+"total = sum(i * i for i in range(1_000_000))\n")
				cmd, _, stdout, stderr := b.startPiped("run", "--json", "report.json", "s.py")
				awaitLine(t, stdout, "hanging")
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				awaitLine(t, stderr, "bottleneck report ")
				_ = cmd.Wait()
				got := ended(cmd, "", "")
				if sig == syscall.SIGTERM && got.signal != sig || sig == syscall.SIGINT && got.code != 0 {
					t.Errorf("ended by %v, status %d", got.signal, got.code)
				}
				if text := b.read("report.json"); !strings.Contains(text, `"bottleneck.report/1"`) {
					t.Errorf("report: %.200s", text)
				}
				if l := b.launcher(); l.Exit == nil {
					t.Error("the launcher does not know how the program ended")
				}
			})
		}
	}
}
