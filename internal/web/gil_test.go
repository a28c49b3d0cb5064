package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestGILLanes records a program whose threads want the GIL, and compares who held it on the timeline with the time that samples with the
// GIL stand for; waiting likewise.
func TestGILLanes(t *testing.T) {
	path := record(t, "../../testdata/zoo/gil-thread/slow.py")
	s, r := session(t, path)
	p := page.New(s, r)
	found := func(text string) *page.Found {
		part, err := p.Part("find/" + text)
		if err != nil {
			t.Fatal(err)
		}
		return part.(*page.Found)
	}
	held, waited := found("holds the GIL"), found("wait for the GIL")
	want := report.SumSamples(s, report.SampleChoice{GIL: true, Idle: true}).All / 1e3
	if want == 0 || !nearly(held.TotalUs, want, 0.1) {
		t.Errorf("the GIL is held for %g µs on the timeline, samples with it stand for %g", held.TotalUs, want)
	}
	if waited.Count == 0 {
		t.Fatal("no thread waits for the GIL")
	}
	threads := map[string]bool{}
	for _, spot := range held.Longest {
		threads[spot.Name] = true
	}
	if len(threads) < 2 {
		t.Errorf("the GIL is held by %v", threads)
	}
	b := newTab(t)
	b.open(serve(t, p), "")
	link := `[...document.querySelectorAll("article")].find(a => a.innerText.includes("GIL"))?.querySelectorAll(".show a")`
	b.until(link)
	b.js(`[...%s].find(a => a.innerText === "each wait for the GIL in the timeline").click()`, link)
	b.until(fmt.Sprintf(`document.querySelector(".tools [role=status]").innerText.includes(%q)`, units.Milliseconds(waited.TotalUs/1e3)))
	longest := slices.MaxFunc(waited.Longest, func(a, b page.Spot) int { return int(a.Us*1e3) - int(b.Us*1e3) })
	b.until(fmt.Sprintf(`document.querySelector(".chosen-box").innerText.startsWith(%q)`, longest.Name+" "+units.Milliseconds(longest.Us/1e3)))
	if text := eval[string](b, `document.querySelector(".chosen-box").innerText`); !strings.Contains(text, "GIL waited for") {
		t.Errorf("the wait stands elsewhere: %q", text)
	}
	b.picture("gil")
}
