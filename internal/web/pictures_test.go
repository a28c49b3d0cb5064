package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bottleneck/internal/units"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// js runs a statement in the page.
func (b *tab) js(format string, args ...any) {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(format, args...)))
}

// press sends keys to what has the focus.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.run(chromedp.KeyEvent(k))
	}
}

const stackTrace = realTraces + "tracelens-small/normalization_layers_mi300.json.gz"

// TestTimeline searches, zooms and pans, served and as a file.
func TestTimeline(t *testing.T) {
	s, r := session(t, kernelTrace)
	p := page.New(s, r)
	found, err := p.Part("find/addmm")
	if err != nil {
		t.Fatal(err)
	}
	longest := found.(*page.Found).Longest[0]
	for _, f := range found.(*page.Found).Longest {
		if f.Us > longest.Us {
			longest = f
		}
	}
	for name, address := range map[string]string{"server": serve(t, p), "file": file(t, s)} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t)
			b.open(address, "timeline")
			drawn := `document.querySelector("canvas")?.dataset.waiting === "false" && document.querySelector("canvas").dataset.boxes > 0`
			b.until(drawn)
			b.picture("timeline-" + name)
			if colours := eval[int](b,
				`(() => { const c = document.querySelector("canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
				for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i+1] << 8 | d[i+2]); return seen.size })()`); colours < 20 {
				t.Errorf("the timeline is drawn with %d colours", colours)
			}
			b.js(`document.querySelector("canvas").focus()`)
			b.press("w", "w", "w", "d", "d")
			b.until(`+document.querySelector("canvas").dataset.from > 0 && ` + drawn)
			from := eval[float64](b, `+document.querySelector("canvas").dataset.from`)
			b.press(kb.ArrowLeft)
			b.until(fmt.Sprintf(`+document.querySelector("canvas").dataset.from < %g`, from))
			b.press("0")
			b.until(`document.querySelector("canvas").dataset.from === "0"`)
			b.press(".")
			b.until(`document.querySelector(".chosen-box").innerText.includes(" at ")`)
			if name == "file" {
				return // which has no server to ask for names
			}
			b.js(`location.hash = "#/timeline?find=addmm"`)
			b.until(`document.querySelector(".chosen-box").innerText.includes("addmm")`)
			text := eval[string](b, `document.querySelector(".chosen-box").innerText`)
			if !strings.Contains(text, units.Milliseconds(longest.Us/1e3)) {
				t.Errorf("the longest match takes %s; chosen is %q", units.Milliseconds(longest.Us/1e3), text)
			}
			b.press("m")
			b.until(`document.querySelector(".sums-table")?.innerText.includes("addmm")`)
		})
	}
}

// TestFlame walks through a flame graph by keys and compares a box with the report's tree.
func TestFlame(t *testing.T) {
	s, r := session(t, stackTrace)
	p := page.New(s, r)
	part, err := p.Part("flame/operators")
	if err != nil {
		t.Fatal(err)
	}
	flame := part.(*page.Flame)
	b := newTab(t)
	b.open(serve(t, p), "flame-operators")
	b.until(fmt.Sprintf(`document.querySelector("canvas")?.dataset.boxes === "%d"`, len(flame.Frame)))
	b.js(`document.querySelector("canvas").focus()`)
	b.press(kb.ArrowDown, kb.ArrowDown)
	at := 0
	for range 2 {
		for i := range flame.Parent {
			if flame.Parent[i] == at {
				at = i
				break
			}
		}
	}
	b.until(fmt.Sprintf(`document.querySelector(".chosen-box").innerText.startsWith(%q)`, flame.Names[flame.Frame[at]]))
	text := eval[string](b, `document.querySelector(".chosen-box").innerText`)
	if want := fmt.Sprintf("total %s (%s)", units.Milliseconds(flame.Total[at]/1e3),
		units.Percent(flame.Total[at]/flame.Total[0])); !strings.Contains(text, want) {
		t.Errorf("%q does not say %q", text, want)
	}
	b.press("s")
	b.until(`document.querySelectorAll("canvas").length === 2`)
	b.picture("sandwich")
	b.js(`location.hash = "#/flame-operators?show=inverted"`)
	b.until(`document.querySelectorAll("canvas").length === 1`)
	b.js(`location.hash = "#/flame-operators?find=layer_norm"`)
	b.until(`document.querySelector(".tools [role=status]").innerText.includes("matches") && !document.querySelector(".tools [role=status]").innerText.startsWith("0.0 %%")`)
}

// hostile are names as a stranger's trace may hold them.
var hostile = []string{
	`<script>window.pwned = 1</script>`, `"><img src=x onerror="window.pwned=1">`, `</script><script>window.pwned=1</script>`,
	"javascript:window.pwned=1//", "\u202eright to left\u202c", "line\nbreak\ttab", "emoji 🐢🔥👩‍👩‍👧", "${window.pwned=1}", "__proto__",
	"constructor", strings.Repeat("long ", 2000), "null\x00byte", "]]>--><!--",
}

// TestHostileNames opens every view of a trace with hostile names in every place, served and as a file: nothing of them runs.
func TestHostileNames(t *testing.T) {
	trace := testkit.NewTrace().Key("traceName", hostile[0]).Key("host_name", hostile[1]).Key("custom"+hostile[2], hostile[0])
	for i, name := range hostile {
		at := int64(i) * 1_000_000
		trace.X("python_function", name+": fn", 1, 1, at, 900_000).Op(name, 1, at+1000, 500_000, "Input Dims", name, "Call stack", name)
		trace.Launch(name, 1, at+5000, 5000, at+200_000, 100_000, i+1).X("user_annotation", name, 1, 1, at+600_000, 100_000)
	}
	path := filepath.Join(t.TempDir(), "<img src=x onerror=pwned=1>.json")
	if err := os.WriteFile(path, []byte(trace.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s, r := session(t, path)
	r.Next = append(r.Next, hostile...)
	r.Verdict.Sentence = hostile[1]
	for _, name := range hostile {
		f := report.Finding{Cause: name, Title: name, Of: "run", Where: report.Where{File: name, Line: 1, Function: name, Source: name,
			Op: name}, Caveat: name,
			Fix:      report.Fix{Text: name, Was: name, Change: name, Where: &report.Place{File: name, Line: 1}},
			Evidence: []report.Evidence{{Text: name}}}
		r.Findings = append(r.Findings, f)
	}
	p := page.New(s, r)
	for name, address := range map[string]string{"server": serve(t, p), "file": file(t, s)} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t)
			b.open(address, "")
			for _, v := range append(p.Summary().Views, page.View{ID: "verdict"}, page.View{ID: hostile[1], Kind: "none"}) {
				b.js(`location.hash = "#/" + encodeURIComponent(%q)`, v.ID)
				if v.Kind == "none" {
					b.until(`document.querySelector("main").innerText.includes("There is no view")`)
				} else {
					b.until(`document.querySelector("main h1")`)
				}
				if bad := eval[string](b, `String(window.pwned ?? "") + [...document.querySelectorAll("main img, main script, main iframe, [onerror]")].map(e => e.outerHTML)`); bad != "" {
					t.Fatalf("%s: %s", v.ID, bad)
				}
			}
			b.js(`location.hash = "#/operators?find=%%3Cscript"`)
			b.until(`[...document.querySelectorAll(".row")].some(r => r.textContent.includes("<script>window.pwned = 1</script>"))`)
			b.js(`document.querySelector(".row:not(.head)").click()`)
			b.until(`document.querySelector(".details")?.innerText.includes("<script>")`)
			b.picture("hostile-" + name)
		})
	}
}

// TestAccessible runs axe-core over the views: nothing serious.
func TestAccessible(t *testing.T) {
	modules, err := exec.Command("../../scripts/ui.sh", "--modules").Output()
	if err != nil {
		t.Skipf("axe-core cannot be had: %v", err)
	}
	axe, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(modules)), "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	s, r := session(t, stackTrace)
	p := page.New(s, r)
	b := newTab(t)
	b.open(serve(t, p), "")
	b.js("%s", axe)
	views := []string{"verdict"}
	kinds := map[string]bool{}
	for _, v := range p.Summary().Views {
		if !kinds[v.Kind] || v.Kind == "panels" { // tables and flame graphs are alike
			views = append(views, v.ID)
		}
		kinds[v.Kind] = true
	}
	for _, scheme := range []string{"light", "dark"} {
		b.js(`document.documentElement.dataset.colours = %q`, scheme)
		for _, view := range views {
			b.js(`location.hash = %q`, "#/"+view)
			b.until(`document.querySelector("main h1") && document.querySelector("nav [aria-current]").hash === "#/` + view + `"`)
			b.js(`document.querySelector(".row:not(.head)")?.click()`)
			b.picture(view + "-" + scheme)
			violations := eval[[]string](b, `axe.run().then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 150) + " " + n.failureSummary).join(" | ")))`)
			for _, v := range violations {
				t.Errorf("%s, %s: %.700s", view, scheme, v)
			}
		}
	}
}

// TestKeyboardOnly goes from the verdict to a row in full, its place in the timeline, and back, without a mouse.
func TestKeyboardOnly(t *testing.T) {
	s, r := session(t, kernelTrace)
	b := newTab(t)
	b.open(serve(t, page.New(s, r)), "")
	b.press("?")
	b.until(`document.querySelector("[role=dialog]")?.contains(document.activeElement)`)
	b.press(kb.Escape)
	b.until(`!document.querySelector("[role=dialog]")`)
	b.press("]")
	b.until(`location.hash === "#/timeline"`)
	b.press("[")
	b.until(`location.hash === "#/verdict"`)
	tabTo := func(what string) {
		t.Helper()
		for range 80 {
			if b.press(kb.Tab); eval[bool](b, `document.activeElement.matches(`+fmt.Sprintf("%q", what)+`)`) {
				return
			}
		}
		t.Fatalf("Tab never comes to %s", what)
	}
	tabTo(`nav a[href="#/operators"]`)
	b.press(kb.Enter)
	b.until(`document.querySelectorAll(".row").length > 3`)
	tabTo(`.grid`)
	b.press(kb.ArrowDown, kb.ArrowDown, kb.Enter)
	b.until(`document.querySelector(".details a")`)
	name := eval[string](b, `document.querySelector(".details bdi").innerText`)
	tabTo(`.details a`)
	b.press(kb.Enter)
	b.until(`document.querySelector(".chosen-box")?.innerText.includes(` + fmt.Sprintf("%q", name) + `)`)
	tabTo(`canvas`)
	b.press("w")
	b.run(chromedp.NavigateBack())
	b.until(`location.hash.startsWith("#/operators")`)
}
