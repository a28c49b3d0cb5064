package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"bottleneck/internal/testkit"
)

// steering is a text that would steer a terminal: it clears the screen, sets the title, turns the direction of writing.
const steering = "a\x1b[2Jb\x1b]0;title\x07c\u202ed\u2066e\x9bf\rg\x08h"

// hostileTrace has steering names everywhere.
func hostileTrace(t *testing.T) string {
	t.Helper()
	tr := testkit.NewTrace()
	for i := range int64(3) {
		tr.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i+5), 100, 1, i*1_000_000, 1_000_000)
		tr.Op("aten::"+steering, 1, i*1_000_000+600_000, 200_000, "External id", i, "Call stack", "/x/"+steering+".py(1): "+steering,
			"Input Dims", [][]int{{2, 3}})
		tr.Launch("kernel "+steering, 1, i*1_000_000+600_100, 10, i*1_000_000+601_000, 100_000, int(i+1))
		tr.X("user_annotation", steering, 100, 1, i*1_000_000+10, 100)
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(tr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// steers finds the first character that a terminal acts upon; paint says that colours are none.
func steers(text string, paint bool) string {
	for i, r := range text {
		if r == '\x1b' && paint && len(text) > i+1 && text[i+1] == '[' {
			if end := strings.IndexFunc(text[i+2:], func(r rune) bool { return r != ';' && (r < '0' || r > '9') }); end >= 0 &&
				text[i+2+end] == 'm' {
				continue
			}
		}
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf)) {
			return fmt.Sprintf("%q", text[max(0, i-20):min(len(text), i+20)])
		}
	}
	return ""
}

// TestNoStyleSteersTheTerminal prints a hostile trace in every style, and names of files that are not there.
func TestNoStyleSteersTheTerminal(t *testing.T) {
	path := hostileTrace(t)
	for _, args := range [][]string{
		{"report"}, {"report", "--all"}, {"report", "--all", "--color", "always"}, {"report", "--style", "torch"},
		{"report", "--style", "torch", "--color", "always"}, {"report", "--style", "torch", "--group-by", "stack=3"},
		{"report", "--style", "torch", "--group-by", "input-shape"}, {"report", "--style", "classic"}, {"report", "--style", "lightning"},
		{"report", "--style", "torch", "--header", steering}, {"what-if", "--remove", "python"}, {"what-if", "--scale", steering + "=0"},
		{"report", "--source", steering}, {"export", "--to", steering}, {"report", "--style", steering},
	} {
		_, stdout, stderr := here(append(args, path)...)
		if bad := steers(stdout+stderr, args[len(args)-1] == "always"); bad != "" || stdout+stderr == "" {
			t.Errorf("%q: %s", args, bad)
		}
	}
	for _, command := range []string{"report", "export", "what-if", "pack"} {
		args := map[string][]string{"export": {"export", "--to", "csv"}, "what-if": {"what-if", "--remove", "python"}}[command]
		if args == nil {
			args = []string{command}
		}
		code, stdout, stderr := here(append(args, "no"+steering+"file")...)
		if bad := steers(stdout+stderr, false); bad != "" || code != 3 || !strings.Contains(stderr, "file") {
			t.Errorf("%s: status %d, %s", command, code, bad)
		}
	}
}

// TestCSVHoldsNoFormulas exports names that spreadsheets take for formulas.
func TestCSVHoldsNoFormulas(t *testing.T) {
	tr := testkit.NewTrace()
	names := []string{"=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(\"http://x\")"}
	for i, name := range names {
		tr.Op(name, 1, int64(i)*1000, 500)
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(tr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := here("export", "--to", "csv", path)
	if code != 0 {
		t.Fatalf("status %d: %s", code, stderr)
	}
	for _, line := range strings.Split(stdout, "\n") {
		if cell := strings.TrimLeft(line, `"`); cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
			t.Errorf("a formula: %q", line)
		}
	}
}

// full is an output that takes nothing any more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left on device") }

// TestFullOutput ends every command whose output cannot be written with the same status and a line that says so.
func TestFullOutput(t *testing.T) {
	path := hostBound(t)
	session := filepath.Join(t.TempDir(), "s")
	if err := os.MkdirAll(session, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(session, "manifest.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{"report", path}, {"report", "--style", "torch", path}, {"report", "--style", "classic", path},
		{"report", "--json", "-", path}, {"report", "--events", "--json", "-", path}, {"export", "--to", "csv", path},
		{"export", "--to", "chrome", path}, {"export", "--list"}, {"what-if", "--remove", "python", path},
		{"what-if", "--remove", "python", "--json", "-", path}, {"pack", "-o", filepath.Join(t.TempDir(), "p.tar.zst"), session}}
	if _, err := os.Stat("/dev/full"); err == nil {
		commands = append(commands, []string{"report", "-o", "/dev/full", path}, []string{"report", "--json", "/dev/full", path},
			[]string{"export", "--to", "csv", "-o", "/dev/full", path}, []string{"what-if", "--remove", "python", "-o", "/dev/full", path})
	}
	for _, args := range commands {
		var stderr bytes.Buffer
		var stdout io.Writer = full{}
		if code := Run(context.Background(), args, strings.NewReader(""), stdout, &stderr); code != exitUnusable ||
			!strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%q: status %d, %s", args, code, stderr.String())
		}
	}
}
