package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// here runs a command line in this process.
func here(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Run(context.Background(), args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// Every command explains itself with an example, on standard output and with status 0.
func TestHelp(t *testing.T) {
	for _, cmd := range newRootCommand(&app{}).Commands() {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		if cmd.Example == "" || cmd.Short == "" {
			t.Errorf("%s has no example or no short text", cmd.Name())
		}
		code, stdout, stderr := here(cmd.Name(), "--help")
		if code != 0 || stderr != "" {
			t.Errorf("%s --help: status %d, %q", cmd.Name(), code, stderr)
		}
		expect(t, cmd.Name()+" --help", stdout, "Usage:", "Examples:", "bottleneck "+cmd.Name())
	}
}

func TestVersion(t *testing.T) {
	if code, stdout, _ := here("--version"); code != 0 || !strings.HasPrefix(stdout, "bottleneck version ") {
		t.Errorf("status %d, %q", code, stdout)
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, stderr := here("completion", shell); code != 0 || len(stdout) < 1000 {
			t.Errorf("%s: status %d, %d bytes, %s", shell, code, len(stdout), stderr)
		}
	}
	code, stdout, _ := here("__complete", "re")
	if code != 0 || !strings.Contains(stdout, "report\t") {
		t.Errorf("completing \"re\": status %d, %q", code, stdout)
	}
}

func TestManPages(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := here("man", dir); code != 0 {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile(filepath.Join(dir, "bottleneck-run.1"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "the page of run", string(text), ".TH BOTTLENECK-RUN 1", ".SH OPTIONS", "\\-\\-max\\-size", "bottleneck run train.py")
	for _, cmd := range newRootCommand(&app{}).Commands() {
		if cmd.Hidden || !cmd.IsAvailableCommand() {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "bottleneck-"+cmd.Name()+".1")); err != nil {
			t.Errorf("no page: %v", err)
		}
	}
}

// The flags of run end where the program begins, whatever the program's own flags are called.
func TestProtectModule(t *testing.T) {
	cases := map[string]string{
		"run -m mod -v --out x":             "run -m mod -- -v --out x",
		"run --out d -m mod":                "run --out d -m mod --",
		"run --module=mod a":                "run --module=mod -- a",
		"run -vm mod a":                     "run -vm mod -- a",
		"--color never run -m mod a":        "--color never run -m mod -- a",
		"run s.py -m x":                     "run s.py -m x",
		"run --out -m mod":                  "run --out -m mod",
		"run -- -m x":                       "run -- -m x",
		"run -m":                            "run -m",
		"run --unknown -m mod":              "run --unknown -m mod",
		"report -m x":                       "report -m x",
		"run --whole-run -m mod --schedule": "run --whole-run -m mod -- --schedule",
	}
	for in, want := range cases {
		if got := strings.Join(protectModule(strings.Fields(in)), " "); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestParseFlagTexts(t *testing.T) {
	for text, want := range map[string]int64{"2GiB": 2 << 30, "500M": 500 << 20, "1.5g": 3 << 29, "1048576": 1 << 20} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "GiB", "-1G", "1X", "nan", "1e300G", "10"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q was taken as %d", text, got)
		}
	}
	s, err := parseSchedule("wait=1,warmup=2,active=3,repeat=4,skip_first=10")
	if err != nil || s.Wait != 1 || s.WarmUp != 2 || s.Active != 3 || s.Repeat != 4 || s.SkipFirst != 10 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, text := range []string{"wait=1", "active=0", "active=x", "active", "active=-1"} {
		if s, err := parseSchedule(text); err == nil {
			t.Errorf("%q was taken as %+v", text, s)
		}
	}
	if got, err := parseRanks("0,4-6"); err != nil || len(got) != 4 || got[3] != 6 {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"a", "3-1", "-1", "0-99999999999"} {
		if got, err := parseRanks(text); err == nil {
			t.Errorf("%q was taken as %v", text, got)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"report", "run", "export"}
	for got, want := range map[string]string{"reprt": "report", "exprot": "export", "rnu": "run", "xyzzy": "", "": ""} {
		text := didYouMean(got, known)
		if want == "" && text != "" || want != "" && !strings.Contains(text, `"`+want+`"`) {
			t.Errorf("%q: %q, want %q", got, text, want)
		}
	}
}

// What env prints is taken by a shell as it was meant, whatever is in it.
func TestExportLine(t *testing.T) {
	if got, want := exportLine("A=it's $x", "sh"), `export A='it'\''s $x'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := exportLine(`A=it's \`, "fish"), `set -gx A 'it\'s \\'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestIsolatedInterpreters(t *testing.T) {
	for line, want := range map[string]bool{
		"python3 -I s.py": true, "python3 -uE s.py": true, "/usr/bin/python3.13 -S -c x": true, "python3 s.py -I": false,
		"python3 -m IES": false, "python3 -Wignore -I s.py": true, "python3 -X dev -I s.py": true, "python3 -W I s.py": false,
		"sh -E x": false, "python3 -c I": false, "python3": false, "": false,
	} {
		if got := isolated(strings.Fields(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// Only run's own argument parsing stops at the program; no other command may swallow flags behind a path.
func TestFlagsMayFollowPaths(t *testing.T) {
	var found *cobra.Command
	for _, cmd := range newRootCommand(&app{}).Commands() {
		if cmd.Name() == "report" {
			found = cmd
		}
	}
	if err := found.ParseFlags([]string{"x", "--all"}); err != nil {
		t.Fatal(err)
	}
	if all, err := found.Flags().GetBool("all"); err != nil || !all {
		t.Errorf("--all behind a path: %v, %v", all, err)
	}
}
