package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"bottleneck/internal/record"
)

// fuzzedFiles are the files of a small session; .gz are compressed when they are written.
var fuzzedFiles = []struct{ name, text string }{
	{"manifest.json",
		`{"schema": "bottleneck.session/1", "job": "j", "created_unix_ns": 1, "command": ["python3", "x.py"], "host": "far"}`},
	{"measured.json", `{"schema": "bottleneck.measured/1", "tolerance": 1.5, "prices": [{"fix": "threads=2", "saved_ms": 1}], "ops": [{"op": "aten::mm", "fixes": []}]}`},
	{"launcher-far-1-1/launcher.json", `{"schema": "bottleneck.launcher/1", "host": "far", "child_pid": 500, "start_unix_ns": 1000, "exit": {"unix_ns": 9000000, "code": 0}, "machine_before": {"cpus": 4, "gpus": [{"index": 0, "name": "g"}]}, "machine_after": {"cpus": 4}}`},
	{"far-500-1/process.json", `{"schema": "bottleneck.process/1", "host": "far", "role": "main", "pid": 500, "argv": ["python3", "x.py"], "python": "3.12.0", "main_thread": 500, "start_unix_ns": 1000, "torch": {"version": "2.15.0", "num_threads": 8}}`},
	{"far-500-1/events.jsonl.gz", "[\"clock\",1000,5000]\n[\"loader\",0,{\"workers\":2,\"batch_size\":4,\"file\":\"/x.py\",\"line\":3}]\n[\"step\",0,\"train\",\"optimizer\",1000,2000,\"baseline\",4,500]\n[\"wait\",1000,1100,500,0,0]\n[\"fetch\",1000,1050,501,0,0,4]\n" +
		"[\"step\",1,\"train\",\"optimizer\",2000,3000,\"trace\",4,500]\n[\"window\",0,\"trace\",1900,3000,3100,1,2,3,\"trace-0.json\",null]\n" +
		"[\"span\",\"compile\",1200,1300,500,\"f [0/0]\",\"/x.py\",3,\"reason\",2]\n[\"stack\",0,[[\"f\",\"/x.py\",1,2]]]\n" +
		"[\"sample\",1500,500,0]\n"},
	{"far-500-1/trace-0.json.gz", `{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "g", "numSms": 8}], "traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 500, "tid": 500, "ts": 6, "dur": 1}, {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 500, "tid": 500, "ts": 6.1, "dur": 0.5, "args": {"External id": 1, "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}}, {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 6.2, "dur": 0.4, "args": {"device": 0, "stream": 7, "correlation": 3, "External id": 1}}]}`},
	{"far-500-1/modules-0.json.gz",
		`{"schema": "bottleneck.modules/1", "start_unix_ns": 6000, "names": [["Net.fc", "Linear"]], "threads": {"500": [0, 50, 600]}}`},
	{"far-500-1/memory-0-cpu.json.gz", `[[1, 1, 64, 0], [2, 2, 64, 0]]`},
	{"far-500-1/calls-actions.json.gz", `{"schema": "bottleneck.calls-actions/1", "functions": [["/x.py", 1, "f"]], "actions": [{"name": "step", "measured": 1, "functions": [[0, 1, 1, 1, 1]]}]}`},
	{"far-500-1/calls.prof", "{0"},
	{"launcher-far-1-1/samples.pb.zst", ""},
	{"source/index.json", `{"/x.py": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`},
	{"source/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "def f():\n    return 1\n"},
}

// fuzzedText is a file's text with a part replaced.
func fuzzedText(text string, at, length uint16, with []byte) []byte {
	from := min(int(at), len(text))
	to := min(from+int(length), len(text))
	return append(append([]byte(text[:from]), with...), text[to:]...)
}

// FuzzSession reports, exports, packs and asks about a session two of whose files are damaged: no panic, no failed table, a known status,
// within seconds.
func FuzzSession(f *testing.F) {
	for i := range fuzzedFiles {
		f.Add(uint8(i), uint16(0), uint16(0), []byte{}, uint8(i+1), uint16(30), uint16(5), []byte("-9e999"), false)
		f.Add(uint8(i), uint16(0), uint16(65535), []byte("\x00"), uint8(0), uint16(0), uint16(0), []byte{}, true)
	}
	f.Fuzz(func(t *testing.T, one uint8, at1, length1 uint16, with1 []byte, other uint8, at2, length2 uint16, with2 []byte, raw bool) {
		dir := filepath.Join(t.TempDir(), "s")
		for i, file := range fuzzedFiles {
			text := []byte(file.text)
			if i == int(one)%len(fuzzedFiles) {
				text = fuzzedText(string(text), at1, length1, with1)
			}
			if i == int(other)%len(fuzzedFiles) {
				text = fuzzedText(string(text), at2, length2, with2)
			}
			writeFuzzed(t, filepath.Join(dir, file.name), text, raw)
		}
		for _, args := range [][]string{{"report", "--all"}, {"report", "--style", "torch"}, {"report", "--style", "classic"},
			{"export", "--to", "chrome"}, {"what-if", "--scale", "matmul=0.5"}} {
			tellFuzzed(t, append(args, dir))
		}
		packed := filepath.Join(filepath.Dir(dir), "p"+record.PackSuffix)
		tellFuzzed(t, []string{"pack", "--redact", "-o", packed, dir})
		if _, err := os.Stat(packed); err == nil {
			tellFuzzed(t, []string{"report", packed})
		}
	})
}

// writeFuzzed writes one file; raw leaves the compression away.
func writeFuzzed(t *testing.T, path string, text []byte, raw bool) {
	t.Helper()
	if strings.HasSuffix(path, ".gz") && !raw {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
		text = b.Bytes()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// tellFuzzed runs one command.
func tellFuzzed(t *testing.T, args []string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	began := time.Now()
	code := Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	if code != 0 && code != exitUsage && code != exitUnusable || strings.Contains(stdout.String()+stderr.String(), "internal error") ||
		time.Since(began) > 30*time.Second {
		t.Fatalf("%q: status %d\n%s%s", args, code, stdout.String(), stderr.String())
	}
}
