package cause

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sources are the files of ruleSources, by path.
func sources(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	set := token.NewFileSet()
	files := map[string]*ast.File{}
	for _, name := range ruleSources(t) {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	return set, files
}

// factsOf are the names under which a function knows facts.
func factsOf(f *ast.FuncDecl) (names []string) {
	lists := []*ast.FieldList{f.Recv, f.Type.Params}
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			star, pointer := field.Type.(*ast.StarExpr)
			if !pointer {
				continue
			}
			of, ok := star.X.(*ast.Ident)
			if from, other := star.X.(*ast.SelectorExpr); other {
				of, ok = from.Sel, true
			}
			if ok && (of.Name == "Facts" || of.Name == "Traced") {
				for _, n := range field.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// written is the variable a part of which an expression on the left of an assignment sets; "" where it is a variable itself.
func written(e ast.Expr) string {
	for part := false; ; part = true {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			if part {
				return x.Name
			}
			return ""
		default:
			return ""
		}
	}
}

// What rules tell each other goes through the ledger: none of them changes the facts that all of them read.
func TestRulesLeaveFactsAsTheyAre(t *testing.T) {
	set, files := sources(t)
	for _, file := range files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			facts := factsOf(f)
			ast.Inspect(f.Body, func(n ast.Node) bool {
				var left []ast.Expr
				switch n := n.(type) {
				case *ast.AssignStmt:
					left = n.Lhs
				case *ast.IncDecStmt:
					left = []ast.Expr{n.X}
				}
				for _, e := range left {
					if slices.Contains(facts, written(e)) {
						t.Errorf("%s: %s changes the facts", set.Position(e.Pos()), f.Name.Name)
					}
				}
				return true
			})
		}
	}
}

// plain are the numbers that a rule may write down: nothing, all, twice, most of something, a ratio of one, and the factors of units.
var plain = []float64{0, 1, 2, 0.5, 1e3, 1e6, 1e9}

func number(e ast.Expr) (v float64, ok bool) {
	if l, is := e.(*ast.BasicLit); is && (l.Kind == token.FLOAT || l.Kind == token.INT) {
		v, err := strconv.ParseFloat(strings.ReplaceAll(l.Value, "_", ""), 64)
		return v, err == nil
	}
	return 0, false
}

// Prices stand in the price book, where each has its origin: a rule has no number of its own, and no range.
func TestRulesHoldNoPrices(t *testing.T) {
	set, files := sources(t)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if v, ok := number(n); ok && n.Kind == token.FLOAT && !slices.Contains(plain, v) {
					t.Errorf("%s: %s is a row or a limit of the price book", set.Position(n.Pos()), n.Value)
				}
			case *ast.CompositeLit:
				if of, ok := n.Type.(*ast.Ident); ok && of.Name == "Range" {
					noNumbers(t, set, n.Elts)
				}
			case *ast.CallExpr:
				if of, ok := n.Fun.(*ast.Ident); ok && of.Name == "bounds" {
					noNumbers(t, set, n.Args)
				}
			}
			return true
		})
	}
}

func noNumbers(t *testing.T, set *token.FileSet, parts []ast.Expr) {
	for _, e := range parts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if v, ok := number(e); ok && v != 0 {
			t.Errorf("%s: a range with %v in it is a row of the price book", set.Position(e.Pos()), v)
		}
	}
}
