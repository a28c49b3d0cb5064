package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// Collections while a module is imported are part of the start, also where a first step imports it: freezing objects later spares none
// of them. The same collections in the step's own code are the collector's.
func TestCollectionsOfImports(t *testing.T) {
	importing := []testkit.Frame{module, loop(40), torchFrame("_compile.py", "inner"),
		{File: "<frozen importlib._bootstrap>", Function: "_find_and_load", First: 1, Line: 9}}
	for name, c := range map[string]struct {
		stack []testkit.Frame
		named bool
	}{"imports": {importing, false}, "the step's own": {[]testkit.Frame{module, loop(40), user("graph", 3, 4)}, true}} {
		t.Run(name, func(t *testing.T) {
			p := testkit.NewProgram()
			p.Do(testkit.Python(100, module))
			p.Steps(1, model.PhaseWarmup, testkit.Python(20, c.stack...), testkit.Python(140, c.stack...).In(model.SpanGC),
				testkit.Python(20, c.stack...), forward)
			res, _ := find(t, p)
			named := false
			for _, f := range res.Findings {
				named = named || f.Cause == finding.GC
			}
			if named != c.named {
				t.Errorf("findings %+v, want the collector named: %v", res.Findings, c.named)
			}
		})
	}
}

// What an import's span holds is its own, also between two of them.
func TestCollectionsInImportSpans(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(20, model.PhaseBaseline, forward)
	begin := p.T
	p.Steps(1, model.PhaseBaseline, testkit.Blocked(5, module, loop(41)), testkit.Python(200, module, loop(42)).In(model.SpanGC), forward)
	if res, _ := find(t, p); len(res.Findings) == 0 || res.Findings[0].Cause != finding.GC {
		t.Fatalf("findings %+v, want the collector's", res.Findings)
	}
	p.P.Imports = append(p.P.Imports, model.Span{Kind: model.SpanImport, Start: begin, End: p.T, Thread: p.P.PID},
		model.Span{Kind: model.SpanImport, Start: begin + 1, End: begin + 2, Thread: p.P.PID})
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if f.Cause == finding.GC {
			t.Errorf("names %s though it is within an import", f.Title)
		}
	}
}

// Importing the compiler, as an optimizer's first step does, is no compilation.
func TestImportOfTheCompiler(t *testing.T) {
	for function, part := range map[string]account.PartID{"<module>": account.PartImport, "compile_inner": account.PartCompile} {
		p := testkit.NewProgram()
		p.Steps(3, model.PhaseBaseline, testkit.Python(100, module, loop(40),
			testkit.Frame{File: "<frozen importlib._bootstrap>", Function: "_find_and_load", First: 1, Line: 9},
			torchFrame("_dynamo/convert_frame.py", function), torchFrame("fx/node.py", "helper")))
		if _, b := find(t, p); b.Part(part) < 0.99*b.Total {
			t.Errorf("%s: %+v, want %v", function, b.Parts, part)
		}
	}
}

// A line that asks for each collection is left out, unless it does more or the program has switched the collector off.
func TestACollectionThatALineAsksForIsLeftOut(t *testing.T) {
	for _, c := range []struct{ line, other, becomes string }{
		{"gc.collect()", "", "pass"},
		{"gc.collect(2)  # every step", "", "pass  # every step"},
		{"gc.collect(); log.flush()", "", ""},
		{"gc.collect()", "gc.disable()", ""},
		{"gc.collect()", "gc.disable(); build(); gc.enable()", "pass"},
		{"gc.collect()", "gc.set_threshold(0)", ""},
		{"rows = gc.collect()", "", ""},
	} {
		p := testkit.NewProgram()
		lines := make([]string, 90)
		lines[3], lines[62] = c.other, "            "+c.line
		p.S.Sources = map[string]*model.Source{"/home/u/train.py": {Path: "/home/u/train.py", Lines: lines}}
		for range 20 {
			p.Steps(1, model.PhaseBaseline, forward, testkit.Python(100, module, loop(63)).In(model.SpanGC))
		}
		res, _ := find(t, p)
		f := want(t, res, finding.GC, "", 63, 0)
		if a := f.Fix.Action; a.New != c.becomes || (a.Old == c.line) != (c.becomes != "") {
			t.Errorf("%+v: becomes %q instead of %q", c, a.New, a.Old)
		}
	}
}
