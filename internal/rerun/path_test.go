package rerun

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestApart has a program that repeats operators start where modules of the standard library's names lie.
func TestApart(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"": "", ".": "", ":/a:b:/c": "/a:/c", here + ":/a": "/a", here + "/x/..": ""} {
		got := Apart([]string{"A=1", "PYTHONPATH=" + value})
		if !slices.Equal(got, []string{"A=1", "PYTHONPATH=" + want}) {
			t.Errorf("PYTHONPATH=%s: %q", value, got)
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on PATH")
	}
	for _, name := range []string{"ast", "json", "os", "re", "threading", "time", "torch", "signal"} {
		if err := os.WriteFile(name+".py", []byte("open('ran', 'w')\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Env = environment(append(os.Environ(), "PYTHONPATH=.:"+here), nil)
	_ = cmd.Run() // without torch, and without a request, it fails
	if _, err := os.Stat(filepath.Join(here, "ran")); err == nil {
		t.Error("a module of the working directory was run")
	}
}
