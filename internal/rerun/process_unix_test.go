//go:build unix

package rerun

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stand makes an interpreter that does what a shell script says.
func stand(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(file, []byte("#!/bin/sh\nread request\n"+script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return file
}

const ready = `echo '{"ready": true, "torch": "2.15.0+cpu"}'` + "\n"

// gone waits until the process whose number a file holds is gone.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(state), ") Z") {
			return // ended, and nobody here is its parent
		}
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// TestBudgetEnds ends a process that does not, with what it started, and keeps what it said until then.
func TestBudgetEnds(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	python := stand(t, ready+`sleep 600 & echo $! > `+pid+`
echo '{"index": 0, "base_us": 90, "base_mean_us": 95, "fixes": []}'
echo '{"index": 1, "error": "it did not end within the budget", "under_way": true}'
wait`)
	ops := []Op{{Name: "aten::mm", RecordedUs: 100}, {Name: "aten::bmm", RecordedUs: 100}, {Name: "aten::mv", RecordedUs: 100}}
	start := time.Now()
	got, err := Measure(context.Background(), ops, Options{Interpreter: python, Budget: 100 * time.Millisecond})
	if err != nil || len(got) != 3 || time.Since(start) > 30*time.Second {
		t.Fatalf("%+v, %v after %v", got, err, time.Since(start))
	}
	if !got[0].Reproduced || !strings.Contains(got[1].Error, "did not end") || !strings.Contains(got[2].Error, "used up") {
		t.Errorf("%+v", got)
	}
	gone(t, pid)
}

// TestInterrupted ends it when the user does.
func TestInterrupted(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		defer stop()
		for ctx.Err() == nil {
			if text, err := os.ReadFile(pid); err == nil && strings.HasSuffix(string(text), "\n") {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := Measure(ctx, []Op{{Name: "aten::mm", RecordedUs: 1}},
		Options{Interpreter: stand(t, ready+`sleep 600 & echo $! > `+pid+"\nwait"), Budget: time.Hour})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	gone(t, pid)
}

// TestCrash names the operator that ended the process, and does not take it for one that the budget had no time for.
func TestCrash(t *testing.T) {
	python := stand(t, ready+`echo '{"index": 0, "error": "x", "under_way": true}'`+"\nkill -SEGV $$\n")
	got, err := Measure(context.Background(), []Op{{Name: "aten::mm"}, {Name: "aten::mv"}},
		Options{Interpreter: python, Budget: time.Minute})
	if err != nil || len(got) != 2 || !strings.Contains(got[0].Error, "ended the process") ||
		!strings.Contains(got[1].Error, "an operator before it") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAnotherTorch refuses a Python whose PyTorch is not the program's; builds of one version are the same.
func TestAnotherTorch(t *testing.T) {
	python := stand(t, ready+"read more\n")
	for recorded, refused := range map[string]bool{"2.4.1": true, "2.15.0": false, "2.15.0+cu130": false, "": false} {
		_, err := Measure(context.Background(), []Op{{Name: "aten::mm"}},
			Options{Interpreter: python, Budget: 50 * time.Millisecond, Torch: recorded})
		if refused != (err != nil && strings.Contains(err.Error(), "--python")) {
			t.Errorf("recorded with %q: %v", recorded, err)
		}
	}
}

// TestNoTorch says why nothing could be run.
func TestNoTorch(t *testing.T) {
	python := stand(t, "echo \"ModuleNotFoundError: No module named 'torch'\" >&2; exit 1\n")
	_, err := Measure(context.Background(), []Op{{Name: "aten::mm"}}, Options{Interpreter: python, Budget: time.Second})
	if err == nil || !strings.Contains(err.Error(), "No module named") {
		t.Errorf("%v", err)
	}
}

// TestEndsAlone: the process that repeats operators ends when the one that asked is gone, however that ended.
func TestEndsAlone(t *testing.T) {
	python := torchPython(t)
	asked, ask, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	op := recorded("aten::mm", floats("[1500, 1500]"), floats("[1500, 1500]"))
	request, err := json.Marshal(map[string]any{"ops": []Op{op}, "budget_s": 600, "threads": 1, "cores": 1, "memory_bytes": 0,
		"low": 0, "high": 1e9})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Stdin = asked
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	asked.Close()
	if _, err := ask.Write(append(request, '\n')); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it has imported torch
		t.Fatal(err)
	}
	ask.Close()
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !late.Stop() {
		t.Error("it goes on when nobody waits for it")
	}
}

// TestNeighboursEnd: what computes beside an operator does not outlive the script, whatever ends that.
func TestNeighboursEnd(t *testing.T) {
	python := torchPython(t)
	relu := recorded("aten::relu", floats("[64]"))
	relu.Place = &Place{Neighbours: []float64{1}, Before: []Before{{Call: Call{relu.Name, relu.Shapes, relu.Strides, relu.Types,
		relu.Concrete, nil}}}}
	text, err := Script([]Alone{{Op: relu}}, ScriptOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", text, "--seconds", "2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	children := "/proc/" + strconv.Itoa(cmd.Process.Pid) + "/task/" + strconv.Itoa(cmd.Process.Pid) + "/children"
	file := filepath.Join(t.TempDir(), "pid")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		found, err := os.ReadFile(children)
		if err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Skipf("this system does not name children: %v", err)
		}
		pid := strings.TrimSpace(string(found))
		if command, _ := os.ReadFile("/proc/" + pid + "/cmdline"); strings.Contains(string(command), "getppid") {
			if err := os.WriteFile(file, found, 0o600); err != nil {
				t.Fatal(err)
			}
			break
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatal("nothing ran beside it")
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	gone(t, file)
}
