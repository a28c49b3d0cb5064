package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const kernelTrace = realTraces + "segment-anything-fast/amg_example_trace.json.gz"

// TestOpensAtTheVerdict opens the page of a real trace, served and as a file without a network, and reads the answer.
func TestOpensAtTheVerdict(t *testing.T) {
	s, r := session(t, kernelTrace)
	for name, address := range map[string]string{"server": serve(t, page.New(s, r)), "file": file(t, s)} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t)
			if name == "file" {
				call(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: true})
			}
			b.open(address, "")
			text := eval[string](b, `document.querySelector("main").innerText`)
			for _, want := range []string{units.UpperFirst(r.Verdict.Sentence), r.Verdict.Confidence.Why,
				units.Milliseconds(r.Account.TotalMs), r.Findings[0].Evidence[0].Text, r.Findings[0].Fix.Text} {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not say %q; it says %s", want, text)
				}
			}
			if n := eval[int](b, `document.querySelectorAll("article").length`); n != len(r.Findings) {
				t.Errorf("%d findings, the report has %d", n, len(r.Findings))
			}
			b.picture("verdict-" + name)
			for _, asked := range b.asked {
				if !strings.HasPrefix(asked, strings.SplitAfter(address, "page.html")[0]) && asked != "about:blank" &&
					!strings.HasPrefix(asked, "data:") {
					t.Errorf("the page asks for %s", asked)
				}
			}
		})
	}
}

// TestTables compares cells of every table with the report's own numbers as the terminal writes them.
func TestTables(t *testing.T) {
	s, r := session(t, kernelTrace)
	p := page.New(s, r)
	b := newTab(t)
	b.open(serve(t, p), "")
	for _, v := range p.Summary().Views {
		if v.Kind != "table" {
			continue
		}
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q", "#/"+v.ID)))
		b.until(fmt.Sprintf(`document.querySelector("main h1").innerText === %q && document.querySelectorAll(".row").length > 1`, v.Title))
		part, err := p.Part(v.Part)
		if err != nil {
			t.Fatal(err)
		}
		checkCells(b, part.(*page.Table))
	}
}

// checkCells holds the rows that are in sight to the table.
func checkCells(b *tab, table *page.Table) {
	b.t.Helper()
	compareRows(b.t, table, eval[[][]string](b, rowsInSight))
}

// compareRows asks that each row that was shown is one of the table's.
func compareRows(t *testing.T, table *page.Table, shown [][]string) {
	t.Helper()
	var rows [][]string
	for i := range table.Rows {
		rows = append(rows, rowText(table, i))
	}
	for _, row := range shown {
		if !slices.ContainsFunc(rows, func(want []string) bool { return slices.Equal(want, row) }) {
			named := slices.DeleteFunc(slices.Clone(rows), func(want []string) bool { return want[0] != row[0] })
			t.Errorf("%s shows %q, the report has %.400q", table.Name, row, named)
		}
	}
	if len(shown) == 0 {
		t.Errorf("%s shows no row", table.Name)
	}
}

// rowText is a row as the terminal would write its numbers.
func rowText(table *page.Table, i int) []string {
	var out []string
	for _, c := range table.Columns {
		if c.Texts != nil {
			out = append(out, c.Texts[i])
			continue
		}
		v := c.Values[i]
		switch {
		case v == nil:
			out = append(out, "-")
		case c.Unit == "us":
			out = append(out, units.Milliseconds(*v/1e3))
		case c.Unit == "bytes":
			out = append(out, units.Bytes(*v))
		case c.Unit == "share":
			out = append(out, units.Percent(*v))
		case c.Unit == "count":
			out = append(out, units.Count(int64(*v)))
		case *v == float64(int64(*v)):
			out = append(out, fmt.Sprint(int64(*v)))
		default:
			out = append(out, units.Digits(*v))
		}
	}
	return out
}

// TestOperatorsAreTheReports compares the page's operators with the report document.
func TestOperatorsAreTheReports(t *testing.T) {
	s, r := session(t, kernelTrace)
	b := newTab(t)
	b.open(serve(t, page.New(s, r)), "operators?find=aten%3A%3Aadd&sort=name")
	b.until(`document.querySelectorAll(".row").length > 2`)
	cells := eval[[][]string](b, rowsInSight)
	heads := eval[[]string](b, `[...document.querySelectorAll(".row.head > span")].map(c => c.innerText.replace(/ [▾▴]/, ""))`)
	calls, self := slices.Index(heads, "calls"), slices.Index(heads, "self CPU")
	var want [][3]string
	for _, o := range r.KeyAverages {
		if strings.Contains(o.Name, "aten::add") && o.DeviceType == "cpu" && !o.IsUserAnnotation {
			want = append(want, [3]string{o.Name, units.Count(o.Count), units.Milliseconds(o.SelfCPUUs / 1e3)})
		}
	}
	slices.SortFunc(want, func(a, b [3]string) int { return strings.Compare(a[0], b[0]) })
	var got [][3]string
	for _, c := range cells {
		got = append(got, [3]string{c[0], c[calls], c[self]})
	}
	if !slices.Equal(got, want) || len(want) < 3 {
		t.Errorf("the page shows %v, the report has %v", got, want)
	}
}

// TestUnits asks that numbers are written as the terminal writes them, also where they lie between two roundings.
func TestUnits(t *testing.T) {
	var values []*float64
	for _, v := range []float64{0, 1e-3, 0.4, 0.5, 1, 2.5, 9.994, 9.995, 12.25, 12.75, 99.94, 99.95, 100.5, 101.5, 106.5, 999.4, 1000,
		1023, 1024, 1536, 65536.5, 119999, 1.2e5, 7.2e6, 1e9, 3.5e9, 1.1e12, 5e17} {
		values = append(values, &v)
		if v != 0 {
			minus := -v
			values = append(values, &minus)
		}
	}
	values = append(values, nil)
	var names []string
	for i := range values {
		names = append(names, fmt.Sprint("value ", i))
	}
	table := &page.Table{Name: "units", Title: "Units", Rows: len(values), Sort: -1}
	for _, unit := range []string{"us", "bytes", "share", "number"} {
		table.Columns = append(table.Columns, page.Column{Head: unit, Unit: unit, Values: values})
	}
	table.Columns = append([]page.Column{{Head: "text", Unit: "text", Texts: names}}, table.Columns...)
	b := newTab(t)
	b.open(serve(t, parts{"summary": summaryOf(table), "table/units": table}), "units")
	b.until(`document.querySelectorAll(".row").length > 2`)
	checkCells(b, table)
}

// summaryOf is a page with one table.
func summaryOf(t *page.Table) *page.Summary {
	return &page.Summary{Schema: page.Schema, Breakdown: []report.Part{}, Findings: []page.Card{}, Notes: []string{}, Next: []string{},
		Views: []page.View{{ID: t.Name, Kind: "table", Title: t.Title, Group: "Test", Part: "table/" + t.Name, Rows: t.Rows}}}
}

// TestLongTable scrolls through 100,000 rows: wherever it stops, the rows in sight are there.
func TestLongTable(t *testing.T) {
	const rows = 100_000
	table := &page.Table{Name: "long", Title: "Long", Rows: rows, Sort: 1,
		Columns: []page.Column{{Head: "name", Unit: "text"}, {Head: "value", Unit: "count", Bar: true, Sum: true}}}
	for i := range rows {
		v := float64(rows - i)
		table.Columns[0].Texts = append(table.Columns[0].Texts, fmt.Sprintf("row %d", i))
		table.Columns[1].Values = append(table.Columns[1].Values, &v)
	}
	b := newTab(t)
	b.open(serve(t, parts{"summary": summaryOf(table), "table/long": table}), "long")
	b.until(`document.querySelectorAll(".row").length > 10`)
	blank := eval[int](b, `(async () => {
		const grid = document.querySelector(".grid"), box = grid.getBoundingClientRect();
		let blank = 0;
		for (let i = 0; i < 100; i++) {
			grid.scrollTop = i < 70 ? i * 600 : (i * 7919 * 97) % (grid.scrollHeight - box.height);
			await new Promise(requestAnimationFrame);
			await new Promise(requestAnimationFrame);
			const middle = document.elementFromPoint(box.left + 60, box.top + box.height / 2);
			if (!middle.closest(".row")) blank++;
		}
		return blank;
	})()`)
	if blank > 0 {
		t.Errorf("%d of 100 frames were blank", blank)
	}
	if n := eval[int](b, `document.querySelectorAll(".row").length`); n > 200 {
		t.Errorf("%d rows are in the document", n)
	}
	b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector(".grid").focus()`), chromedp.KeyEvent(kb.End))
	b.until(`document.querySelector(".row.chosen")?.textContent.startsWith("row 99999")`)
	b.run(chromedp.KeyEvent("/"))
	b.until(`document.activeElement.matches("[data-filter]")`)
	// the browser is told of the character "/" beside the key
	b.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.value = ""`), chromedp.KeyEvent("row 4242"))
	b.until(`document.querySelectorAll(".row:not(.head):not(.sums)").length === 11`)
}
