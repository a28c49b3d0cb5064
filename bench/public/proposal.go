package main

import (
	"os"
	"path/filepath"
	"strings"
)

// fix is what a report says of a finding's fix (docs/report.schema.json), as far as a program can make it.
type fix struct {
	IDs   []string // of the advice's sentences
	Was   string
	Where *struct {
		File string
		Line int
	}
	Action *struct {
		Kind, Variable, Value, Line, Before string
		Saving                              *saving
	}
}

// saving is what a report promises.
type saving struct {
	RunS *span `json:"run_s"`
}

// alone is what the change alone is promised to save, nil where that is what the finding says.
func (f *fix) alone() *span {
	if f.Action == nil || f.Action.Saving == nil {
		return nil
	}
	return f.Action.Saving.RunS
}

// ofTool is the name of the change that a finding makes itself.
const ofTool = "proposed"

// proposal is the change that a report's first finding makes itself, as `bottleneck prove` would make it; nil where it has only advice, or
// changes a file that is not the program's own.
func (c *copies) proposal(s *said) *change {
	a := s.fix.Action
	switch {
	case s.Cause == "" || a == nil:
		return nil
	case a.Kind == "set-environment":
		return &change{Name: ofTool, Environment: map[string]string{a.Variable: a.Value}}
	case s.fix.Was+a.Before == "" || a.Line == "" || s.fix.Where == nil:
		return nil
	}
	file, err := filepath.Rel(filepath.Join(c.dir, original), s.fix.Where.File)
	if err != nil || !filepath.IsLocal(file) {
		return nil
	}
	at := s.fix.Where.Line
	e := edit{File: file, First: at, Old: strings.TrimSpace(s.fix.Was), New: a.Line}
	if a.Before != "" {
		text, err := os.ReadFile(s.fix.Where.File)
		lines := strings.Split(string(text), "\n")
		if err != nil || at < 2 || at > len(lines) {
			return nil
		}
		indent := lines[at-1][:len(lines[at-1])-len(strings.TrimLeft(lines[at-1], " \t"))]
		e = edit{File: file, First: at, Last: at - 1, Old: strings.TrimSpace(a.Before), Text: []string{indent + a.Line}}
	}
	return &change{Name: ofTool, Edits: []edit{e}}
}

// changes are a program's recorded ones, and the one that the tool makes.
func (m *measured) changes(p *program) []*change {
	var all []*change
	for i := range p.Changes {
		all = append(all, &p.Changes[i])
	}
	if m.Proposed != nil {
		all = append(all, m.Proposed)
	}
	return all
}

// named is the change of a name, nil for none.
func (m *measured) named(p *program, name string) *change {
	for _, ch := range m.changes(p) {
		if ch.Name == name {
			return ch
		}
	}
	return nil
}

// proposes says that a change is what the first report proposes: the one that its finding makes itself, else those that are recorded for
// its cause.
func (m *measured) proposes(ch *change, first *said) bool {
	if m.Proposed != nil {
		return ch == m.Proposed
	}
	return first.Cause != "" && ch.proposes(first.Cause, first.Sub, first.Advice)
}
