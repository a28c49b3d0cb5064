package collect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Exit statuses of a command that could not be started, as shells give them.
const (
	StatusNotFound      = 127
	StatusNotExecutable = 126
)

// StartError says why a command cannot be started, and the exit status for it.
type StartError struct {
	Status int
	Text   string
	errno  syscall.Errno // the system's reason, where it refused to start what was found
}

func (e *StartError) Error() string { return e.Text }

// TargetKind is the form in which the program was named.
type TargetKind string

// Forms of a target.
const (
	TargetScript  TargetKind = "script"
	TargetModule  TargetKind = "module"
	TargetCommand TargetKind = "command"
)

// Target is the program to run, as named on the command line.
type Target struct {
	Kind   TargetKind
	Python string   // --python; "" for the active environment's
	Name   string   // script, module or command
	Args   []string // its arguments
}

// Command is a target resolved against the machine.
type Command struct {
	Path        string   // executable
	Argv        []string // with argv[0]
	Interpreter string   // of a script or module, "" for a command
}

// Resolve finds the executable of a target, and looks whether Python can run a script. Errors are *StartError.
func (t Target) Resolve() (Command, error) {
	if t.Kind == TargetScript {
		if err := checkScript(t.Name); err != nil {
			return Command{}, err
		}
	}
	return t.Plain()
}

// Meant is the target that somebody means who names a command where a script is expected: an interpreter, torchrun, a script of a shell.
func (t Target) Meant() Target {
	if t.Kind != TargetScript || t.Python != "" {
		return t
	}
	name := t.Name
	switch other, err := otherThanPython(name); {
	case errors.Is(err, fs.ErrNotExist) && filepath.Base(name) == name:
	case other != "":
		name = dotted(name)
	default:
		return t
	}
	if _, err := lookPath(name); err != nil {
		return t
	}
	return Target{Kind: TargetCommand, Name: name, Args: t.Args}
}

// Plain is Resolve without opening a file: what cannot be run is refused by whoever runs it.
func (t Target) Plain() (Command, error) {
	if t.Kind == TargetCommand {
		path, err := lookPath(t.Name)
		if err != nil {
			return Command{}, err
		}
		return Command{Path: path, Argv: append([]string{t.Name}, t.Args...)}, nil
	}
	name, path, err := findPython(t.Python)
	if err != nil {
		return Command{}, err
	}
	argv := []string{name}
	if t.Kind == TargetModule {
		argv = append(argv, "-m")
	}
	argv = append(append(argv, t.Name), t.Args...)
	return Command{Path: path, Argv: argv, Interpreter: path}, nil
}

// ShortName is the target's name for a directory: "train" for train.py, pkg.train or torchrun … train.py.
func (t Target) ShortName() string {
	name := t.Name
	if t.Kind == TargetCommand {
		for _, a := range t.Args {
			if strings.HasSuffix(a, ".py") && !strings.HasPrefix(a, "-") {
				name = a
				break
			}
		}
	}
	name = strings.TrimSuffix(filepath.Base(name), ".py")
	if name == "" || name == "." || name == "/" {
		return "run"
	}
	return name
}

func findPython(wanted string) (name, path string, err error) {
	if wanted != "" {
		path, err = lookPath(wanted)
		return wanted, path, err
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil || errors.Is(err, exec.ErrDot) {
			return name, path, nil
		}
	}
	return "", "", &StartError{Status: StatusNotFound, Text: "no python3 and no python on PATH; name one with --python"}
}

// lookPath is exec.LookPath with a shell's distinction between missing and not executable.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", &StartError{
			Status: StatusNotExecutable, Text: fmt.Sprintf("cannot run %s: not executable (chmod +x, or name the interpreter)", name),
		}
	}
	if info, serr := os.Stat(name); serr == nil && strings.ContainsRune(name, filepath.Separator) {
		if info.IsDir() {
			return "", &StartError{Status: StatusNotExecutable, Text: fmt.Sprintf("cannot run %s: a directory", name)}
		}
		return "", &StartError{
			Status: StatusNotExecutable, Text: fmt.Sprintf("cannot run %s: not executable (chmod +x, or name the interpreter)", name),
		}
	}
	return "", &StartError{Status: StatusNotFound, Text: fmt.Sprintf("cannot run %s: no such command", name)}
}

// checkScript makes sure that name is something that Python can run: Python's own message for the rest (syntax errors
// and the like) is better than ours.
func checkScript(name string) error {
	other, err := otherThanPython(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &StartError{Status: StatusNotFound, Text: fmt.Sprintf("cannot run %s: no such file", name)}
	case err != nil:
		return &StartError{Status: StatusNotExecutable, Text: fmt.Sprintf("cannot read %s: %v", name, errors.Unwrap(err))}
	case other != "":
		return &StartError{
			Status: StatusNotExecutable, Text: fmt.Sprintf("%s is %s, not a Python script; run it as: bottleneck run -- %s …",
				name, other, dotted(name)),
		}
	}
	return nil
}

// otherThanPython names what a file is that Python cannot run, "" for what it may run.
func otherThanPython(name string) (string, error) {
	if name == "-" {
		return "", nil // Python reads the program from standard input
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return "", nil // a directory with __main__.py; a pipe, of which we must not take the first bytes
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 128)
	n, _ := io.ReadFull(f, head)
	return notPython(head[:n]), nil
}

// notPython names what a file's first bytes say it is, "" for what Python may run.
func notPython(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")), bytes.HasPrefix(head, []byte("MZ")), bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")):
		return "a compiled program"
	case bytes.HasPrefix(line, []byte("#!")) && !bytes.Contains(line, []byte("python")) && shellLike(line):
		return "a shell script"
	}
	return ""
}

func shellLike(line []byte) bool {
	for _, shell := range []string{"/sh", "bash", "zsh", "dash", "ksh", "fish", " sh"} {
		if bytes.Contains(line, []byte(shell)) {
			return true
		}
	}
	return false
}

// dotted makes a bare file name one that exec finds in the working directory.
func dotted(name string) string {
	if filepath.Base(name) == name {
		return "./" + name
	}
	return name
}

// startError explains why the system refused to start path.
func startError(path string, err error) *StartError {
	if errors.Is(err, fs.ErrNotExist) {
		return &StartError{
			Status: StatusNotFound, Text: fmt.Sprintf("cannot start %s: it or the interpreter in its first line does not exist", path),
		}
	}
	reason := err
	var errno syscall.Errno
	if errors.As(err, &errno) {
		reason = errno
	}
	return &StartError{Status: StatusNotExecutable, Text: fmt.Sprintf("cannot start %s: %v", path, reason), errno: errno}
}
