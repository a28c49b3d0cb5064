package bottleneck

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the widest line of Go and of the agent's Python; a tab is four columns.
const maxColumns = 140

// TestLinesFit asks that lines fit on a screen. Only a text that cannot be parted is excused: a raw string, and a string without a blank.
func TestLinesFit(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*.go", "internal/agent/py/*.py").Output()
	if err != nil {
		t.Skip("not a checkout")
	}
	for _, path := range strings.Fields(string(out)) {
		if strings.Contains(path, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte("// Code generated")) {
			continue
		}
		excused := map[int]bool{}
		if strings.HasSuffix(path, ".go") {
			excused = unparted(text)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); n > maxColumns && !excused[i+1] {
				t.Errorf("%s:%d is %d columns wide, more than %d", path, i+1, n, maxColumns)
			}
		}
	}
}

// unparted are the lines that hold a string which a line break would change, and that is too long for its line.
func unparted(text []byte) map[int]bool {
	lines := map[int]bool{}
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines
		}
		first := file.Line(pos)
		switch indent := pos - file.LineStart(first); {
		case tok != token.STRING || lit[0] == '"' && strings.Contains(lit, " "):
		case strings.Contains(lit, "\n"):
			for l := range strings.Count(lit, "\n") + 1 {
				lines[first+l] = true
			}
		case len(lit) > maxColumns/2 || int(indent) < 40:
			lines[first] = true
		}
	}
}
