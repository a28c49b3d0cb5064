package main

import (
	"slices"
	"strings"
	"testing"
)

// The issue asks for forty programs of twenty repositories in two halves; each can be checked, and its changes can be made.
func TestProgramsAreWhole(t *testing.T) {
	programs, err := readPrograms("", nil)
	if err != nil {
		t.Fatal(err)
	}
	pins, err := readPins(filesText)
	if err != nil {
		t.Fatal(err)
	}
	ids, repositories, halves := map[string]bool{}, map[string]bool{}, map[string]int{}
	for i := range programs {
		p := &programs[i]
		if ids[p.ID] {
			t.Errorf("%s stands twice", p.ID)
		}
		ids[p.ID], repositories[p.Repository] = true, true
		halves[p.half()]++
		needed := p.pinsOf(pins)
		for _, path := range p.Paths {
			if !slices.ContainsFunc(needed, func(f pin) bool { return f.path == path || strings.HasPrefix(f.path, path+"/") }) {
				t.Errorf("%s: %s is not pinned", p.ID, path)
			}
		}
		if len(p.Command) == 0 {
			t.Errorf("%s has no command", p.ID)
		}
		checkChanges(t, p, needed)
	}
	if len(ids) < 40 || len(repositories) < 20 {
		t.Errorf("%d programs of %d repositories, want 40 of 20", len(ids), len(repositories))
	}
	if halves["build"] < len(ids)/4 || halves["held"] < len(ids)/4 {
		t.Errorf("halves %v", halves)
	}
}

func checkChanges(t *testing.T, p *program, needed []pin) {
	t.Helper()
	names := []string{original, plainSide, toolSide, againSide, "hf", "session"}
	for _, c := range p.Changes {
		if slices.Contains(names, c.Name) || c.Name == "" {
			t.Errorf("%s: a change is called %q, which is taken", p.ID, c.Name)
		}
		names = append(names, c.Name)
		if len(c.Edits) == 0 && len(c.Command) == 0 && len(c.Environment) == 0 {
			t.Errorf("%s: %s changes nothing", p.ID, c.Name)
		}
		for _, e := range c.Edits {
			if !slices.ContainsFunc(needed, func(f pin) bool { return f.path == e.File }) {
				t.Errorf("%s: %s edits %s, which is not pinned", p.ID, c.Name, e.File)
			}
		}
	}
}

func TestHalvesPartTheNames(t *testing.T) {
	whole, err := readPrograms("", nil)
	if err != nil {
		t.Fatal(err)
	}
	var parts int
	for _, half := range []string{"build", "held"} {
		some, err := readPrograms(half, nil)
		if err != nil {
			t.Fatal(err)
		}
		parts += len(some)
	}
	if parts != len(whole) {
		t.Errorf("halves have %d programs, all %d", parts, len(whole))
	}
	if _, err := readPrograms("", []string{"no-such-*"}); err == nil {
		t.Error("a pattern that no name matches was taken")
	}
}

func TestEdits(t *testing.T) {
	lines := []string{"one", "two", "three"}
	for _, test := range []struct {
		name string
		e    edit
		want string // "": refused
	}{
		{"a word", edit{First: 2, Old: "two", New: "2"}, "one 2 three"},
		{"lines", edit{First: 1, Last: 2, Old: "one", Text: []string{"x", "y", "z"}}, "x y z three"},
		{"before a line", edit{First: 3, Last: 2, Old: "three", Text: []string{"x"}}, "one two x three"},
		{"a line that is another one now", edit{First: 2, Old: "five", New: "2"}, ""},
		{"beyond the end", edit{First: 9, Text: []string{"x"}}, ""},
		{"backwards", edit{First: 3, Last: 1}, ""},
	} {
		got, err := test.e.apply(slices.Clone(lines))
		if text := strings.Join(got, " "); text != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v; want %q", test.name, text, err, test.want)
		}
	}
}
