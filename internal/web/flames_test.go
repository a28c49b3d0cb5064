package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/units"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// flameOf is a flame graph of a page.
func flameOf(t *testing.T, p *page.Page, name string) *page.Flame {
	t.Helper()
	part, err := p.Part("flame/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return part.(*page.Flame)
}

// pathOf are the names from below the root to a box, without modules' classes.
func pathOf(f *page.Flame, box int) string {
	path := []string{}
	for ; box > 0; box = f.Parent[box] {
		name, _, _ := strings.Cut(f.Names[f.Frame[box]], " (")
		path = append([]string{name}, path...)
	}
	return strings.Join(path, ".")
}

// TestModuleFlame compares the boxes of a recorded model's modules with the report's rows, and opens the picture.
func TestModuleFlame(t *testing.T) {
	path := recordWith(t, []string{"--with-modules"}, "../../examples/images.py", "--epochs", "2", "--images", "1280")
	s, r := session(t, path)
	doc := asJSON(t, path)
	p := page.New(s, r)
	flame := flameOf(t, p, "modules")
	boxes := map[string]int{}
	for i := range flame.Frame {
		boxes[pathOf(flame, i)] = i
	}
	sum, rows := 0.0, 0
	for _, table := range doc.Tables {
		if table.Name != "modules" {
			continue
		}
		for _, row := range table.Rows {
			if row.Cells[1].Text == "" {
				sum += *row.Cells[3].Value // outside modules
				continue
			}
			name, self, total := row.Cells[0].Text, *row.Cells[3].Value, *row.Cells[4].Value
			sum, rows = sum+self, rows+1
			box, ok := boxes[name]
			if !ok && self < flame.Small {
				continue
			}
			if !ok || !nearly(flame.Self[box], self, 1e-6) && self > 1 || !nearly(flame.Total[box], total, 1e-3) && total > 1 {
				t.Errorf("%s: box %d has %g of %g µs, the report has %g of %g", name, box, flame.Self[box], flame.Total[box], self, total)
			}
		}
	}
	if rows < 3 || !nearly(flame.Total[0], sum, 1e-6) {
		t.Errorf("all modules take %g µs, the %d rows of the report %g", flame.Total[0], rows, sum)
	}
	b := newTab(t)
	b.open(serve(t, p), "flame-modules")
	b.until(fmt.Sprintf(`document.querySelector("canvas")?.dataset.boxes === "%d"`, len(flame.Frame)))
	b.js(`document.querySelector("canvas").focus()`)
	b.press(kb.ArrowDown)
	b.until(fmt.Sprintf(`document.querySelector(".chosen-box").innerText.includes(%q)`, "total "+units.Milliseconds(flame.Total[1]/1e3)))
	b.picture("flame-modules")
}
