package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Modules in the working directory are somebody's files: doctor asks Python what it is and runs none of them, whatever PYTHONPATH says.
func TestDoctorRunsNoModuleOfTheWorkingDirectory(t *testing.T) {
	home, _ := os.UserHomeDir()
	interpreters, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	for _, interpreter := range append(interpreters, python) {
		for _, path := range []string{"unset", "", ".", ":/nowhere", "HERE", "sub/.."} {
			b := newBench(t)
			for _, name := range []string{"math", "sys", "os", "importlib", "zipfile", "email", "re", "csv", "json", "site",
				"sitecustomize", "usercustomize", "torch"} {
				b.file(name+".py", "open('ran', 'w')\nraise SystemExit(9)\n")
			}
			b.file("sub/x", "")
			b.env = append(b.env, "PATH="+filepath.Dir(interpreter)+":"+os.Getenv("PATH"))
			if path != "unset" {
				b.env = append(b.env, "PYTHONPATH="+strings.ReplaceAll(path, "HERE", b.dir))
			}
			got := b.run("", "doctor")
			if got.code != 0 || !strings.Contains(got.stdout, "python3 3.") {
				t.Errorf("%s, PYTHONPATH %s: %+v", interpreter, path, got)
			}
			b.mustNotExist(filepath.Join(b.dir, "ran"))
		}
	}
}
