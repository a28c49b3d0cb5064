package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rawEvent is an event as a trace file writes it.
type rawEvent struct {
	Cat, Ph, Name string
	ID            any
	TS, Dur       float64
}

// rawEvents reads a trace file without any of our readers.
func rawEvents(t *testing.T, path string) []rawEvent {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []rawEvent `json:"traceEvents"`
	}
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.TraceEvents
}

// joined finds the longest event of a name, and the operator from which the file's own arrow leads to it.
func joined(t *testing.T, path, name string) (backward, forward rawEvent) {
	t.Helper()
	events := rawEvents(t, path)
	for _, e := range events {
		if e.Ph == "X" && e.Name == name && e.Dur > backward.Dur {
			backward = e
		}
	}
	id, at := any(nil), -1.0
	for _, e := range events {
		if e.Cat == "fwdbwd" && e.Ph == "f" && e.TS == backward.TS {
			id = e.ID
		}
	}
	for _, e := range events {
		if e.Cat == "fwdbwd" && e.Ph == "s" && e.ID == id {
			at = e.TS
		}
	}
	for _, e := range events {
		if e.Ph == "X" && e.Cat == "cpu_op" && e.TS == at {
			forward = e // of those that begin together the innermost, which is written last
		}
	}
	if forward.Name == "" {
		t.Fatalf("%s: no arrow leads to %s", path, name)
	}
	return backward, forward
}

// TestBackwardArrow goes from a backward operator to its forward one and back, by keys and by the button, and compares both with the
// arrow that torch wrote into the file.
func TestBackwardArrow(t *testing.T) {
	backward, forward := joined(t, stackTrace, "NativeGroupNormBackward0")
	s, r := session(t, stackTrace)
	p := page.New(s, r)
	found, err := p.Part("find/" + backward.Name)
	if err != nil {
		t.Fatal(err)
	}
	spot := page.Spot{}
	for _, f := range found.(*page.Found).Longest {
		if f.Name == backward.Name && f.Us > spot.Us {
			spot = f
		}
	}
	says := func(e rawEvent) string {
		return fmt.Sprintf(`document.querySelector(".chosen-box").innerText.startsWith(%q)`, e.Name+" "+units.Milliseconds(e.Dur/1e3))
	}
	for name, address := range map[string]string{"server": serve(t, p), "file": file(t, s)} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t)
			b.open(address, fmt.Sprintf("timeline?from=%.3f&to=%.3f", spot.StartUs-0.001, spot.StartUs+2*spot.Us))
			b.until(`document.querySelector("canvas")?.dataset.waiting === "false"`)
			b.js(`document.querySelector("canvas").focus()`)
			for range 20 { // the first in sight may be another lane's
				if b.press("."); eval[bool](b, says(backward)) {
					break
				}
			}
			b.until(says(backward) + ` && +document.querySelector("canvas").dataset.arrows === 1`)
			b.press("b")
			b.until(says(forward) + ` && +document.querySelector("canvas").dataset.arrows >= 1`)
			b.picture("arrow-forward-" + name)
			b.js(`[...document.querySelectorAll(".chosen-box button")].find(e => e.innerText === "to its backward (b)").click()`)
			b.until(says(backward))
		})
	}
}

// TestCollectiveArrows goes round the ranks of one collective, and compares what they wait in all of them with the report's.
func TestCollectiveArrows(t *testing.T) {
	paths, err := filepath.Glob(realTraces + "megatron-tp8-a100/megatron_kineto_*.json.gz")
	if err != nil || len(paths) != 8 {
		t.Skip("the traces of eight ranks are not there")
	}
	s, r := session(t, paths...)
	binary, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	var doc report.Report
	decode(t, &doc, binary, append([]string{"report", "--json", "-"}, paths...)...)
	p := page.New(s, r)
	part, err := p.Part("shared")
	if err != nil {
		t.Fatal(err)
	}
	shared, waits, matched, want := part.(*page.Shared), 0.0, int64(0), 0.0
	for _, us := range shared.Wait {
		waits += us
	}
	for _, row := range doc.Communication {
		if row.WaitUs != nil {
			want, matched = want+*row.WaitUs, matched+row.Count
		}
	}
	if int64(len(shared.Call)) != matched || matched == 0 || math.Abs(waits-want) > 1e-6*want {
		t.Errorf("%d rows wait %g µs, the report has %d and %g", len(shared.Call), waits, matched, want)
	}
	b := newTab(t)
	b.open(serve(t, p), "timeline?find=ncclDevKernel_AllReduce")
	b.until(`document.querySelector(".chosen-box").innerText.includes("on 8 ranks") && +document.querySelector("canvas").dataset.arrows >= 7`)
	b.picture("arrow-collective")
	b.js(`document.querySelector("canvas").focus()`)
	at := func() string {
		return eval[string](b, `document.querySelector(".chosen-box").innerText`)
	}
	first, groups := at(), map[string]bool{}
	for range 8 {
		before := at()
		b.press("g")
		b.until(fmt.Sprintf(`document.querySelector(".chosen-box").innerText !== %q && document.querySelector(".chosen-box").innerText.includes("on 8 ranks")`, before))
		_, rest, _ := strings.Cut(at(), " on ")
		group, _, _ := strings.Cut(rest, ",")
		groups[group] = true
	}
	if len(groups) != 8 || at() != first {
		t.Errorf("eight steps come by %v and end at %q, not at %q", groups, at(), first)
	}
	checkSharedInFile(b, file(t, s), shared)
}

// checkSharedInFile chooses the longest collective in a file of the page, where there is no search: nothing else begins in sight.
func checkSharedInFile(b *tab, address string, shared *page.Shared) {
	b.t.Helper()
	longest := 0
	for i := range shared.Us {
		if shared.Us[i] > shared.Us[longest] {
			longest = i
		}
	}
	b.open(address, fmt.Sprintf("timeline?from=%.3f&to=%.3f", shared.Start[longest]-0.002, shared.Start[longest]+0.06))
	b.until(`document.querySelector("canvas")?.dataset.waiting === "false"`)
	b.js(`document.querySelector("canvas").focus()`)
	b.press(".")
	b.until(fmt.Sprintf(`document.querySelector(".chosen-box").innerText.includes("on 8 ranks; %s of it")`,
		units.Milliseconds(shared.Wait[longest]/1e3)))
}
