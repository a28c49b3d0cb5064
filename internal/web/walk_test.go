package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bottleneck/internal/units"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// looker is a page in a browser of any kind.
type looker interface {
	// text evaluates an expression, or waits for it where it is a promise, and gives its value as JSON.
	text(expression string) string
	until(condition string)
	picture(name string)
}

func (b *tab) text(expression string) string {
	b.t.Helper()
	return eval[string](b, "(async () => JSON.stringify(await ("+expression+")) ?? \"null\")()")
}

// look evaluates an expression in a browser.
func look[T any](t *testing.T, b looker, expression string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(b.text(expression)), &v); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// coloursOf counts the colours of every canvas in sight: a blank one has one.
const coloursOf = `Math.min(...[...document.querySelectorAll("canvas")].map(c => {
	const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
	for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i+1] << 8 | d[i+2]);
	return seen.size;
}))`

// walk opens every view of a page that is open, searches in it, and compares what it shows with the page's parts. isFile leaves out what a
// file has no server for.
func walk(t *testing.T, b looker, p *page.Page, name string, isFile bool) {
	t.Helper()
	for _, v := range p.Summary().Views {
		b.text(fmt.Sprintf(`(location.hash = "#/" + encodeURIComponent(%q), 0)`, v.ID))
		part, err := p.Part(v.Part)
		if err != nil {
			t.Fatal(err)
		}
		title := v.Title
		if f, ok := part.(*page.Flame); ok {
			title = f.Title
		}
		b.until(fmt.Sprintf(`location.hash === "#/" + encodeURIComponent(%q) && document.querySelector("main h1").innerText === %q`, v.ID, title))
		switch part := part.(type) {
		case *page.Table:
			walkTable(t, b, part)
		case *page.Flame:
			walkFlame(t, b, part, v.ID)
		case *page.Panels:
			walkPanels(t, b, part)
		case *page.Sources:
			walkSource(t, b, p, part)
		case *page.Switches:
			b.until(`document.querySelector(".answer")?.innerText.length > 10 || document.querySelector("main").innerText.length > 40`)
		default:
			b.until(timelineDrawn)
			if n := look[int](t, b, coloursOf); n < 8 {
				t.Errorf("%s: the timeline is drawn with %d colours", name, n)
			}
		}
		b.picture("walk-" + name + "-" + v.ID)
	}
	if !isFile {
		b.text(`(location.hash = "#/verdict", 0)`)
	}
}

const timelineDrawn = `document.querySelector("canvas")?.dataset.waiting === "false" && document.querySelector("canvas").dataset.boxes > 0`

const rowsInSight = `[...document.querySelectorAll(".row:not(.head):not(.sums)")].map(r => [...r.children].map(c => c.textContent))`

// walkTable compares the rows in sight with the table, sorts by each column both ways, filters by the first row's name, and groups.
func walkTable(t *testing.T, b looker, table *page.Table) {
	t.Helper()
	b.until(`document.querySelectorAll(".row").length > 1`)
	compareRows(t, table, look[[][]string](t, b, rowsInSight))
	for i, c := range table.Columns {
		if i > 2 && i != table.Sort {
			continue // all columns sort by the same code; texts and numbers are among these
		}
		for _, sign := range []string{"", "-"} {
			b.text(fmt.Sprintf(`(location.hash = "#/%s?sort=" + encodeURIComponent(%q), 0)`, table.Name, sign+c.Head))
			order := slices.Clone(orderOf(table, i, sign == "-"))
			want := rowText(table, order[0])
			b.until(fmt.Sprintf(`document.querySelectorAll(".row:not(.head)")[0].children[%d].textContent === %q`, i, want[i]))
		}
	}
	find := rowText(table, 0)[0]
	if find == "" || len(find) > 60 {
		return
	}
	holds := 0
	for i := range table.Rows {
		for k, c := range table.Columns {
			if c.Texts != nil && strings.Contains(strings.ToLower(table.Columns[k].Texts[i]), strings.ToLower(find)) {
				holds++
				break
			}
		}
	}
	if table.Columns[0].Texts == nil {
		return
	}
	b.text(fmt.Sprintf(`(location.hash = "#/%s?find=" + encodeURIComponent(%q), 0)`, table.Name, find))
	of := units.Count(int64(holds)) + " "
	b.until(fmt.Sprintf(`document.querySelector(".tools [role=status]").innerText.startsWith(%q)`, of))
}

// orderOf are the rows of a table in the order of a column: numbers from the largest, texts from the first; reversed the other way.
func orderOf(table *page.Table, column int, reversed bool) []int {
	c, order := table.Columns[column], make([]int, table.Rows)
	for i := range order {
		order[i] = i
	}
	less := func(a, b int) int {
		if c.Texts != nil {
			return strings.Compare(c.Texts[a], c.Texts[b])
		}
		switch x, y := c.Values[a], c.Values[b]; {
		case x == nil && y == nil:
			return 0
		case x == nil:
			return 1
		case y == nil:
			return -1
		case *x > *y:
			return -1
		case *x < *y:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if reversed {
			return less(b, a)
		}
		return less(a, b)
	})
	return order
}

// walkFlame draws a flame graph in all its ways and searches for its largest call.
func walkFlame(t *testing.T, b looker, f *page.Flame, id string) {
	t.Helper()
	b.until(fmt.Sprintf(`+document.querySelector("canvas")?.dataset.boxes === %d`, len(f.Frame)))
	value := func(v float64) string {
		if f.Unit == "bytes" {
			return units.Bytes(v)
		}
		return units.Milliseconds(v / 1e3)
	}
	b.until(fmt.Sprintf(`document.querySelector(".tools [role=status]").innerText.includes(%q)`, value(f.Total[0])))
	if len(f.Frame) < 2 {
		return
	}
	first := f.Names[f.Frame[1]]
	shows := map[string]string{"flame": `document.querySelectorAll("canvas").length === 1`, "sunburst": `document.querySelector("canvas").dataset.rings > 1`,
		"inverted": `document.querySelectorAll("canvas").length === 1`,
		"sandwich&of=' + encodeURIComponent(" + fmt.Sprintf("%q", first) + ") + '": `document.querySelectorAll("canvas").length === 2`}
	for show, drawn := range shows {
		b.text(fmt.Sprintf(`(location.hash = '#/%s?show=%s', 0)`, id, show))
		b.until(drawn + ` && document.querySelector("canvas").width > 100`)
		if n := look[int](t, b, coloursOf); n < 2 {
			t.Errorf("%s, %s: drawn with %d colours", id, show, n)
		}
	}
	b.text(fmt.Sprintf(`(location.hash = "#/%s?find=" + encodeURIComponent(%q), 0)`, id, first))
	b.until(`/[1-9].* matches/.test(document.querySelector(".tools [role=status]").innerText)`)
}

// walkPanels asks that each chart has marks, reads its first value by keys, and that the tables below are there.
func walkPanels(t *testing.T, b looker, p *page.Panels) {
	t.Helper()
	b.until(fmt.Sprintf(`document.querySelectorAll(".chart svg").length === %d && document.querySelectorAll(".within .grid").length === %d`,
		len(p.Charts), len(p.Tables)))
	for i, c := range p.Charts {
		marked := fmt.Sprintf(`[...document.querySelectorAll(".chart")[%d].querySelectorAll("svg path")].some(p => p.getAttribute("d").length > 2)`, i)
		if !look[bool](t, b, marked) {
			t.Errorf("%s has no mark", c.Title)
		}
		said := look[string](t, b, fmt.Sprintf(`(async () => {
			const figure = document.querySelectorAll(".chart")[%d];
			figure.querySelector("svg").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
			await new Promise(r => setTimeout(r, 30));
			return figure.querySelector(".reads").innerText.trim();
		})()`, i))
		if said == "" {
			t.Errorf("%s says nothing of its first value", c.Title)
		}
	}
}

// walkSource compares the times beside the lines of the first text with the part.
func walkSource(t *testing.T, b looker, p *page.Page, all *page.Sources) {
	t.Helper()
	part, err := p.Part(all.Files[0].Part)
	if err != nil {
		t.Fatal(err)
	}
	source := part.(*page.Source)
	b.until(fmt.Sprintf(`document.querySelectorAll("tr[data-line]").length === %d`, len(source.Lines)))
	shown := look[[][]string](t, b, `[...document.querySelectorAll("tr[data-line]")].map(r => [r.children[0].textContent, r.children[1].textContent, r.children[4].textContent])`)
	for i, line := range source.Lines {
		want := []string{"", "", line}
		if source.Own[i] > 0 {
			want[0] = units.Milliseconds(source.Own[i] / 1e3)
		}
		if source.Total[i] > 0 {
			want[1] = units.Milliseconds(source.Total[i] / 1e3)
		}
		if !slices.Equal(shown[i], want) {
			t.Errorf("line %d shows %q, not %q", i+1, shown[i], want)
		}
	}
}

// promised are views that a page of sessions and traces can have; each is opened by TestEveryView. flame-modules-device is missing: no real
// file here has modules and a device's work.
var promised = []string{"timeline", "flame-python", "flame-native", "flame-operators", "flame-device", "flame-modules",
	"flame-memory", "flame-calls", "source", "what-if", "operators", "annotations", "kernels", "copies",
	"collectives", "modules", "lines", "functions", "actions", "calls", "native", "steps", "workers", "ranks", "memory", "roofline",
	"environment", "diagnostics", "gpu", "idle", "launches", "streams", "critical-path", "step-parts", "phases", "loaders", "stages",
	"processes", "system", "packages", "files", "slow-steps", "snapshots", "snapshot-live"}

// TestEveryView opens every view of recorded runs and of real files of every kind, and asks that no promised one was without a case.
func TestEveryView(t *testing.T) {
	cases := map[string]func() []string{
		"images": func() []string {
			return []string{recordWith(t, []string{"--with-modules"}, "../../examples/images.py", "--epochs", "2", "--images", "1280")}
		},
		"native": func() []string {
			return []string{recordWith(t, []string{"--native"}, "../../examples/table.py", "--epochs", "2", "--trips", "40000")}
		},
		"lightning": func() []string { return []string{record(t, "../../examples/lightning_trainer.py", "--steps", "60")} },
		"ranks":     func() []string { return []string{ranksRun(t)} },
		"kernels":   func() []string { return []string{kernelTrace} },
		"stacks":    func() []string { return []string{stackTrace} },
		"memory":    func() []string { return []string{realTraces + "torchao/gtx1650_llama_with_stack_memory.json.gz"} },
		"snapshot": func() []string {
			return []string{realTraces + "cuda-memory-snapshot/cs336_wedsonlin_512_inference.pickle"}
		},
		"pstats": func() []string { return []string{realTraces + "pstats/amazon_review_train.prof"} },
		"resnet": func() []string { return []string{realTraces + otherFiles["trace.json.gz"]} },
		"rocm":   func() []string { return []string{realTraces + realFive[4]} },
	}
	opened, left := map[string]bool{}, false
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		ok := t.Run(name, func(t *testing.T) {
			defer func() { left = left || t.Skipped() }()
			if slices.Contains([]string{"lightning", "native", "resnet", "rocm", "stacks"}, name) { // all cases together open all views
				testkit.Wide(t, true)
			}
			s, r := session(t, cases[name]()...)
			p := page.New(s, r)
			b := newTab(t)
			b.open(serve(t, p), "")
			sayVerdict(t, b, asJSON(t, cases[name]()[0]))
			walk(t, b, p, name, false)
			for _, v := range p.Summary().Views {
				opened[v.ID] = true
			}
		})
		left = left || !ok
	}
	for _, id := range promised {
		if !opened[id] && !left {
			t.Errorf("no session here has the view %s", id)
		}
	}
}

// sayVerdict compares the first view with the document that report --json writes.
func sayVerdict(t *testing.T, b looker, doc *report.Report) {
	t.Helper()
	b.until(fmt.Sprintf(`document.querySelector("main h1").innerText === %q`, units.UpperFirst(doc.Verdict.Sentence)))
	text := look[string](t, b, `document.querySelector("main").innerText`)
	want := []string{doc.Verdict.Confidence.Why}
	if doc.Account != nil {
		want = append(want, units.Milliseconds(doc.Account.TotalMs))
	}
	for _, f := range doc.Findings {
		want = append(want, units.UpperFirst(f.Title), f.Fix.Text, f.Evidence[0].Text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("the page does not say %q", w)
		}
	}
}
