package collect

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"bottleneck/internal/record"
)

// TestAnyRuns asks about a living process, one that is a zombie, one that wrote its end, one of multiprocessing's helpers, and one
// of another host.
func TestAnyRuns(t *testing.T) {
	living := exec.Command("cat")
	if _, err := living.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := living.Start(); err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("cat")
	out, err := ended.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err == nil { // until its end, which nobody waits for yet
		t.Fatal("cat of nothing printed something")
	}
	defer func() {
		living.Process.Kill()
		living.Wait()
		ended.Wait()
	}()
	for runs(ended.Process.Pid) { // its output is closed a moment before it ends
	}
	for name, c := range map[string]struct {
		host, fields string
		pid          int
		want         bool
	}{
		"living":        {"here", "", living.Process.Pid, true},
		"wrote its end": {"here", `,"exit":{"reason":"exit"}`, living.Process.Pid, false},
		"helper":        {"here", `,"helper":true`, living.Process.Pid, false},
		"elsewhere":     {"there", "", living.Process.Pid, false},
		"zombie":        {"here", "", ended.Process.Pid, false},
	} {
		dir := t.TempDir()
		folder := filepath.Join(dir, record.HostPrefix(c.host)+"1-2")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, record.ProcessName), fmt.Appendf(nil, `{"pid":%d%s}`, c.pid, c.fields),
			0o600); err != nil {
			t.Fatal(err)
		}
		if got := AnyRuns(dir, "here"); got != c.want {
			t.Errorf("%s: AnyRuns = %v, want %v", name, got, c.want)
		}
	}
}
