package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shown is one `$ …` line of a ```console block, with the lines printed below it.
type shown struct {
	line    int // in the page
	command string
	output  []string
	status  int
}

var exitComment = regexp.MustCompile(`\s+# exit status (\d)$`)

// readCommands takes the commands of a page's ```console blocks. A command may end with "# exit status N" (0 otherwise).
func readCommands(t *testing.T, path string) []shown {
	t.Helper()
	var commands []shown
	inside := false
	for i, line := range strings.Split(read(t, path), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && strings.HasPrefix(line, "$ "):
			c := shown{line: i + 1, command: line[2:]}
			if m := exitComment.FindStringSubmatch(c.command); m != nil {
				c.command, c.status = strings.TrimSuffix(c.command, m[0]), int(m[1][0]-'0')
			}
			commands = append(commands, c)
		case inside && len(commands) > 0:
			last := &commands[len(commands)-1]
			last.output = append(last.output, line)
		}
	}
	return commands
}

// matches says whether every shown line occurs in the output, in order; "…" in a shown line stands for anything.
func matches(output string, lines []string) (missing string, ok bool) {
	rest := strings.Split(output, "\n")
	for _, line := range lines {
		if strings.TrimSpace(line) == "…" {
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern := regexp.MustCompile("^" + strings.Join(parts, ".*") + `\s*$`)
		found := false
		for !found {
			if len(rest) == 0 {
				return line, false
			}
			found = pattern.MatchString(rest[0])
			rest = rest[1:]
		}
	}
	return "", true
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		output string
		lines  []string
		ok     bool
	}{
		{"a\nb 12 ms\nc\n", []string{"b … ms", "c"}, true},
		{"a\nb\n", []string{"b", "a"}, false},
		{"a\n", []string{"…", "a"}, true},
		{"abc\n", []string{"ab"}, false},
	} {
		if _, ok := matches(c.output, c.lines); ok != c.ok {
			t.Errorf("matches(%q, %q) = %v", c.output, c.lines, ok)
		}
	}
}

// TestPages executes what README.md and docs/manual.md show, page by page in a folder of its own, in order.
func TestPages(t *testing.T) {
	python := environment(t, generations(t)[0])
	for _, page := range []string{"README.md", "docs/manual.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			folder, path := pageFolder(t, python)
			commands := readCommands(t, filepath.Join(root(t), page))
			if len(commands) < 3 {
				t.Fatalf("%d commands", len(commands))
			}
			for _, c := range commands {
				status, out := execute(t, folder, path, c.command)
				if status != c.status {
					t.Errorf("%s:%d: %s: exit status %d, want %d\n%s", page, c.line, c.command, status, c.status, out)
				}
				if missing, ok := matches(out, c.output); !ok {
					t.Errorf("%s:%d: %s: its output lacks %q:\n%s", page, c.line, c.command, missing, out)
				}
			}
		})
	}
}

// pageFolder has what the pages' commands need: the examples, and on the PATH the binary and an environment with torch.
func pageFolder(t *testing.T, python string) (folder, path string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "examples"), os.DirFS(filepath.Join(root(t), "examples"))); err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	if err := os.Symlink(binary(t), filepath.Join(tools, "bottleneck")); err != nil {
		t.Fatal(err)
	}
	list := string(os.PathListSeparator)
	return folder, tools + list + filepath.Dir(python) + list + os.Getenv("PATH")
}

func execute(t *testing.T, folder, path, command string) (status int, output string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PATH="+path, "NO_COLOR=1", oneThread)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", command, err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}
