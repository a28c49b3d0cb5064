package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// What is done once goes before the loop that runs the steps, where that is known and the name is free.
func TestLinesThatAreInserted(t *testing.T) {
	for name, c := range map[string]struct{ text, code, before string }{
		"imported": {"import os, gc\ndef main():\n    for epoch in range(2):\n        for x in data:\n            graph(x)\nmain()",
			"gc.collect(); gc.freeze()", "for epoch in range(2):"},
		"not imported": {"def main():\n    for x in data:\n        graph(x)\nmain()",
			"import gc; gc.collect(); gc.freeze()", "for x in data:"},
		"another's name": {"gc = 3\ndef main():\n    for x in data:\n        graph(x)\nmain()", "gc.collect(); gc.freeze()", ""},
		"no loop":        {"def main():\n    graph(x)\nmain()", "gc.collect(); gc.freeze()", ""},
	} {
		lines := strings.Split(c.text, "\n")
		at := func(call string) int {
			for i, line := range lines {
				if strings.TrimSpace(line) == call {
					return i + 1
				}
			}
			t.Fatalf("%s: no %q", name, call)
			return 0
		}
		stack := []testkit.Frame{{File: "/home/u/train.py", Function: "<module>", First: 1, Line: at("main()")},
			{File: "/home/u/train.py", Function: "main", First: 2, Line: at("graph(x)")}}
		p := testkit.NewProgram()
		p.Steps(30, model.PhaseBaseline, testkit.Python(20, stack...), testkit.Python(140, stack...).In(model.SpanGC))
		p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
		res, _ := find(t, p)
		if len(res.Findings) == 0 || res.Findings[0].Cause != finding.GC {
			t.Errorf("%s: findings %+v, want the collector's", name, res.Findings)
			continue
		}
		a := res.Findings[0].Fix.Action
		if a.Kind != finding.InsertLine || a.Change() != c.code || a.Old != c.before || c.before != "" && a.Line != at(c.before) {
			t.Errorf("%s: %+v, want %q before %q", name, a, c.code, c.before)
		}
	}
}

// A statement that only asks for a collection goes; what uses its value, or does more in its line, stays with advice.
func TestCollectionsThatGo(t *testing.T) {
	for line, becomes := range map[string]string{
		"gc.collect()":                              "pass",
		"gc.collect(2)  # free it":                  "pass  # free it",
		"if step % 4 == 0: gc.collect()":            "if step % 4 == 0: pass",
		"found = gc.collect()":                      "",
		"gc.collect(); torch.cuda.empty_cache()":    "",
		"run(lambda: gc.collect())":                 "",
		"later = lambda: gc.collect()":              "",
		`if name == "x: y": log(gc.collect())`:      "",
		"print(gc.collect(), \"objects are gone\")": "",
	} {
		const file = "/home/u/train.py"
		stack := []testkit.Frame{{File: file, Function: "<module>", First: 1, Line: 3}}
		p := testkit.NewProgram()
		p.Steps(30, model.PhaseBaseline, testkit.Python(20, stack...), testkit.Python(140, stack...).In(model.SpanGC))
		p.S.Sources[file] = &model.Source{Path: file, Lines: []string{"import gc", "for step in range(30):", "    " + line}}
		res, _ := find(t, p)
		if len(res.Findings) == 0 || res.Findings[0].Cause != finding.GC {
			t.Errorf("%s: findings %+v, want the collector's", line, res.Findings)
			continue
		}
		if a := res.Findings[0].Fix.Action; a.New != becomes || becomes != "" && (a.Kind != finding.EditLine || a.Old != line || a.Line != 3) {
			t.Errorf("%s: %+v, want %q", line, a, becomes)
		}
	}
}
