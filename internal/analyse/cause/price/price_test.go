package price_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/price"
)

// declared are the ids of the rows that the book's files declare.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "ID" {
				id, err := strconv.Unquote(pair.Value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				ids[id] = true
			}
			return true
		})
	}
	return ids
}

// Each row says what it is a share of and where it comes from, and stands in the book once.
func TestEachPriceHasItsOrigin(t *testing.T) {
	left := declared(t)
	for _, r := range price.Rows() {
		if !left[r.ID] {
			t.Errorf("%s stands twice in the book, or is declared nowhere", r.ID)
		}
		delete(left, r.ID)
		if r.Low > r.Mid || r.Mid > r.High || r.High <= 0 || r.Low < 0 {
			t.Errorf("%s: bounds out of order: %+v", r.ID, r.Range)
		}
		if r.Unit == "" || r.Of == "" || r.On == "" {
			t.Errorf("%s does not say of what it is a price, or where that comes from: %+v", r.ID, r)
		}
		if r.Kind == price.Measured && r.Points == 0 && r.Span == "" {
			t.Errorf("%s: measured, but not how often or over which range", r.ID)
		}
	}
	for id := range left {
		t.Errorf("%s is declared and no row of the book", id)
	}
}

// Each limit says by the first word beside it, or above it, where it comes from.
func TestEachLimitHasItsOrigin(t *testing.T) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "limits.go", nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	origin := regexp.MustCompile(`^(measured|fitted|guess|mathematics|arithmetic): \S`)
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		if v, ok := node.(*ast.ValueSpec); ok {
			if n++; !origin.MatchString(strings.TrimSpace(v.Doc.Text() + v.Comment.Text())) {
				t.Errorf("%s: %s does not say where it comes from", set.Position(v.Pos()), v.Names[0].Name)
			}
		}
		return true
	})
	if n == 0 {
		t.Error("no limits")
	}
}

// The fewer samples tell of a time, the wider its price; the middle stays.
func TestFewSamplesWiden(t *testing.T) {
	few, many := price.PythonCode.Sampled(10), price.PythonCode.Sampled(10_000)
	if few.Low >= many.Low || few.High <= many.High || few.Mid != many.Mid {
		t.Errorf("of 10 samples %+v, of 10,000 %+v", few, many)
	}
	if one := price.PythonCode.Sampled(1); one.Low != 0 {
		t.Errorf("of one sample %+v, want nothing for certain", one)
	}
}

// What was never measured is priced with a wider interval than what was, within nothing and all; the middle stays.
func TestGuessesWiden(t *testing.T) {
	row := price.Row{Range: price.Range{Low: 0.3, Mid: 0.6, High: 0.9}}
	width := func(k price.Kind) float64 {
		row.Kind = k
		b := row.Bounds()
		if b.Mid != row.Mid || b.Low < 0 || b.High > 1 {
			t.Errorf("%v: %+v of %+v", k, b, row.Range)
		}
		return b.High - b.Low
	}
	measured, fitted, guess := width(price.Measured), width(price.Fitted), width(price.Guess)
	if measured != row.High-row.Low || fitted <= measured || guess <= fitted {
		t.Errorf("intervals are %.2f wide where measured, %.2f fitted, %.2f a guess", measured, fitted, guess)
	}
	if row.Rests() != price.Guess {
		t.Error("a guess is not said")
	}
	if row.Kind = price.Measured; row.Rests() != price.Measured {
		t.Errorf("measured: %s", row.Rests())
	}
	row.Kind, row.Range = price.Guess, price.Range{Low: 0.05, Mid: 1, High: 1}
	if b := row.Bounds(); b.Low != 0 || b.High != 1 || row.Rests() != price.Measured {
		t.Errorf("of the time itself: %+v, %q", b, row.Rests())
	}
}

var update = flag.Bool("update", false, "write docs/prices.md anew")

// page is docs/prices.md, as the book says it.
func page() []byte {
	var b bytes.Buffer
	b.WriteString(`# Prices

What a fix saves is a row of the price book, [internal/analyse/cause/price](../internal/analyse/cause/price), times what the run at hand
shows. A row is **measured** (with the fix and without it), **fitted** (so that prices of programs came out right)
or a **guess** (by experience or reasoning, never measured). The interval of a fitted row is wider than the table says by a twentieth of
its middle to either side, that of a guess by a tenth, though no share becomes more than all; and the basis of a finding says so where the
middle is no measurement and not the time itself.
` + "`go test ./internal/analyse/cause/price -update`" + ` writes this page.

| price | low | middle | high | of | origin | again by |
|---|---|---|---|---|---|---|
`)
	for _, r := range price.Rows() {
		unit := ""
		if r.Unit != "share" {
			unit = " " + r.Unit
		}
		origin := fmt.Sprintf("**%s**: %s", r.Kind, r.On)
		if r.Points > 0 {
			origin += fmt.Sprintf("; points: %d", r.Points)
		}
		if r.Span != "" {
			origin += "; " + r.Span
		}
		again := "–"
		if r.Repeat != "" {
			again = "`" + r.Repeat + "`"
		}
		of := r.Range
		if r.Unit == "ns" {
			of, unit = of.Scale(1e-6), " ms"
		}
		fmt.Fprintf(&b, "| `%s` | %.4g | %.4g | %.4g%s | %s | %s | %s |\n", r.ID, of.Low, of.Mid, of.High, unit, r.Of, origin, again)
	}
	return b.Bytes()
}

// The page says what the book says.
func TestPageOfPrices(t *testing.T) {
	const path = "../../../../docs/prices.md"
	if *update {
		if err := os.WriteFile(path, page(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page()) {
		t.Errorf("docs/prices.md is not what the book says: go test ./internal/analyse/cause/price -update")
	}
}
