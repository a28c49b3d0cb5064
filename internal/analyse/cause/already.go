package cause

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/wording"
	"slices"
	"strings"
)

// compiledAdvice are pieces of advice to compile, and what is said instead to a program that compiles already: there the question is what
// was left out of the compiled code.
var compiledAdvice = map[string]string{
	"launch.fix-loop":         "launch.fix-loop-compiled",
	"launch.fix-loop-at-once": "launch.fix-loop-compiled",
	"launch.fix-call":         "launch.fix-call-compiled",
	"launch.fix-call-more":    "launch.fix-call-compiled",
	"launch.fix-spread":       "launch.fix-spread-compiled",
	"launch.fix-spread-more":  "launch.fix-spread-compiled",
	"memory.fix-fuse":         "memory.fix-fuse-compiled",
	"compute.fix-less":        "compute.fix-less-compiled",
}

// notAgain replaces advice that the program follows already.
func notAgain(c *facts.Facts, f *finding.Finding) {
	if !slices.ContainsFunc(f.Fix.Advice, func(t wording.Text) bool { return compiledAdvice[t.ID] != "" }) || !c.Compiles() {
		return
	}
	for i := range f.Fix.Advice {
		if other := compiledAdvice[f.Fix.Advice[i].ID]; other != "" {
			f.Fix.Advice[i].ID = other
		}
	}
	if a := &f.Fix.Action; strings.Contains(a.Call+a.Code, compileCall) {
		*a = finding.Action{}
	}
	f.Caveat = slices.DeleteFunc(f.Caveat, func(t wording.Text) bool { return t.ID == "launch.caveat-compile" })
}
