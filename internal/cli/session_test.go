package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/record"
)

// busyProgram computes for a while, so that samples exist.
const busyProgram = `import sys, time
def work(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
end = time.monotonic() + 1.0
while time.monotonic() < end:
    work(20000)
print("done")
`

// What `report` prints of a session is what `run` printed at its end, also of the packed session elsewhere.
func TestReportEqualsTheReportOfTheRun(t *testing.T) {
	b := newBench(t)
	b.file("s.py", busyProgram)
	if got := b.run("", "run", "-o", "end.txt", "--json", "end.json", "s.py"); got.code != 0 || got.stderr != "" {
		t.Fatalf("run: %+v", got)
	}
	dir, err := filepath.Rel(b.dir, b.session())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(b.dir, "s.py")); err != nil { // the texts come from the session
		t.Fatal(err)
	}
	if got := b.run("", "report", "-o", "again.txt", "--json", "again.json", dir); got.code != 0 {
		t.Fatalf("report: %+v", got)
	}
	for _, ext := range []string{".txt", ".json"} {
		if first, again := b.read("end"+ext), b.read("again"+ext); first != again {
			t.Errorf("%s differs:\n--- at the end\n%s\n--- again\n%s", ext, first, again)
		}
	}
	if got := b.run("", "pack", "-o", "packed.tar.zst", dir); got.code != 0 {
		t.Fatalf("pack: %+v", got)
	}
	if got := b.run("", "report", "--json", "packed.json", "-o", "packed.txt", "packed.tar.zst"); got.code != 0 {
		t.Fatalf("report of the packed session: %+v", got)
	}
	if first, packed := withoutNext(t, b.read("end.json")), withoutNext(t, b.read("packed.json")); first != packed {
		t.Errorf("packed differs:\n--- at the end\n%s\n--- packed\n%s", first, packed)
	}
}

// A directory of sessions, such as bottleneck-out, is not one report with the title of one run and the finding of another.
func TestReportIsOfOneRun(t *testing.T) {
	b := newBench(t)
	for i, job := range []string{"one", "two", "two"} {
		dir := filepath.Join(b.dir, "runs", fmt.Sprint(i))
		if _, err := record.Create(dir, record.Manifest{Job: job, CreatedUnixNS: int64(i+1) * 1e18,
			Command: []string{"python", job + ".py"}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"report", "runs"}, {"report", "runs/0", "runs/1"}, {"export", "--to", "folded", "-o", "x", "runs"},
		{"what-if", "--remove", "python", "runs"}} {
		got := b.run("", args...)
		newest, oldest := strings.Index(got.stderr, "runs/1"), strings.Index(got.stderr, "runs/0")
		if got.code != 2 || !strings.Contains(got.stderr, "give one of them") || newest < 0 || oldest < newest {
			t.Errorf("%v: %+v, want both runs, the newest first", args, got)
		}
	}
	if got := b.run("", "report", "runs/1", "runs/2"); strings.Contains(got.stderr, "give one of them") {
		t.Errorf("two sessions of one job: %+v", got)
	}
}

// What is missing on a command line is said with what to write instead.
func TestCommandLinesSayWhatToWriteInstead(t *testing.T) {
	b := newBench(t)
	for want, args := range map[string][]string{
		"run -- python -c":          {"run", "-c", "print(1)"},
		"attach: PID is missing; `": {"attach"},
		"top: PID is missing; `":    {"top"},
		"top: give one PID":         {"top", "1", "2"},
	} {
		if got := b.run("", args...); got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
}

func (b *bench) read(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// withoutNext is a report document without the next commands, which name the path that was given.
func withoutNext(t *testing.T, text string) string {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "next")
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPackRedactHidesTheProgram(t *testing.T) {
	b := newBench(t)
	b.file("projectx/secret_s.py", busyProgram)
	if got := b.run("", "run", "projectx/secret_s.py", "--customer", "acme"); got.code != 0 {
		t.Fatalf("run: %+v", got)
	}
	if got := b.run("", "pack", "--redact", "-o", "p.tar.zst", b.session()); got.code != 0 {
		t.Fatalf("pack: %+v", got)
	}
	got := b.run("", "report", "--all", "--json", "r.json", "p.tar.zst")
	if got.code != 0 {
		t.Fatalf("report: %+v", got)
	}
	host, _ := os.Hostname()
	for _, secret := range []string{"projectx", "secret_s", "acme", b.dir} {
		if strings.Contains(b.read("r.json"), secret) {
			t.Errorf("the report of the redacted session holds %q", secret)
		}
	}
	var doc struct {
		Environment struct{ Host string }
		Python      *struct{ Functions []struct{ Function string } }
	}
	if err := json.Unmarshal([]byte(b.read("r.json")), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Environment.Host == host || doc.Environment.Host == "" {
		t.Errorf("host %q", doc.Environment.Host)
	}
	if doc.Python == nil || len(doc.Python.Functions) == 0 || !strings.HasPrefix(doc.Python.Functions[0].Function, "function") {
		t.Errorf("want the program's function first, under another name: %+v", doc.Python)
	}
}

// `env` serves where no launcher can be put in front: the agent writes the session alone.
func TestEnvCommand(t *testing.T) {
	b := newBench(t)
	b.file("s.py", busyProgram)
	b.env = append(b.env, "BN="+b.command().Path, "PY="+python)
	got := b.finish(b.exec("bash", "-c", `eval "$("$BN" env --out "it's here")" && unset `+asBottleneck+
		` && "$PY" s.py && "$PY" -c 'print("second")'`))
	if got.code != 0 || got.stdout != "done\nsecond\n" {
		t.Fatalf("got %+v", got)
	}
	launchers, processes, err := record.Folders(filepath.Join(b.dir, "it's here"))
	if err != nil || len(launchers) != 0 || len(processes) != 2 {
		t.Fatalf("launchers %v, processes %v, %v", launchers, processes, err)
	}
	rep := b.run("", "report", "--json", "-", "it's here")
	if rep.code != 0 {
		t.Fatalf("report: %+v", rep)
	}
	expect(t, "the report", rep.stdout, "no launcher was in front of the program")
}

// Sessions in every state of damage open: each file of a session is cut, emptied or filled with rubbish.
func TestDamagedSessionsOpen(t *testing.T) {
	b := newBench(t)
	b.file("s.py", busyProgram)
	if got := b.run("", "run", "s.py"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	dir := b.session()
	var files []string
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
		if !d.IsDir() && !strings.Contains(path, "/"+record.AgentDir+"/") && filepath.Dir(path) != filepath.Join(dir, record.SourceDir) {
			files = append(files, path)
		}
		return nil
	})
	if len(files) < 5 {
		t.Fatalf("only %v", files)
	}
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string][]byte{"empty": nil, "cut": whole[:len(whole)/2], "rubbish": []byte("\x00\xff{[}rubbish")} {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := here("report", "--json", "-", dir)
			if code != 0 || !strings.Contains(stdout, `"bottleneck.report/1"`) {
				t.Errorf("%s %s: status %d: %.300s", filepath.Base(file), what, code, stderr)
			}
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReportOfNothing(t *testing.T) {
	b := newBench(t)
	b.file("empty/.keep", "")
	b.file("picture.png", "\x89PNG\r\n\x1a\n")
	cases := []struct {
		code int
		args []string
	}{
		{2, []string{"report"}},
		{2, []string{"report", "--section", "verdit", "x"}},
		{2, []string{"report", "--sort-by", "nonsense", "x"}},
		{2, []string{"report", "--group-by", "shape", "x"}},
		{2, []string{"report", "--time-unit", "h", "x"}},
		{3, []string{"report", "--sort-by", "self_cuda_time_total", "missing"}},
		{3, []string{"report", "missing"}},
		{3, []string{"report", "empty"}},
		{3, []string{"report", "picture.png"}},
		{2, []string{"export", "x"}},
		{2, []string{"export", "--to", "chrom", "x"}},
		{3, []string{"export", "--to", "chrome", "missing"}},
		{3, []string{"pack", "missing"}},
		{2, []string{"pack"}},
		{2, []string{"env"}},
	}
	for _, c := range cases {
		got := b.run("", c.args...)
		if got.code != c.code || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%v: %d %q %q, want status %d and one line", c.args, got.code, got.stdout, got.stderr, c.code)
		}
	}
}
