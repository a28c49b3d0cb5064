package cause

import (
	"bottleneck/internal/analyse/cause/finding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

// Adding a cause is one rule, one page and one case of the zoo: each cause has all of them, and none has one without the others.
func TestEveryCauseIsComplete(t *testing.T) {
	cases, files := zooCauses(t), ruleFiles(t)
	list, err := os.ReadFile(filepath.Join(root, "docs", "causes", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range IDs() {
		page, err := os.ReadFile(filepath.Join(root, "docs", "causes", id+".md"))
		if err != nil {
			t.Errorf("%s has no page: %v", id, err)
		}
		for _, heading := range []string{"# `" + id + "`", "## How it is found", "## What can fool it", "## How to fix it",
			"## A real report"} {
			if !strings.Contains(string(page), heading) {
				t.Errorf("docs/causes/%s.md lacks %q", id, heading)
			}
		}
		_, report, _ := strings.Cut(string(page), "## A real report")
		if !strings.Contains(report, "```text") || !strings.Contains(report, "["+id) {
			t.Errorf("docs/causes/%s.md shows no report with a finding of it", id)
		}
		if !strings.Contains(string(list), "[`"+id+"`]("+id+".md)") {
			t.Errorf("docs/causes/README.md does not list %s", id)
		}
		if id != finding.Compute && !slices.Contains(cases, id) {
			t.Errorf("no case of testdata/zoo expects %s", id)
		}
		if len(files[id]) == 0 {
			t.Errorf("no file has a rule that makes findings of %s", id)
		}
	}
	for _, id := range cases {
		if id != "none" && !slices.Contains(IDs(), id) {
			t.Errorf("a case of the zoo expects %q, which is no cause", id)
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "causes", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if id := strings.TrimSuffix(filepath.Base(p), ".md"); id != "README" && !slices.Contains(IDs(), id) {
			t.Errorf("docs/causes/%s.md is of no cause", id)
		}
	}
}

// zooCauses are the expected causes of all cases.
func zooCauses(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "testdata", "zoo", "*", "expect.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var out []string
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		var e struct{ Cause string }
		if err := json.Unmarshal(text, &e); err != nil {
			t.Errorf("%s: %v", p, err)
		}
		out = append(out, e.Cause)
	}
	return out
}

// ruleSources are the files of this package and of those beneath it that are no tests and no prices.
func ruleSources(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if !strings.HasSuffix(p, "_test.go") && filepath.Dir(p) != "price" {
				paths = append(paths, p)
			}
		}
	}
	return paths
}

// ruleFiles are the files in which a cause's constant stands in a finding: as the field Cause of a literal, or as the first
// argument of a function that starts one.
func ruleFiles(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string]*ast.File{}
	for _, p := range ruleSources(t) {
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[p] = file
	}
	names := constants(files)
	out := map[string][]string{}
	for p, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			var value ast.Expr
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Cause" {
					value = n.Value
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasSuffix(strings.ToLower(f.Sel.Name), "finding") && len(n.Args) > 0 {
					value = n.Args[0]
				}
			}
			if of, ok := value.(*ast.SelectorExpr); ok {
				value = of.Sel
			}
			if id, ok := value.(*ast.Ident); ok && names[id.Name] != "" {
				out[names[id.Name]] = append(out[names[id.Name]], p)
			}
			return true
		})
	}
	return out
}

// constants are the values of the package's constants that are one literal string each, by their names.
func constants(files map[string]*ast.File) map[string]string {
	out := map[string]string{}
	for _, file := range files {
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range d.(*ast.GenDecl).Specs {
				v := spec.(*ast.ValueSpec)
				if len(v.Names) != 1 || len(v.Values) != 1 {
					continue
				}
				if text, ok := v.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
					out[v.Names[0].Name] = strings.Trim(text.Value, `"`)
				}
			}
		}
	}
	return out
}
