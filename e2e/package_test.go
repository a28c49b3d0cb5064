package e2e

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// pack runs scripts/package.py for platforms and gives the paths that it printed.
func pack(t *testing.T, kind string, platforms ...string) []string {
	t.Helper()
	cmd := exec.Command("python3", append([]string{"scripts/package.py", kind}, platforms...)...)
	cmd.Dir = root(t)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, stderr.String())
	}
	return strings.Fields(string(out))
}

func must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// TestWheel installs the wheel into a new virtual environment and runs a program with what is on its PATH then.
func TestWheel(t *testing.T) {
	testkit.Wide(t, true)
	if testing.Short() {
		t.Skip("-short: builds the binary and a virtual environment")
	}
	wheels := pack(t, "wheel", runtime.GOOS+"/"+runtime.GOARCH)
	if len(wheels) != 1 {
		t.Fatalf("wheels: %v", wheels)
	}
	venv := filepath.Join(t.TempDir(), "venv")
	must(t, exec.Command("python3", "-m", "venv", venv))
	must(t, exec.Command(filepath.Join(venv, "bin", "python"), "-m", "pip", "install", "--no-index", "--quiet", wheels[0]))
	shown := must(t, exec.Command(filepath.Join(venv, "bin", "python"), "-m", "pip", "show", "bottleneck-profiler"))
	version := strings.TrimSpace(read(t, filepath.Join(root(t), "VERSION")))
	if !strings.Contains(shown, "Version: "+version) {
		t.Errorf("pip show: %s", shown)
	}
	installed := filepath.Join(venv, "bin", "bottleneck")
	if out := must(t, exec.Command(installed, "--version")); !strings.Contains(out, version) {
		t.Errorf("--version prints %q, want %s", out, version)
	}
	script := filepath.Join(t.TempDir(), "hello.py")
	if err := os.WriteFile(script, []byte("print(sum(range(10)))\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(installed, "run", "--out", filepath.Join(t.TempDir(), "session"), script)
	run.Env = append(os.Environ(), "PATH="+filepath.Join(venv, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := run.Output(); err != nil || string(out) != "45\n" {
		t.Errorf("the installed binary ran hello.py: %q, %v", out, err)
	}
}

// TestArchives looks for the binary, man pages and completions in a .tar.gz and a .zip.
func TestArchives(t *testing.T) {
	testkit.Wide(t, true)
	if testing.Short() {
		t.Skip("-short: builds the binary")
	}
	paths := pack(t, "archive", runtime.GOOS+"/"+runtime.GOARCH, "windows/amd64")
	if len(paths) != 2 {
		t.Fatalf("archives: %v", paths)
	}
	for i, names := range []map[string]int64{tarNames(t, paths[0]), zipNames(t, paths[1])} {
		stem := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(paths[i]), ".zip"), ".tar.gz")
		program := []string{"bottleneck", "bottleneck.exe"}[i]
		if mode := names[stem+"/"+program]; mode&0o111 == 0 {
			t.Errorf("%s: %s has mode %o", paths[i], program, mode)
		}
		for _, name := range []string{"LICENSE", "README.md", "man/bottleneck-run.1", "completions/bottleneck.bash",
			"completions/bottleneck.zsh"} {
			if _, ok := names[stem+"/"+name]; !ok {
				t.Errorf("%s lacks %s", paths[i], name)
			}
		}
	}
}

// tarNames lists the files of a .tar.gz with their modes.
func tarNames(t *testing.T, path string) map[string]int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int64{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names[header.Name] = header.Mode
	}
}

// zipNames lists the files of a .zip with their modes.
func zipNames(t *testing.T, path string) map[string]int64 {
	t.Helper()
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	names := map[string]int64{}
	for _, file := range archive.File {
		names[file.Name] = int64(file.Mode().Perm())
	}
	return names
}
