package facts

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/wording"
)

// OnlyLine is the line of the user's sources that a test chooses; ok is false where none or several do.
func (c *Facts) OnlyLine(is func(text string) bool) (at finding.UserLine, ok bool) {
	lines := c.UserLines(is)
	if len(lines) > 0 {
		at = lines[len(lines)-1]
	}
	return at, len(lines) == 1
}

// UserLines are the lines of the user's sources that a test chooses, without comments.
func (c *Facts) UserLines(is func(text string) bool) (out []finding.UserLine) {
	for _, path := range slices.Sorted(maps.Keys(c.S.Sources)) {
		if code.ClassifyFile(path) != code.FileUser && !c.C.IsOwn(path) || c.S.Sources[path] == nil {
			continue
		}
		for i, text := range c.S.Sources[path].Lines {
			if code := strings.TrimSpace(text); !strings.HasPrefix(code, "#") && is(code) {
				out = append(out, finding.UserLine{File: path, Line: i + 1, Text: code})
			}
		}
	}
	return out
}

// OwnLines are those of the program's own files, which a library's code that serves many programs is none of, without definitions.
func (c *Facts) OwnLines(is func(text string) bool) []finding.UserLine {
	return slices.DeleteFunc(c.UserLines(is), func(l finding.UserLine) bool {
		return code.ClassifyFile(l.File) != code.FileUser || Defines(l.Text)
	})
}

// Defines says that a line computes nothing by itself.
func Defines(text string) bool { return definition.MatchString(text) }

var definition = regexp.MustCompile(`^(?:def|class|import|from|@)\b`)

// holdsLoop says that an event loop runs the code in which most of the members' samples (indices of attributed ones) sleep: no other
// coroutine can run meanwhile.
func (c *Facts) holdsLoop(members []int) bool {
	n := 0
	for _, m := range members {
		if c.C.InEventLoop(c.P.Samples.Stack[c.B.Samples[m].Index]) {
			n++
		}
	}
	return 2*n > len(members)
}

// AtLoop rewrites a finding about a call that sleeps, where it holds up an event loop.
func (c *Facts) AtLoop(f *finding.Finding, members []int) {
	if !c.holdsLoop(members) {
		return
	}
	f.Evidence = append(f.Evidence, wording.Say("event-loop.runs"))
	f.Fix = finding.Fix{Advice: []wording.Text{wording.Say("event-loop.fix")}}
	f.Caveat = []wording.Text{wording.Say("event-loop.caveat")}
}
