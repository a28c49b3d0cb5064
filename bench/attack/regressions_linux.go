package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
)

// regression is something that did not hold once.
type regression struct {
	what string
	run  func(*try)
}

// regressions are all of them, in the order of their finding.
var regressions = []regression{
	{"--native=stop waits for the program's own end", func(t *try) {
		t.program([]string{"--native=stop"}, "import time; time.sleep(1); print('ran'); raise SystemExit(7)")
	}},
	{"code that somebody has put into the session's folder is not run", plantedAgent},
	{"a link to somebody's folder stands for the agent", plantedAgentLink},
	{"--out in a folder that others may write", othersFolder},
	{"redaction of what a program says of itself", attackSecrets},
	{"one rule for secrets", secretsInSession},
	{"what-if about an operator of 0 µs and a kernel", zeroDuration},
	{"what-if about a kernel alone", func(t *try) {
		t.everyCommand(t.file("in/k.json", `{"traceEvents": [{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":0,"args":{"device":0,"stream":7,"correlation":1}}]}`))
	}},
	{"a program's coverage does not count the agent", coverage},
	{"20 million step lines", func(t *try) { t.bombOf("20 million step lines in a session") }},
	{"samples in /dev/zero", func(t *try) { t.bombOf("samples in /dev/zero") }},
	{"a zstd bomb of 10 GB", func(t *try) { t.bombOf("a zstd bomb of 10 GB") }},
	{"a zip of 4,000 members", func(t *try) { t.bombOf("a zip of 4,000 members") }},
	{"a zip of 30,000 members", func(t *try) { t.bombOf("a zip of 30,000 members") }},
	{"a pipe in a session", func(t *try) {
		t.inSession("manifest.json", func(path string) error { return syscall.Mkfifo(path, 0o644) })
	}},
	{"a pipe for the events", func(t *try) {
		t.inSession("events.jsonl.gz", func(path string) error { return syscall.Mkfifo(path, 0o644) })
	}},
	{"a link in source/ to a file outside", linkedSource},
	{"a link for the manifest to a file outside", func(t *try) {
		t.inSession("manifest.json", func(path string) error { return os.Symlink(t.path("outside/secret.py"), path) })
	}},
	{"an interrupted report of an archive leaves nothing", interruptedArchive},
	{"doctor runs nothing of the working directory", doctorModules},
	{"process substitution and /dev/stdin", substitution},
	{"names that steer a terminal", steeringNames},
	{"a file's name that steers a terminal", func(t *try) {
		t.bottleneck(text("report", "no\x1b[31m\u202efile"))
		t.bottleneck(text("export", "--to", "csv", "no\x1b[31mfile"))
		t.bottleneck(text("pack", "no\x1b[31mfile"))
		t.bottleneck(text("what-if", "--remove", "sync", "no\x1b[31mfile"))
	}},
	{"formulas in a table for a spreadsheet", formulas},
	{"tight limits of memory", func(t *try) { t.tight("v", 40_000, 100_000, 300_000, 500_000, 700_000, 900_000, 1_100_000, 1_400_000) }},
	{"tight limits of descriptors", func(t *try) { t.tight("n", 5, 6, 7, 8, 9, 12) }},
	// Of four and five processes it is chance whether the Go runtime starts (docs/faults.md).
	{"few processes", func(t *try) { t.tight("u", 1, 3, 9, 20) }},
	{"a disk that fills in mid-run", diskFills},
	{"sys.settrace beside --calls", func(t *try) { t.hardProgram("is its own tracer", "--calls") }},
	{"output to a full device", fullDevice},
	{"messages about a packed session name the archive", packedMessages},
	{"-X importtime", func(t *try) {
		t.compareImports("-X", "importtime", t.file("in/p.py", "print('ran')\n"))
	}},
	{"a list of the import finders", func(t *try) { t.hardProgram("lists its imports") }},
	{"4 million steps, each at its own time", func(t *try) { t.bombOf("4 million steps in a session, each at its own time") }},
	{"redaction of 10 million rows of processes", func(t *try) {
		t.bombOf("processes that come and go, 10 million rows", "pack", "--redact", "-o", t.out())
	}},
	{"samples that are a hole of 4 GB", func(t *try) {
		t.launcher(nil)
		t.must(os.Truncate(t.path("in/session/launcher-h-1-1/samples.pb.zst"), 4<<30))
		t.bottleneck(text("report", t.path("in/session")))
		t.bottleneck(data("pack", "--redact", "-o", t.out(), t.path("in/session")))
	}},
	{"14,000 Python calls within each other", deepCalls},
	{"a tar of 30,000 members", func(t *try) { t.bombOf("a tar of 30,000 members") }},
	{"operators that share one correlation", func(t *try) { t.bombOf("operators that share one correlation") }},
}

func runRegression(t *try) {
	if t.number >= len(regressions) {
		t.skip("there are %d", len(regressions))
		return
	}
	t.say("%s", regressions[t.number].what)
	regressions[t.number].run(t)
}

// needsPython leaves a case out where there is none.
func (t *try) needsPython() bool {
	if t.python == "" || len(t.sessions) == 0 {
		t.skip("no Python")
	}
	return t.skipped == ""
}

// program compares a program given as code.
func (t *try) program(options []string, code string) {
	if t.needsPython() {
		t.compareProgram(options, []string{t.python, "-c", code})
	}
}

func (t *try) hardProgram(name string, options ...string) {
	if !t.needsPython() {
		return
	}
	for _, p := range hard {
		if p.name == name {
			t.compareProgram(options, []string{t.python, t.file("in/p.py", p.text)})
		}
	}
}

// bombOf asks for the report of a bomb, or what else the command says.
func (t *try) bombOf(what string, command ...string) {
	if len(command) == 0 {
		command = []string{"report"}
	}
	for _, b := range bombs {
		if b.what == what {
			path := b.make(t)
			t.unpacked = b.unpacked
			t.bottleneck(text(append(command, path)...))
		}
	}
}

// everyCommand asks everything about a file.
func (t *try) everyCommand(path string) {
	for _, a := range t.asks(path) {
		t.bottleneck(a)
	}
	for _, cause := range []string{"sync", "input", "python", "launch", "idle"} {
		t.bottleneck(text("what-if", "--remove", cause, path))
	}
}

// inSession puts something in the place of a file of each session and asks for reports and archives.
func (t *try) inSession(name string, make func(path string) error) {
	if !t.needsPython() {
		return
	}
	dir := t.path("in/session")
	t.must(copyTree(t.sessions[len(t.sessions)-1], dir))
	for _, rel := range filesOf(dir) {
		if filepath.Base(rel) == name {
			t.must(os.Remove(filepath.Join(dir, rel)))
			t.must(make(filepath.Join(dir, rel)))
		}
	}
	t.drive(2, dir)
	for _, redact := range []bool{false, true} {
		if archive := t.pack(dir, redact); archive != "" {
			stored, err := os.ReadFile(archive)
			t.must(err)
			if bytes.Contains(plain(stored, 1<<28), []byte(canary)) {
				t.bad("foreign file", "pack", "a file outside of the session is in the archive")
			}
		}
	}
}

func linkedSource(t *try) {
	if !t.needsPython() {
		return
	}
	dir := t.path("in/session")
	t.must(copyTree(t.sessions[0], dir))
	entries, err := os.ReadDir(filepath.Join(dir, "source"))
	if err != nil || len(entries) == 0 {
		t.skip("the session has no sources")
		return
	}
	for _, e := range entries {
		if path := filepath.Join(dir, "source", e.Name()); e.Name() != "index.json" {
			t.must(os.Remove(path))
			t.must(os.Symlink(t.path("outside/secret.py"), path))
		}
	}
	t.bottleneck(text("report", "--all", dir))
	t.bottleneck(ask{args: []string{"report", "--json", "-", dir}, json: true})
	t.bottleneck(text("report", "--source", "programfalse.py", dir))
}

func zeroDuration(t *try) {
	t.everyCommand(t.file("in/zero.json",
		`{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":0,"args":{"External id":1}},
		{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":0,"args":{"External id":1,"correlation":1}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5,"args":{"External id":1,"device":0,"stream":7,"correlation":1}}]}`))
	t.everyCommand(t.file("in/zero2.json", `{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":5,"dur":0},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":5,"args":{"device":0,"stream":7}}]}`))
}

// deepCalls asks for everything about calls whose stacks together are longer than memory.
func deepCalls(t *try) {
	const deep = 14_000
	path := t.streamed("in/deep.json", func(w io.Writer) {
		_, _ = io.WriteString(w, `{"traceEvents": [`)
		for i := range deep {
			fmt.Fprintf(w, `{"ph":"X","cat":"python_function","name":"a.py(%d): f","pid":1,"tid":1,"ts":%d,"dur":%d},`+"\n",
				i, i, 3*deep-2*i)
		}
		_, _ = io.WriteString(w, goodEvent+"]}")
	})
	t.everyCommand(path)
}

func steeringNames(t *try) {
	trace :=
		strings.ReplaceAll(
			`{"deviceProperties": [{"name": "GNAME"}], "NAME": "NAME", "traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::NAME","pid":1,"tid":1,"ts":5,"dur":10,"args":{"Call stack":"a.py(1): NAME","Input type":["NAME"]}},
		{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1 NAME","pid":1,"tid":1,"ts":5,"dur":10},
		{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"NAME"}}, {"ph":"X","cat":"NAME","name":"NAME","pid":"NAME","tid":"NAME","ts":5,"dur":1},
		{"ph":"X","cat":"kernel","name":"NAME","pid":0,"tid":7,"ts":5,"dur":5,"args":{"device":0,"stream":7,"NAME":"NAME"}}]}`, "NAME",
			`x\u001b[31m\u202ey\u009b\r\u0007`)
	t.everyCommand(t.file("in/steer\x1b[31m.json", trace))
}

func formulas(t *try) {
	path := t.file("in/f.json",
		`{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"=cmd|' /C calc'!A0","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"X","cat":"cpu_op","name":"+1","pid":1,"tid":1,"ts":5,"dur":2},
		{"ph":"X","cat":"cpu_op","name":"@SUM(1)","pid":1,"tid":1,"ts":9,"dur":2},{"ph":"X","cat":"cpu_op","name":"-1+1","pid":1,"tid":1,"ts":15,"dur":2},{"ph":"X","cat":"cpu_op","name":"\t=1","pid":1,"tid":1,"ts":25,"dur":2}]}`)
	a := data("export", "--to", "csv", path)
	for line := range strings.Lines(string(t.bottleneck(a).stdout)) {
		if cell := strings.Trim(strings.SplitN(line, ",", 2)[0], "\""); cell != "" && strings.ContainsAny(cell[:1], "=+@-\t\r") {
			t.bad("formula", t.commandLine(a.args), "%s", line)
		}
	}
}

func interruptedArchive(t *try) {
	if !t.needsPython() {
		return
	}
	path := t.largeArchive()
	t.unpacked = 1 << 40
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for _, wait := range []time.Duration{60, 150, 400} {
			t.signalled([]string{t.binary, "report", path}, s, wait*time.Millisecond, false)
			t.commands++
		}
	}
}

// largeArchive is a packed session with a trace that takes a while to unpack.
func (t *try) largeArchive() string {
	trace := member{name: "s/h-1-1/trace-0.json", text: bytes.Repeat([]byte(`{"ph": "X"},`), 1<<10), times: 20 << 10}
	return t.streamed("in/packed.tar.zst", func(w io.Writer) {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		t.must(err)
		writeTar(z, append(t.members(t.sessions[0]), trace)...)
		t.must(z.Close())
	})
}

func packedMessages(t *try) {
	if !t.needsPython() {
		return
	}
	members := t.members(t.sessions[0])
	for i := range members {
		if strings.HasSuffix(members[i].name, ".gz") || strings.HasSuffix(members[i].name, "process.json") {
			members[i].text = members[i].text[:len(members[i].text)/2]
		}
	}
	path := t.file("in/packed.tar.zst", string(zstded(tarred(members...))))
	for _, a := range []ask{text("report", path), text("report", "--source", "nothing.py", path),
		text("what-if", "--remove", "sync", path)} {
		e := t.bottleneck(a)
		if said := string(e.stdout) + string(e.stderr); strings.Contains(said, t.path("tmp")) {
			t.bad("temporary name", t.commandLine(a.args), "a message names the folder for temporary files")
		}
	}
}

func fullDevice(t *try) {
	if !t.needsPython() {
		return
	}
	for _, a := range []ask{data("report", "-o", "/dev/full", t.sessions[0]), data("report", "--json", "/dev/full", t.sessions[0]),
		data("export", "--to", "folded", "-o", "/dev/full", t.sessions[0])} {
		if e := t.bottleneck(a); e.code != 3 {
			t.bad("status", t.commandLine(a.args), "%d onto a full device, want 3: %s", e.code, head(e.stderr, 2))
		}
	}
	for _, args := range []string{"report S", "report --style torch S", "export --to folded S", "what-if --remove python S"} {
		command := "exec '" + t.binary + "' " + strings.ReplaceAll(args, "S", t.sessions[len(t.sessions)-1]) + " >/dev/full"
		if e := t.plain([]string{"/bin/sh", "-c", command}); e.code != 3 {
			t.bad("status", command, "%d onto a full device, want 3: %s", e.code, head(e.stderr, 2))
		}
		t.commands++
	}
}
