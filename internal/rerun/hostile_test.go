package rerun

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func text(value string) [3]string { return [3]string{"", "", `"` + value + `"`} }

// TestHostileOperators runs nothing but computations on tensors, whatever a session's file says that its program ran.
func TestHostileOperators(t *testing.T) {
	python := torchPython(t)
	file := filepath.Join(t.TempDir(), "written")
	ops := []Op{
		recorded("aten::from_file", text(file), scalar("True"), scalar("64")),
		recorded("aten::save", scalar("1"), text(file)),
		recorded("aten::__reduce__"),
		recorded("aten::overloads", floats("[8]")),
		recorded("aten::mm.__globals__", floats("[8]")),
		recorded("aten::add", floats("[-8, -8]"), floats("[-8, -8]")),
		recorded("aten::add", floats("[8]"), floats("[8]")).strided("[[-1], [1]]"),
		recorded("aten::add", floats("[1000000000000000]"), floats("[1000000000000000]")),
		recorded("aten::cat", tensors("[[900000000], [900000000], [900000000]]"), scalar("0")),
		recorded("aten::outer", floats("[60000]"), floats("[60000]")), // 14 GB of 480 kB
		recorded("aten::relu", [3]string{"[8]", "__import__('os')", ""}),
		recorded("aten::add", floats("[8]"), scalar("__import__('os').getpid()")),
		recorded("aten::add", floats("[8]"), scalar(strings.Repeat("[", 100000))),
	}
	last := recorded("aten::add", floats("[8]"), floats("[8]"))
	got, err := Measure(context.Background(), append(ops, last), Options{Interpreter: python, Budget: 5 * time.Second, Threads: 1,
		Cores: 1, Memory: 500 << 20})
	if err != nil || len(got) != len(ops)+1 {
		t.Fatalf("%d results of %d: %v", len(got), len(ops)+1, err)
	}
	for i := range ops {
		if got[i].BaseUs != nil || got[i].Error == "" {
			t.Errorf("%s was run: %+v", ops[i].Name, got[i])
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
	if got[len(ops)].BaseUs == nil {
		t.Errorf("what a program runs was not: %s", got[len(ops)].Error)
	}
	for i, want := range map[int]string{7: "memory", 8: "memory"} {
		if !strings.Contains(got[i].Error, want) {
			t.Errorf("%s: %q does not say %q", ops[i].Name, got[i].Error, want)
		}
	}
}

// TestLongOperators does not begin what the budget has no time for, and says so; others have theirs.
func TestLongOperators(t *testing.T) {
	long, short := recorded("aten::relu", floats("[8]")), recorded("aten::relu", floats("[16]"))
	long.RecordedUs = 1e6
	got, err := Measure(context.Background(), []Op{long, short}, Options{Interpreter: torchPython(t), Budget: time.Second,
		Threads: 1, Cores: 1})
	if err != nil || len(got) != 2 || !strings.Contains(got[0].Error, "of the budget are left") || got[0].BaseUs != nil ||
		got[1].BaseUs == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestModulesOfTheDirectory takes no module from the directory that the user is in.
func TestModulesOfTheDirectory(t *testing.T) {
	python := torchPython(t)
	t.Chdir(t.TempDir())
	for _, name := range []string{"json.py", "ast.py", "torch.py", "threading.py"} {
		if err := os.WriteFile(name, []byte("raise SystemExit('not this one')"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Measure(context.Background(), []Op{recorded("aten::relu", floats("[8]"))},
		Options{Interpreter: python, Budget: time.Second})
	if err != nil || got[0].BaseUs == nil {
		t.Errorf("%+v, %v", got, err)
	}
}
