package cli

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// A signal that comes before the program is started ends bottleneck by that signal, as it would have ended the program, and nothing
// of what was prepared stays.
func TestAskedToEndBeforeTheProgramStarts(t *testing.T) {
	early := 0
	for n := range 24 {
		b, cache := newBench(t), t.TempDir()
		b.env = append(b.env, "XDG_CACHE_HOME="+cache)
		b.file("s.py", "print('ran')\n")
		sig := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}[n%3]
		cmd := b.command("run", "-o", os.DevNull, "s.py")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(limit); time.Now().Before(end); {
			if found, _ := filepath.Glob(filepath.Join(cache, "bottleneck/bottleneck-agent-*")); len(found) > 0 {
				break
			}
		}
		_ = cmd.Process.Signal(sig)
		_ = cmd.Wait()
		if got := ended(cmd, "", ""); got.signal != sig {
			if got.code == 0 { // the program was there before the signal, and had ended
				continue
			}
			t.Errorf("ended %+v, want by %v", got, sig)
		}
		left, _ := filepath.Glob(filepath.Join(cache, "bottleneck/*"))
		left = slices.DeleteFunc(left, func(path string) bool { // what Python compiled, where it got that far, is for later runs
			compiled, _ := filepath.Glob(filepath.Join(path, "*.code"))
			return len(compiled) > 0
		})
		if len(left) > 0 {
			t.Errorf("%v left %v", sig, left)
		}
		if _, err := os.Stat(filepath.Join(b.dir, "bottleneck-out")); err != nil {
			early++
		}
	}
	if early == 0 {
		t.Error("no signal came before the program")
	}
}
