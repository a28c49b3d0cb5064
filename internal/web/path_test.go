package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bottleneck/internal/units"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCriticalPath draws the path on the timeline, compares its length by kinds with the report's, and walks along it by keys.
func TestCriticalPath(t *testing.T) {
	s, r := session(t, kernelTrace)
	doc := asJSON(t, kernelTrace)
	p := page.New(s, r)
	part, err := p.Part("path")
	if err != nil {
		t.Fatal(err)
	}
	path := part.(*page.Critical)
	drawn := map[string]float64{}
	for i, us := range path.Us {
		drawn[path.Kinds[path.Kind[i]]] += us
	}
	total := 0.0
	for _, row := range doc.CriticalPath {
		total += row.Us
		if math.Abs(drawn[row.Kind]-row.Us) > 0.01*row.Us+1 {
			t.Errorf("%s: %g µs are drawn, the report has %g", row.Kind, drawn[row.Kind], row.Us)
		}
	}
	if math.Abs(total-path.TotalUs) > 1 {
		t.Errorf("the path is %g µs long, the report's %g", path.TotalUs, total)
	}
	for name, address := range map[string]string{"server": serve(t, p), "file": file(t, s)} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t)
			b.open(address, "timeline")
			b.until(`document.querySelector("canvas")?.dataset.waiting === "false"`)
			b.js(`document.querySelector("canvas").focus()`)
			b.press("x")
			b.until(fmt.Sprintf(`document.querySelector("canvas").dataset.path === "%d" && document.querySelector(".tools [role=status]").innerText.includes(%q)`,
				len(path.Lane), "critical path "+units.Milliseconds(path.TotalUs/1e3)))
			b.press("}", "}")
			b.until(`document.querySelector(".chosen-box").innerText.startsWith("critical path: ")`)
			b.press("s", "s", "s")
			b.picture("critical-path-" + name)
			b.press("x")
			b.until(`document.querySelector("canvas").dataset.path === "0"`)
		})
	}
}

// realFive are traces of five kinds of programs and devices.
var realFive = []string{"segment-anything-fast/eager_False.json.gz", "tracelens-big-mi300/mi300_owlv2-large.json.gz",
	"particle-transformer-a100/profiler_trace_single_sample.json.gz",
	"sidnb13-transformer-h100/dcb0aa1a78e7_4399.1752181589621105859.pt.trace.json.gz",
	"tracelens-rocm-ddp/resnet_act_checkpoint_rank0of8_mi300.json.gz"}

// TestTwoClicks asks that each finding of five real traces leads by one click to its operator or line, in view and named.
func TestTwoClicks(t *testing.T) {
	b := newTab(t)
	for _, name := range realFive {
		s, r := session(t, realTraces+name)
		b.open(serve(t, page.New(s, r)), "")
		for i := range r.Findings {
			b.js(`location.hash = "#/verdict"`)
			b.until(fmt.Sprintf(`document.querySelectorAll("article").length === %d`, len(r.Findings)))
			if n := eval[int](b, fmt.Sprintf(`document.querySelectorAll("article")[%d].querySelectorAll(".show a").length`, i)); n == 0 {
				t.Errorf("%s: finding %d leads nowhere", name, i+1)
				continue
			}
			b.js(`document.querySelectorAll("article")[%d].querySelector(".show a").click()`, i)
			b.until(`location.hash !== "#/verdict" && document.querySelector("main h1")`)
			if op := r.Findings[i].Where.Op; op != "" && r.Findings[i].Where.File == "" {
				b.until(fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, op))
			}
		}
		b.picture("two-clicks-" + filepath.Base(filepath.Dir(name)))
	}
}

// exampleRuns records each of examples/*.py with its short arguments, two ranks by torchrun.
func exampleRuns(t *testing.T) map[string]func(*testing.T) string {
	t.Helper()
	paths, err := filepath.Glob("../../examples/*.py")
	if err != nil || len(paths) < 6 {
		t.Fatal(paths, err)
	}
	runs := map[string]func(*testing.T) string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, short, _ := strings.Cut(string(text), "\n# short: ")
		short, _, _ = strings.Cut(short, "\n")
		arguments := append([]string{path}, strings.Fields(short)...)
		if _, launch, ok := strings.Cut(string(text), "\n# run: torchrun "); ok {
			launch, _, _ = strings.Cut(launch, "\n")
			arguments = slices.Concat([]string{"-m", "torch.distributed.run"}, strings.Fields(launch), arguments)
		}
		runs[filepath.Base(path)] = func(t *testing.T) string { return record(t, arguments...) }
	}
	return runs
}

// TestSlowLine goes from the address of a recorded run of each example to the slow line: one click on the first finding that has a line.
func TestSlowLine(t *testing.T) {
	for name, run := range exampleRuns(t) {
		t.Run(name, func(t *testing.T) {
			testkit.Wide(t, name != "images.py" && name != "ranks.py")
			path := run(t)
			doc := asJSON(t, path)
			at := slices.IndexFunc(doc.Findings, func(f report.Finding) bool { return f.Where.Line > 0 })
			if at < 0 {
				t.Fatalf("no finding has a line: %+v", doc.Findings)
			}
			text, err := os.ReadFile("../../examples/" + name)
			if err != nil {
				t.Fatal(err)
			}
			marked := false
			for i, line := range strings.Split(string(text), "\n") {
				marked = marked || strings.HasSuffix(line, "# expect: here") && filepath.Base(doc.Findings[at].Where.File) == name &&
					max(i+1-doc.Findings[at].Where.Line, doc.Findings[at].Where.Line-i-1) <= 2
			}
			b := newTab(t)
			b.open(viewed(t, path), "") // the printed address
			where := doc.Findings[at].Where
			b.js(`document.querySelectorAll("article")[%d].querySelector(".show a").click()`, at)
			b.until(fmt.Sprintf(`document.querySelector("tr.here .lineno")?.innerText === "%d"`, where.Line))
			if text := eval[string](b, `document.querySelector("tr.here .code").innerText`); strings.TrimSpace(text) !=
				strings.TrimSpace(where.Source) {
				t.Errorf("the page shows %q, the report %q", text, where.Source)
			}
			if !marked {
				t.Errorf("the line %s:%d is not one that the example marks", where.File, where.Line)
			}
			b.picture("slow-line-" + name)
		})
	}
}
