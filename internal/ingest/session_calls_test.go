package ingest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"bottleneck/internal/record"
)

// TestCallsOfASession adds a counted process and a damaged count to a session that has none.
func TestCallsOfASession(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "fib.prof")
	if out, err := exec.Command(pythons(t)[0], "-c", fibProgram, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.Create(dir, record.Manifest{Job: "j", Command: []string{"python", "a.py"}}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"host-1-1000": whole, "host-2-2000": whole[:len(whole)/2], "host-3-3000": nil} {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		process := `{"schema":"bottleneck.process/1","pid":1,"host":"host","role":"main","python":"3.13.0"}`
		if err := os.WriteFile(filepath.Join(folder, record.ProcessName), []byte(process), 0o600); err != nil {
			t.Fatal(err)
		}
		if text != nil {
			if err := os.WriteFile(filepath.Join(folder, record.CallsName), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := Open(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Calls) == 0 || len(s.Calls[0].Functions) == 0 || s.Calls[0].Process < 0 || s.Inputs[s.Calls[0].Input].Format != "pstats" {
		t.Fatalf("calls %+v", s.Calls)
	}
	damaged := 0
	for _, in := range s.Inputs {
		for _, d := range in.Diagnostics {
			if d.Kind == "calls" {
				damaged++
			}
		}
	}
	if damaged != 1 {
		t.Errorf("%d files of calls are said to be damaged", damaged)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}
