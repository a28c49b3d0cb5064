package agent

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write py/_bneck_agent/settings.py anew")

const settingsHead = `"""What the launcher tells the agent, and what holds where it says nothing.

Made of Config and Schedule in agent.go by ` + "`go test ./internal/agent -run Settings -update`" + `: change it there.
"""


class Told:
    """Settings as attributes."""

    def __init__(self, told):
        self.__dict__.update((name, value) for name, value in told.items() if value is not None)
`

// settingsClass writes a struct of settings as a class of Python: each field by its name in JSON, with its default.
func settingsClass(kind reflect.Type) string {
	var text strings.Builder
	name := strings.ReplaceAll(kind.Name(), "Config", "Settings")
	fmt.Fprintf(&text, "\n\nclass %s(Told):\n    \"\"\"%s of agent.go, which says what each means.\"\"\"\n\n", name, kind.Name())
	for field := range fields(kind) {
		fmt.Fprintf(&text, "    %s = %s\n", field.name, field.value)
	}
	return text.String()
}

type setting struct{ name, value string }

// fields gives the settings of a struct: name in JSON, and default as Python writes it.
func fields(kind reflect.Type) func(func(setting) bool) {
	zeros := map[reflect.Kind]string{reflect.String: `""`, reflect.Bool: "False", reflect.Int: "0", reflect.Int64: "0",
		reflect.Float64: "0.0", reflect.Slice: "[]", reflect.Map: "{}", reflect.Pointer: "None"}
	return func(yield func(setting) bool) {
		for i := range kind.NumField() {
			field := kind.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			value := field.Tag.Get("default")
			if value == "" {
				value = zeros[field.Type.Kind()]
			}
			if !yield(setting{name, value}) {
				return
			}
		}
	}
}

// TestSettingsAreTheLaunchers holds settings.py against Config, of which it is made, and both against what the agent reads.
func TestSettingsAreTheLaunchers(t *testing.T) {
	want := settingsHead + settingsClass(reflect.TypeFor[Schedule]()) + settingsClass(reflect.TypeFor[Config]())
	const path = "py/_bneck_agent/settings.py"
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if have := content(t, path); have != want {
		t.Errorf("%s is not what Config says; go test ./internal/agent -run Settings -update", path)
	}
	var there []string
	for _, kind := range []reflect.Type{reflect.TypeFor[Schedule](), reflect.TypeFor[Config]()} {
		for field := range fields(kind) {
			there = append(there, field.name)
		}
	}
	read := map[string]bool{}
	uses := regexp.MustCompile(`\b(?:config|schedule)\.([a-z_]+)`)
	paths, _ := filepath.Glob("py/_bneck_agent/*.py")
	for _, path := range paths {
		for _, use := range uses.FindAllStringSubmatch(content(t, path), -1) {
			if read[use[1]] = true; !slices.Contains(there, use[1]) &&
				!slices.Contains([]string{"over", "begins", "ends", "ended"}, use[1]) {
				t.Errorf("%s reads the setting %s, which Config has not", path, use[1])
			}
		}
	}
	for _, name := range there {
		if !read[name] {
			t.Errorf("nothing in the agent reads the setting %s", name)
		}
	}
}

// rowLine is a row of docs/session.md's table of events: its kind and its columns.
var rowLine = regexp.MustCompile("(?m)^\\| `\\[\"(\\w+)\", (.*)\\]` \\|")

// eventRows reads the table: the columns of each kind of row, the kind itself left out.
func eventRows(t *testing.T) map[string]int {
	t.Helper()
	rows := map[string]int{}
	for _, match := range rowLine.FindAllStringSubmatch(content(t, "../../docs/session.md"), -1) {
		inner := regexp.MustCompile(`\{.*\}|\[.*\]`).ReplaceAllString(match[2], "nested")
		rows[match[1]] = len(strings.Split(inner, ","))
	}
	if len(rows) < 10 {
		t.Fatalf("docs/session.md has %d kinds of rows", len(rows))
	}
	return rows
}

// emitted prints each row that a function of the agent emits: its kind and how many columns it has, "+" where more may follow.
const emitted = `
import ast, glob
for path in sorted(glob.glob("../py/_bneck_agent/*.py")):
    for call in ast.walk(ast.parse(open(path).read())):
        if not isinstance(call, ast.Call) or not (isinstance(call.func, ast.Attribute) and call.func.attr == "emit" or getattr(call.func, "id", "") == "emit"):
            continue
        if call.args and isinstance(call.args[0], ast.Constant):
            plain = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
            print(call.args[0].value, len(plain) - 1 + 2 * (len(call.args) - len(plain)))  # what is starred is a file and a line
`

// TestRowsAreTheReaders holds the rows that the agent writes and those that package ingest reads against docs/session.md's table: the same
// kinds on both sides, and no column that the table has not.
func TestRowsAreTheReaders(t *testing.T) {
	rows := eventRows(t)
	got := start(t, "python3", environment(), "-c", emitted)
	if got.status != 0 {
		t.Fatal(got.stderr)
	}
	written := map[string]bool{"clock": true, "count": true, "step": true} // put together in core.flush and marks.finish
	for line := range strings.Lines(got.stdout) {
		var kind string
		var columns int
		if _, err := fmt.Sscan(line, &kind, &columns); err != nil {
			t.Fatal(err)
		}
		written[kind] = true
		if rows[kind] == 0 || columns > rows[kind] {
			t.Errorf("the agent writes %s with %d columns, docs/session.md has %d", kind, columns, rows[kind])
		}
	}
	reader := content(t, "../ingest/agent_rows.go")
	read := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^\t"(\w+)": +\(\*agentRows\)\.(\w+),`).FindAllStringSubmatch(reader, -1) {
		read[match[1]] = true
		_, body, _ := strings.Cut(reader, "func (a *agentRows) "+match[2]+"(")
		body, _, _ = strings.Cut(body, "\n}\n")
		for _, column := range regexp.MustCompile(`\br\.\w+\((\d+)\)`).FindAllStringSubmatch(body, -1) {
			var n int
			if fmt.Sscan(column[1], &n); n > rows[match[1]] {
				t.Errorf("column %d of %s is read, docs/session.md has %d", n, match[1], rows[match[1]])
			}
		}
	}
	for kind := range rows {
		if !written[kind] || !read[kind] {
			t.Errorf("%s of docs/session.md: written %v, read %v", kind, written[kind], read[kind])
		}
	}
	for kind := range read {
		if rows[kind] == 0 {
			t.Errorf("%s is read, but not in docs/session.md", kind)
		}
	}
}
