package cli

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"bottleneck/internal/record"
)

// bigPacked is a packed session that takes a while to read: many plain traces that zstd leaves large.
func bigPacked(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sent.tar.zst")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
	w := tar.NewWriter(z)
	add := func(name, text string) {
		_ = w.WriteHeader(&tar.Header{Name: "s/" + name, Typeflag: tar.TypeReg, Size: int64(len(text))})
		_, _ = io.WriteString(w, text)
	}
	add("manifest.json", `{"schema": "bottleneck.session/1", "job": "j"}`)
	add("h-1-1/process.json", `{"schema": "bottleneck.process/1", "pid": 1, "role": "main"}`)
	for n := range 60 {
		var events strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&events,
				"%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op%d\", \"pid\": 1, \"tid\": 1, \"ts\": %d.%03d, \"dur\": %d}",
				strings.Repeat(",", min(i, 1)), i*7919%1000, i, i*7%1000, i%5)
		}
		add(fmt.Sprintf("h-1-1/trace-%d.json", n), `{"traceEvents": [`+events.String()+`]}`)
	}
	if err := errors.Join(w.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// unpackedIn lists what is in a temporary folder.
func unpackedIn(folder string) []string {
	found, _ := filepath.Glob(filepath.Join(folder, unpackedPrefix+"*"))
	return found
}

// TestInterruptedReportLeavesNothing interrupts reports of a packed session, once it is being unpacked: its files go. What is left of one
// that was killed goes with the next report.
func TestInterruptedReportLeavesNothing(t *testing.T) {
	b, packed := newBench(t), bigPacked(t)
	temporary := t.TempDir()
	b.env = append(b.env, "TMPDIR="+temporary)
	interrupt := func(sig syscall.Signal) *exec.Cmd {
		cmd := b.command("report", packed)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(limit)
		for {
			if files, _ := filepath.Glob(filepath.Join(temporary, unpackedPrefix+"*", "s", "s", "h-1-1", "trace-1*")); len(files) > 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("nothing is being unpacked")
			}
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		return cmd
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // under nohup, which programs inherit
		}
		cmd := interrupt(sig)
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if left := unpackedIn(temporary); len(left) > 0 || status.Signal() != sig {
			t.Errorf("%v: ended by %v with %d, left %v", sig, status.Signal(), status.ExitStatus(), left)
		}
	}
	interrupt(syscall.SIGKILL)
	if left := unpackedIn(temporary); len(left) != 1 {
		t.Fatalf("killed: left %v", left)
	}
	other, err := (&scratch{}).make() // of a process that lives: this one
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(filepath.Dir(other))
	if got := b.run("", "report", packed); got.code != 0 {
		t.Fatalf("report: %+v", got)
	}
	if left := unpackedIn(temporary); len(left) > 0 {
		t.Errorf("the next report left %v", left)
	}
	if _, err := os.Stat(filepath.Dir(other)); err != nil {
		t.Errorf("a directory in use is gone: %v", err)
	}
}

// TestMessagesNameTheArchive gives packed sessions that cannot be used: the message names what the user gave.
func TestMessagesNameTheArchive(t *testing.T) {
	b := newBench(t)
	for _, command := range [][]string{{"what-if", "--remove", "python"}, {"export", "--to", "csv"}, {"report", "--style", "torch"},
		{"report", "--source", "x.py"}} {
		dir := filepath.Join(b.dir, "empty")
		if _, err := record.Create(dir, record.Manifest{Job: "j"}); err != nil {
			t.Fatal(err)
		}
		if got := b.run("", "pack", "-o", "empty.tar.zst", "empty"); got.code != 0 {
			t.Fatalf("pack: %+v", got)
		}
		got := b.run("", append(command, "empty.tar.zst")...)
		if got.code == 0 || strings.Contains(got.stderr, unpackedPrefix) {
			t.Errorf("%v: %+v", command, got)
		}
	}
	got := b.run("", "what-if", "--remove", "python", "empty.tar.zst")
	expect(t, "what-if", got.stderr, "empty.tar.zst: ")
}

// TestReportOfPipes reads traces from process substitutions, pipes and redirections, once.
func TestReportOfPipes(t *testing.T) {
	b := newBench(t)
	path := hostBound(t)
	b.env = append(b.env, "BN="+b.command().Path, "TRACE="+path)
	zip := filepath.Join(b.dir, "t.json.gz")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	appendZipped(t, zip, string(text))
	for _, line := range []string{
		`"$BN" report <(gzip -dc t.json.gz)`, `"$BN" report <(cat t.json.gz)`, `"$BN" report /dev/stdin < "$TRACE"`,
		`cat "$TRACE" | "$BN" report /dev/stdin`, `cat "$TRACE" | "$BN" report -`, `"$BN" report --style torch <(cat "$TRACE")`,
		`"$BN" report --from 1ms <(cat "$TRACE") <(cat "$TRACE")`, `"$BN" export --to csv <(cat t.json.gz)`,
		`"$BN" export --to chrome /dev/stdin < "$TRACE"`, `"$BN" what-if --remove python <(cat t.json.gz)`,
		`mkfifo f; cat "$TRACE" > f & "$BN" what-if --remove python f`,
	} {
		got := b.finish(b.exec("bash", "-c", line))
		if got.code != 0 || len(got.stdout) < 100 {
			t.Errorf("%s: %+v", line, got)
		}
	}
}
