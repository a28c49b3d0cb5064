package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// shows prints what a program can see of its interpreter and of its surroundings; helper is a module that only the layout has.
const shows = `import os, sys
try:
    import helper
except ImportError:
    helper = None
custom = sys.modules.get("sitecustomize")
print(sys.prefix, sys.base_prefix, sys.executable, sys.path, sys.argv, sys.flags)
print(helper and helper.__file__, custom and getattr(custom, "MARK", None), __name__, __file__, os.getcwd())
print({name: os.environ.get(name) for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PATH", "HOME")})
sum(number * number for number in range(8_000_000))
sys.exit(5)
`

// layout is a way to have a Python: command starts its interpreter, with environ added to the environment.
type layout struct {
	command []string
	environ []string
}

// TestInterpreterLayouts runs a program with each layout plain and under `run`: it must see the same, and the agent must
// be at work in it.
func TestInterpreterLayouts(t *testing.T) {
	for name, build := range map[string]func(*testing.T, string) layout{
		"venv": venvLayout, "copied venv": copiedLayout, "venv behind two links": linkedLayout, "conda": condaLayout,
		"venv with sitecustomize": customLayout, "PYTHONPATH": pathLayout, "uv run": uvLayout,
	} {
		t.Run(name, func(t *testing.T) {
			testkit.Wide(t, name != "venv")
			folder, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			script := filepath.Join(folder, "shows.py")
			write(t, script, shows)
			l := build(t, folder)
			command := append(l.command, script, "--flag", "two words")
			wanted, status := observe(t, folder, l, command)
			if status != 5 || !strings.Contains(wanted, "__main__") {
				t.Fatalf("plain: status %d\n%s", status, wanted)
			}
			session := filepath.Join(folder, "session")
			got, status := observe(t, folder, l,
				append([]string{binary(t), "run", "-o", filepath.Join(folder, "report"), "--out", session, "--"}, command...))
			if status != 5 || got != wanted {
				t.Errorf("status %d; the program saw\n%s\nand without bottleneck\n%s", status, got, wanted)
			}
			text := read(t, filepath.Join(folder, "report"))
			if !strings.Contains(text, "shows.py:10") {
				t.Errorf("no Python line of the program in the report:\n%s", text)
			}
			if later := report(t, session); later != text {
				t.Errorf("report of the session differs from the one at the run's end: %s", firstDifference(text, later))
			}
			checkAgent(t, session, script)
		})
	}
}

// observe runs a command in a layout and gives its output and status.
func observe(t *testing.T, folder string, l layout, command []string) (output string, status int) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), l.environ...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return string(out) + stderr.String(), cmd.ProcessState.ExitCode()
}

// checkAgent asks that the agent wrote down a process that ran the script.
func checkAgent(t *testing.T, session, script string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(session, "*", "process.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		var process struct{ Argv []string }
		if err := json.Unmarshal([]byte(read(t, path)), &process); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if slices.Contains(process.Argv, script) {
			return
		}
	}
	t.Errorf("the agent was not loaded: %d processes in the session, none with %s", len(paths), script)
}

// basePython is the path of the interpreter behind python3, without links, and its version as in "3.13".
func basePython(t *testing.T) (path, version string) {
	t.Helper()
	const ask = "import os, sys; print(os.path.realpath(sys._base_executable or sys.executable), '%d.%d' % sys.version_info[:2])"
	out, err := exec.Command("python3", "-c", ask).Output()
	if err != nil {
		t.Skipf("no python3 of 3.8 or later: %v", err)
	}
	fields := strings.Fields(string(out))
	return fields[0], fields[1]
}

// makeVenv makes folder/env, without pip, with a module and, if wanted, a sitecustomize in its site-packages.
func makeVenv(t *testing.T, folder, kind, custom string) layout {
	t.Helper()
	base, version := basePython(t)
	env := filepath.Join(folder, "env")
	must(t, exec.Command(base, "-m", "venv", "--without-pip", kind, env))
	packages := filepath.Join(env, "lib", "python"+version, "site-packages")
	write(t, filepath.Join(packages, "helper.py"), "")
	if custom != "" {
		write(t, filepath.Join(packages, "sitecustomize.py"), custom)
	}
	path := filepath.Join(env, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	return layout{command: []string{filepath.Join(env, "bin", "python")}, environ: []string{"VIRTUAL_ENV=" + env, "PATH=" + path}}
}

func venvLayout(t *testing.T, folder string) layout {
	l := makeVenv(t, folder, "--symlinks", "")
	write(t, filepath.Join(folder, "start.sh"), "exec python \"$@\"\n") // found as an activated environment's is
	l.command = []string{"sh", "start.sh"}
	return l
}

func copiedLayout(t *testing.T, folder string) layout { return makeVenv(t, folder, "--copies", "") }

func customLayout(t *testing.T, folder string) layout {
	return makeVenv(t, folder, "--symlinks", "MARK = 'the environment has its own'\n")
}

// linkedLayout starts a virtual environment by a link to its folder, as deployments that switch versions do.
func linkedLayout(t *testing.T, folder string) layout {
	l := makeVenv(t, folder, "--symlinks", "")
	link(t, filepath.Join(folder, "env"), filepath.Join(folder, "release"))
	link(t, filepath.Join(folder, "release"), filepath.Join(folder, "current"))
	l.command = []string{filepath.Join(folder, "current", "bin", "python3")}
	return l
}

// pathLayout has modules of the user's own on PYTHONPATH, by a relative entry, an absolute and an empty one.
func pathLayout(t *testing.T, folder string) layout {
	base, _ := basePython(t)
	write(t, filepath.Join(folder, "mine", "helper.py"), "")
	write(t, filepath.Join(folder, "other", "sitecustomize.py"), "MARK = 'the user has one'\n")
	return layout{command: []string{base}, environ: []string{"PYTHONPATH=mine::" + filepath.Join(folder, "other")}}
}

// condaLayout is a prefix with an interpreter and a library of its own, no pyvenv.cfg, found by CONDA_PREFIX and PATH: what conda
// makes. The library's files are links.
func condaLayout(t *testing.T, folder string) layout {
	base, version := basePython(t)
	prefix := filepath.Join(folder, "miniconda", "envs", "work")
	library := filepath.Join(prefix, "lib", "python"+version)
	write(t, filepath.Join(library, "site-packages", "helper.py"), "")
	write(t, filepath.Join(prefix, "conda-meta", "history"), "")
	stdlib := strings.TrimSpace(must(t, exec.Command(base, "-c", "import os; print(os.path.dirname(os.__file__))")))
	linkAll(t, stdlib, library)
	linkAll(t, filepath.Dir(stdlib), filepath.Join(prefix, "lib"))
	program, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(prefix, "bin", "python"+version)
	write(t, python, string(program))
	if err := os.Chmod(python, 0o700); err != nil {
		t.Fatal(err)
	}
	link(t, "python"+version, filepath.Join(prefix, "bin", "python"))
	path := filepath.Join(prefix, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	return layout{command: []string{filepath.Join(prefix, "bin", "python")},
		environ: []string{"CONDA_PREFIX=" + prefix, "CONDA_DEFAULT_ENV=work", "PATH=" + path}}
}

// uvLayout starts the script by `uv run`, which makes a process of its own between.
func uvLayout(t *testing.T, folder string) layout {
	uv := environment(t, "uv")
	base, _ := basePython(t)
	return layout{command: []string{uv, "run", "--quiet", "--offline", "--no-project", "--python", base},
		environ: []string{"UV_CACHE_DIR=" + filepath.Join(folder, "uv-cache"), "HOME=" + folder}}
}

// linkAll makes links in to for everything in from that to does not have yet.
func linkAll(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		target := filepath.Join(to, entry.Name())
		if _, err := os.Lstat(target); err != nil {
			link(t, filepath.Join(from, entry.Name()), target)
		}
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

// write makes a file that does not exist yet, and the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
