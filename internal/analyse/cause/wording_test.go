package cause

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bottleneck/internal/wording"
)

// sentence matches a literal that only a person would read: three words in a row.
var sentence = regexp.MustCompile(`[A-Za-z,;]{2,} [A-Za-z]+ [a-z]{2,}`)

// textID matches what is a text's id, also where it is chosen before it is said.
var textID = regexp.MustCompile(
	`^(input|io|compile|launch|python|gc|gil|machine|threads|comm|straggler|warmup|nodemand|sync|copy|layout|alloc|memory|precision|` +
		`compute|traced|basis|price|measured|growth|event-loop|share-of|side|common)\.[a-z-]+$`)

// notSaid are literals of several words that are no text of a finding's: what is looked for in names and messages.
var notSaid = regexp.MustCompile(`^(rule %s: internal error: %v)$`)

// Rules hold facts; sentences are in package wording. Every text of it is said by some rule, and every text that is said is there.
func TestNoWordsInRules(t *testing.T) {
	templates, said := wording.Templates(), map[string]bool{}
	for _, file := range ruleSources(t) {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
					return false
				}
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Say" {
					if id, ok := n.Args[0].(*ast.BasicLit); ok && templates[strings.Trim(id.Value, `"`)] == "" {
						t.Errorf("%s: no table has %s", fset.Position(n.Pos()), id.Value)
					}
				}
			case *ast.BasicLit:
				if n.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(n.Value)
				if _, ok := templates[text]; ok {
					said[text] = true
				}
				if textID.MatchString(text) && templates[text] == "" {
					t.Errorf("%s: no table has %q", fset.Position(n.Pos()), text)
				}
				if sentence.MatchString(text) && !notSaid.MatchString(text) {
					t.Errorf("%s: words: %s", fset.Position(n.Pos()), n.Value)
				}
			}
			return true
		})
	}
	for _, id := range slices.Sorted(maps.Keys(templates)) {
		if !said[id] {
			t.Errorf("no rule says %s", id)
		}
	}
}
