//go:build unix

package cli

import (
	"bottleneck/internal/overlay"
	"bottleneck/internal/record"
	"bottleneck/internal/report"
	"bottleneck/internal/wording"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProveUsage(t *testing.T) {
	trace := looped(t, "a.json", 5, 3, 100)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"a", "b"}, exitUsage, "takes one SESSION"},
		{[]string{"--finding", "0", "x"}, exitUsage, "counted from 1"},
		{[]string{"--budget", "0s", "x"}, exitUsage, "--budget"},
		{[]string{"--runs", "1000", "x"}, exitUsage, "--runs"},
		{[]string{"no-such-session"}, exitUnusable, "no session directory"},
		{[]string{trace}, exitUnusable, "no session directory"},
	} {
		code, _, stderr := here(append([]string{"prove"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: status %d, %q", c.args, code, stderr)
		}
	}
}

// TestProveRefuses asks for a clear word where a session cannot be proven.
func TestProveRefuses(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import sys\nraise SystemExit(int(sys.argv[1]))\n")
	for name, args := range map[string][]string{"good": {"s.py", "0"}, "failed": {"s.py", "3"},
		"secret": {"s.py", "0", "--token=abcdefgh12345678"}} {
		b.run("", append([]string{"run", "--no-trace", "--out", name, "-o", "report.txt"}, args...)...)
	}
	for _, c := range []struct{ session, says string }{
		{"failed", "did not end well"},
		{"secret", "is a secret that was not kept"},
		{"good", "prove: "}, // a program that does nothing has no finding that can be made
	} {
		if got := b.run("", "prove", c.session); got.code != exitUnusable || !strings.Contains(got.stderr, c.says) {
			t.Errorf("%s: %+v", c.session, got)
		}
	}
	found := &report.Report{Findings: []report.Finding{{Cause: "threads", Fix: report.Fix{Text: "Buy more."}}}}
	if err := (&trial{}).choose(found, 2); err == nil || !strings.Contains(err.Error(), "--finding: the report has 1") {
		t.Errorf("a finding that does not exist: %v", err)
	}
}

// TestPromiseOfTheChange: where the change is one of several fixes, its own saving is the promise; a bound is beside the finding's.
func TestPromiseOfTheChange(t *testing.T) {
	seconds := func(s float64) *report.Range { return &report.Range{Low: s, Mid: s, High: s} }
	f := &report.Finding{Saving: &report.Saving{RunS: seconds(4)},
		Fix: report.Fix{Action: &report.Action{Kind: "set-argument", Saving: &report.Saved{RunS: seconds(1)}}}}
	for want, c := range map[float64]*change{1: {}, 4: {ablate: &ablation{}}} {
		if p := (&trial{finding: f, change: c}).document(); p.Promised.RunS.Mid != want {
			t.Errorf("promised %+v, want %v", p.Promised.RunS, want)
		}
	}
}

func TestChangeOf(t *testing.T) {
	at := &report.Place{File: "/home/u/train.py", Line: 3}
	for _, c := range []struct {
		name string
		fix  report.Fix
		says string // an error, "" a change
	}{
		{"environment", report.Fix{Action: &report.Action{Kind: "set-environment", Variable: "OMP_NUM_THREADS", Value: "2"}}, ""},
		{"a line", report.Fix{Was: "f(1)", Where: at, Action: &report.Action{Kind: "edit-line", Line: "f(2)"}}, ""},
		{"a new line", report.Fix{Where: at, Action: &report.Action{Kind: "insert-line", Line: "g()", Before: "f(1)"}}, ""},
		{"a new line somewhere", report.Fix{Change: "g()", Action: &report.Action{Kind: "insert-line", Line: "g()"}},
			"not certain in which line"},
		{"advice", report.Fix{Text: "Buy more."}, "advice only"},
		{"an argument of some line", report.Fix{Change: "DataLoader(..., num_workers=2)",
			Action: &report.Action{Kind: "set-argument", Call: "DataLoader"}}, "not certain in which line"},
		{"a library", report.Fix{Was: "f(1)", Where: &report.Place{File: "/v/lib/python3/site-packages/x.py", Line: 1},
			Action: &report.Action{Kind: "edit-line", Line: "f(2)"}}, "a library"},
	} {
		change, err := changeOf(&report.Finding{Fix: c.fix})
		if c.says == "" && (err != nil || change.words == "") || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %+v, %v", c.name, change, err)
		}
	}
}

// TestBoundOf: what has no change that is certain is bounded where its cause can be taken away.
func TestBoundOf(t *testing.T) {
	at := report.Where{File: "/home/u/train.py", Line: 3}
	evidence := []report.Evidence{{ID: "warmup.first-steps"}}
	for _, c := range []struct {
		name    string
		finding report.Finding
		says    string // of an error, or of the bound
		fails   bool
	}{
		{"checkpoints", report.Finding{Cause: "io", Sub: "checkpoint", Where: at}, "what train.py:3 and the lines around it", false},
		{"logs of a library", report.Finding{Cause: "io", Sub: "logging", Where: report.Where{File: "/v/site-packages/x.py", Line: 3}},
			"no line of the program's own", true},
		{"reading", report.Finding{Cause: "io", Sub: "read", Where: at}, "advice only", true},
		{"compiling", report.Finding{Cause: "warmup", Evidence: evidence}, "a second start", false},
		{"compiled before", report.Finding{Cause: "warmup", Evidence: evidence,
			Fix: report.Fix{Text: wording.Say("warmup.fix-compile-cached").String()}}, "was a second start already", true},
		{"preparing", report.Finding{Cause: "warmup", Evidence: []report.Evidence{{ID: "warmup.prepare"}}}, "advice only", true},
		{"waiting for a device", report.Finding{Cause: "sync", Where: at}, "advice only", true},
	} {
		change, err := changeOf(&c.finding)
		if c.fails && (err == nil || !strings.Contains(err.Error(), c.says)) ||
			!c.fails && (err != nil || change.ablate == nil || !strings.Contains(change.words, c.says)) {
			t.Errorf("%s: %+v, %v", c.name, change, err)
		}
	}
}

func TestFirstChanged(t *testing.T) {
	for _, c := range []struct {
		kept []string
		text string
		line int
	}{
		{[]string{"a", "b"}, "a\nb\n", 0},
		{[]string{"a", "b"}, "a\r\nb\r\n", 0},
		{[]string{"a", "b"}, "a\nc\n", 2},
		{[]string{"a", "b"}, "a\nb\nc\n", 3},
		{[]string{"a", "b"}, "a", 2},
	} {
		if got := firstChanged(c.kept, c.text); got != c.line {
			t.Errorf("%q and %q differ in line %d, not %d", c.kept, c.text, got, c.line)
		}
	}
}

// TestSafe asks before runs that one another's files would spoil.
func TestSafe(t *testing.T) {
	for _, c := range []struct {
		command   string
		temporary bool
		refused   bool
	}{
		{"python train.py", false, false},
		{"python train.py --output-dir runs/1", false, true},
		{"python train.py --out=/data/x", true, true},
		{"python train.py --out=x", true, false},
		{"python train.py -o x", true, false},
		{"python train.py --optimizer adam --offset 3 --savings no", false, false},
	} {
		o := &proveOptions{temporary: c.temporary}
		err := o.safe(&trial{command: strings.Fields(c.command)}, &report.Report{})
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", c.command, err)
		}
		if o.yes = true; o.safe(&trial{command: strings.Fields(c.command)}, &report.Report{}) != nil {
			t.Errorf("%s: refused with --yes", c.command)
		}
	}
}

// TestPatchWithoutGit names the changed file from the program's working directory where git knows no better.
func TestPatchWithoutGit(t *testing.T) {
	b := newBench(t)
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(b.dir))
	b.file("pkg/model.py", "a = 1\n")
	file := filepath.Join(b.dir, "pkg", "model.py")
	proof := &trial{change: &change{file: file}, before: "a = 1\n", after: "a = 2\n", launcher: record.Launcher{CWD: b.dir}}
	for _, path := range []string{os.Getenv("PATH"), t.TempDir()} {
		t.Setenv("PATH", path)
		if got := proof.patch(); !strings.Contains(got, "a/pkg/model.py") || !strings.Contains(got, "+a = 2") {
			t.Errorf("PATH %s: %s", path, got)
		}
	}
}

// TestSafeRanks asks before several ranks are started again and again.
func TestSafeRanks(t *testing.T) {
	ranks := &report.Report{Ranks: make([]report.Rank, 2)}
	for yes, refused := range map[bool]bool{false: true, true: false} {
		err := (&proveOptions{yes: yes}).safe(&trial{command: []string{"python", "train.py"}}, ranks)
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "the program starts 2 ranks") {
			t.Errorf("--yes %v: %v", yes, err)
		}
	}
}

// TestVariantsRunTheChange runs programs of several forms with a changed file, and asks which text they ran: the script, a module beside
// it,
// a package below the working directory, a package on PYTHONPATH, and python -m.
func TestVariantsRunTheChange(t *testing.T) {
	b := newBench(t)
	b.file("train.py", "import helper\nprint(helper.WORD)\nprint('old')\nprint(open('data/in').read())\n")
	b.file("helper.py", "WORD = 'old'\n")
	b.file("data/in", "data")
	b.file("pkg/__init__.py", "")
	b.file("pkg/model.py", "print('old')\n")
	b.file("pkg/__main__.py", "from pkg import model\n")
	b.file("tools/go.py", "import pkg.model\n")
	b.file("src/lib/__init__.py", "print('old')\n")
	b.file("tools/lib.py", "")
	b.file("run/use.py", "import lib\n")
	for _, c := range []struct {
		name, command, file, path string
		line                      int
		old                       string
	}{
		{"script", "train.py", "train.py", "", 3, "print('old')"},
		{"module beside it", "train.py", "helper.py", "", 1, "WORD = 'old'"},
		{"python -m", "-m pkg", "pkg/model.py", "", 1, "print('old')"},
		{"package of the working directory", "tools/go.py", "pkg/model.py", ".", 1, "print('old')"},
		{"package on PYTHONPATH", "run/use.py", "src/lib/__init__.py", "src", 1, "print('old')"},
	} {
		for _, temporary := range []bool{false, true} {
			file := filepath.Join(b.dir, filepath.FromSlash(c.file))
			edit := overlay.Edit{Line: c.line, Old: c.old, New: strings.ReplaceAll(c.old, "old", "new")}
			before := b.read(c.file)
			after, err := edit.Apply(before)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("PYTHONPATH", c.path)
			trial := &trial{temporary: temporary, change: &change{file: file, edit: edit}, before: before, after: after,
				launcher: record.Launcher{CWD: b.dir}, command: append([]string{python}, strings.Fields(c.command)...)}
			variants, err := trial.variants(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{"old", "new"} {
				v := &variants[i]
				cmd := b.exec(v.target.Name, v.target.Args...)
				cmd.Dir, cmd.Env = v.dir, append(append([]string{}, b.env...), v.environment...)
				got := b.finish(cmd)
				if got.code != 0 || !strings.Contains(got.stdout, want) {
					t.Errorf("%s (temporary %v): %s ran %+v in %s with %v", c.name, temporary, v.name, got, v.dir, v.environment)
				}
			}
			if b.read(c.file) != before {
				t.Errorf("%s: the original has changed", c.name)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "new")); err == nil {
		t.Error("a file is left")
	}
}

// TestRunProves: where nothing can be proven, that is said after the report, and the program's output and status stay its own.
func TestRunProves(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import sys\nprint('out')\nraise SystemExit(int(sys.argv[1]))\n")
	for _, status := range []string{"0", "3"} {
		got := b.run("", "run", "--no-trace", "--prove", "--out", "o"+status, "s.py", status)
		if got.stdout != "out\n" || !strings.Contains(got.stderr, "prove: ") || !strings.HasSuffix("0"+status, string(rune('0'+got.code))) {
			t.Errorf("%+v", got)
		}
	}
}
