package cpython

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// A new release of CPython is one row: no other code asks for a version's number.
func TestOnlyReleasesAskForTheVersion(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "releases.go" {
			continue
		}
		tree, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Minor" {
				t.Errorf("%s asks for the version's number: let the release's row in releases.go say what differs", set.Position(s.Pos()))
			}
			return true
		})
	}
}

// Each row tells either its offsets or the orders in which the process tells them, and newer versions are read like the last row.
func TestReleases(t *testing.T) {
	for i, r := range releases {
		if (r.layout == nil) == (len(r.sections) == 0) {
			t.Errorf("3.%d has both offsets and orders of them, or neither", r.minor)
		}
		if i > 0 && r.minor <= releases[i-1].minor {
			t.Errorf("3.%d stands behind 3.%d", r.minor, releases[i-1].minor)
		}
	}
	last := releases[len(releases)-1]
	if row, known := releaseOf(last.minor + 1); known || row.minor != last.minor {
		t.Errorf("3.%d is read like 3.%d, known %v", last.minor+1, row.minor, known)
	}
}
