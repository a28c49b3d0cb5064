package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// watched is a Python program that is sampled. It says "ready" when its work begins.
type watched struct {
	cmd *exec.Cmd
	out *bufio.Reader
	// rest is what stood behind "ready".
	rest string
}

// start runs a program, pinned to a core unless core is -1, in a process group of its own.
func start(core int, python string, args ...string) (*watched, error) {
	return startWith(nil, core, python, args...)
}

func startWith(stdin io.Reader, core int, python string, args ...string) (*watched, error) {
	all := append([]string{python}, args...)
	if core >= 0 {
		all = append([]string{"taskset", "-c", fmt.Sprint(core)}, all...)
	}
	cmd := exec.Command(all[0], all[1:]...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr, cmd.Stdin = os.Stderr, stdin
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", python, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", python, err)
	}
	w := &watched{cmd: cmd, out: bufio.NewReader(pipe)}
	if w.rest, err = w.line("ready"); err != nil {
		w.stop()
		return nil, err
	}
	return w, nil
}

// line waits for the line that begins with a word and returns what stands behind it.
func (w *watched) line(word string) (string, error) {
	for {
		text, err := w.out.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("%v ended without its line %q", w.cmd.Args, word)
		}
		if first, rest, _ := strings.Cut(strings.TrimSpace(text), " "); first == word {
			return rest, nil
		}
	}
}

func (w *watched) pid() int { return w.cmd.Process.Pid }

// stop ends the program and its children.
func (w *watched) stop() {
	_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL)
	_ = w.cmd.Wait()
}

// used runs a command to its end and returns its CPU time.
func used(core int, args ...string) (time.Duration, string, error) {
	cmd, text := command(core, args...)
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return 0, "", fmt.Errorf("run %s: %w", args[0], err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), text.String(), nil
}

func command(core int, args ...string) (*exec.Cmd, *strings.Builder) {
	if core >= 0 {
		args = append([]string{"taskset", "-c", fmt.Sprint(core)}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	text := &strings.Builder{}
	cmd.Stderr = text
	return cmd, text
}
