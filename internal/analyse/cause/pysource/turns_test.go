package pysource

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSameInTurns asks of lines in a program whether they call a function with the same at each turn of a loop in a step: "# softmax same"
// does, "# softmax other" does not. The function train drives the steps.
func TestSameInTurns(t *testing.T) {
	text, err := os.ReadFile("testdata/turns.py")
	if err != nil {
		t.Fatal(err)
	}
	source := strings.Split(string(text), "\n")
	asks := regexp.MustCompile(`# (\w+) (same|other)$`)
	var reader Reader
	asked := 0
	for i, line := range source {
		m := asks.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		asked++
		at := int32(i + 1)
		var stack []At
		for _, call := range callsTo(source, at) {
			stack = append(stack, At{source, functionAt(source, call), call})
		}
		stack = append(stack, At{source, functionAt(source, at), at})
		step := slices.IndexFunc(stack, func(a At) bool { return a.Name == "train" })
		loop, same := reader.SameInTurns(stack, step, func(name string) bool { return name == m[1] })
		if same != (m[2] == "same") {
			t.Errorf("%d: %s: said %v", at, strings.TrimSpace(line), same)
		}
		if head := source[max(loop.Line-1, 0)]; same && !strings.Contains(head, "for ") {
			t.Errorf("%d: %s: the loop is %q", at, strings.TrimSpace(line), head)
		}
	}
	if asked < 25 {
		t.Errorf("only %d lines are asked about", asked)
	}
}

// A function is called from one line where no other line names it; what surely runs between two turns of a line are calls in its loop, or
// in its function.
func TestCallersAndCallsInTurns(t *testing.T) {
	source := strings.Split("def one(x, c):\n    p = x.softmax(1)\n    if c:\n        p = p.exp()\n    return net(p).sum()\n\n"+
		"def all(x):\n    for c in range(3):\n        y = one(x, c)\n    z = two(x)\n    return two(z)\n\n"+
		"def two(x):\n    return [x.softmax(1) for c in range(3)]\n",
		"\n")
	var r Reader
	if at, ok := r.CallerOf(At{source, "one", 2}); !ok || at.Line != 9 || at.Name != "all" {
		t.Error(at.Name, at.Line, ok)
	}
	if at, ok := r.CallerOf(At{source, "two", 14}); ok {
		t.Error(at.Name, at.Line)
	}
	is := func(name string) bool { return name == "softmax" }
	if got, pureOnly := r.CallsInTurn(At{source, "one", 2}, is); !slices.Equal(got, []string{"softmax", "sum"}) || pureOnly {
		t.Error(got, pureOnly)
	}
	if got, pureOnly := r.CallsInTurn(At{source, "two", 14}, is); !slices.Equal(got, []string{"softmax", "range"}) || !pureOnly {
		t.Error(got, pureOnly)
	}
}
