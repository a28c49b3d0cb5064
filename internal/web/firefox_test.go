package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/testkit/browser"
	"bottleneck/internal/units"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fox is the page in Firefox.
type fox struct {
	t *testing.T
	f *browser.Firefox
}

// newFox opens the machine's Firefox, or skips.
func newFox(t *testing.T) *fox {
	t.Helper()
	f, err := browser.OpenFirefox()
	if errors.Is(err, browser.ErrNoFirefox) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return &fox{t, f}
}

func (b *fox) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *fox) text(expression string) string {
	b.t.Helper()
	text, err := b.f.Text(expression)
	b.must(err)
	return text
}

func (b *fox) until(condition string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		is, err := b.f.Text("(() => { try { return Boolean(" + condition + ") } catch { return false } })()")
		if err == nil && is == "true" {
			return
		}
		if time.Now().After(end) {
			b.picture(b.t.Name())
			b.t.Fatalf("waited for %s; the page: %s", condition, b.text("document.body.innerText.slice(0, 1500)"))
		}
	}
}

func (b *fox) picture(name string) {
	if dir := os.Getenv("BOTTLENECK_PICTURES"); dir != "" {
		if png, err := b.f.Picture(); err == nil {
			_ = os.WriteFile(filepath.Join(dir, "firefox-"+strings.ReplaceAll(name, "/", "-")+".png"), png, 0o666)
		}
	}
}

// mouse is WebDriver's list of what a mouse does.
func mouse(actions ...map[string]any) map[string]any {
	return map[string]any{"type": "pointer", "id": "mouse", "parameters": map[string]any{"pointerType": "mouse"}, "actions": actions}
}

func moveTo(x, y int) map[string]any {
	return map[string]any{"type": "pointerMove", "x": x, "y": y, "duration": 60}
}

var (
	buttonDown = map[string]any{"type": "pointerDown", "button": 0}
	buttonUp   = map[string]any{"type": "pointerUp", "button": 0}
)

// TestFirefox opens the page of a real trace and of a recorded run in Firefox, served and as a file: each view is opened, searched and
// compared with its part, the verdict with report --json, the timeline is moved by real keys, wheel and mouse, and the browser has nothing
// to complain about.
func TestFirefox(t *testing.T) {
	for name, path := range map[string]func() string{"trace": func() string { return kernelTrace },
		"run":      func() string { return imagesRun(t) },
		"snapshot": func() string { return realTraces + "cuda-memory-snapshot/cs336_wedsonlin_512_inference.pickle" }} {
		t.Run(name, func(t *testing.T) {
			s, r := session(t, path())
			p := page.New(s, r)
			b := newFox(t)
			for kind, address := range map[string]string{"server": serve(t, p), "file": file(t, s)} {
				b.must(b.f.Go("about:blank"))
				b.must(b.f.Go(address))
				b.until(`document.querySelector("main h1")`)
				sayVerdict(t, b, asJSON(t, path()))
				walk(t, b, p, name+"-"+kind, kind == "file")
				if name == "trace" {
					moveTimeline(t, b)
				}
				said, err := b.f.Complaints(strings.SplitAfter(address, "page.html")[0])
				b.must(err)
				for _, c := range said {
					t.Errorf("%s: Firefox complains: %s", kind, c)
				}
			}
		})
	}
}

// TestFirefoxComplains asks that what Firefox has to say of a page is heard.
func TestFirefoxComplains(t *testing.T) {
	b := newFox(t)
	path := filepath.Join(t.TempDir(), "bad.html")
	if err := os.WriteFile(path, []byte(`<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="img-src 'none'">
		<img src="data:,x"><script>console.error("said so"); undefinedThing()</script>`), 0o666); err != nil {
		t.Fatal(err)
	}
	b.must(b.f.Go("file://" + path))
	all := ""
	for range 50 {
		said, err := b.f.Complaints("file://" + path)
		b.must(err)
		if all = strings.Join(said, "\n"); strings.Contains(all, "said so") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, want := range []string{"said so", "undefinedThing is not defined", "img-src"} {
		if !strings.Contains(all, want) {
			t.Errorf("Firefox does not say %q: %s", want, all)
		}
	}
}

// moveTimeline zooms and pans by keys, by the wheel and by dragging, sums a stretch that is dragged over with Shift, and
// chooses an event by a key.
func moveTimeline(t *testing.T, b *fox) {
	t.Helper()
	b.text(`(location.hash = "#/timeline", 0)`)
	b.until(timelineDrawn)
	at := func(end string) float64 { return look[float64](t, b, `+document.querySelector("canvas").dataset.`+end) }
	b.text(`(document.querySelector("canvas").focus(), 0)`)
	for _, key := range []string{"0", "w", "w", "d"} {
		b.must(b.f.Press(key))
	}
	b.until(`+document.querySelector("canvas").dataset.from > 0 && ` + timelineDrawn)
	box := look[struct{ X, Y, W int }](t, b, `(() => { const r = document.querySelector("canvas").getBoundingClientRect(); return { X: Math.round(r.left), Y: Math.round(r.top), W: Math.round(r.width) } })()`)
	x, y := box.X+box.W/2, box.Y+100
	from, span := at("from"), at("to")-at("from")
	b.must(b.f.Perform(mouse(moveTo(x, y), buttonDown, moveTo(x+100, y), buttonUp)))
	b.until(fmt.Sprintf(`+document.querySelector("canvas").dataset.from < %g`, from))
	const ruler = 10 // over the ruler the wheel zooms
	b.must(b.f.Perform(map[string]any{"type": "wheel", "id": "wheel", "actions": []any{
		map[string]any{"type": "scroll", "x": x, "y": box.Y + ruler, "deltaX": 0, "deltaY": -120}}}))
	b.until(fmt.Sprintf(`+document.querySelector("canvas").dataset.to - +document.querySelector("canvas").dataset.from < %g`, span*0.99))
	shift := func(kind string) map[string]any { return map[string]any{"type": kind, "value": "\ue008"} }
	pause := map[string]any{"type": "pause"}
	held := []any{shift("keyDown"), pause, pause, pause, pause, shift("keyUp")}
	b.must(b.f.Perform(map[string]any{"type": "key", "id": "keys", "actions": held},
		mouse(pause, moveTo(x, y), buttonDown, moveTo(x+150, y), buttonUp)))
	b.until(`document.querySelector(".details .sums-table tbody tr")`)
	b.must(b.f.Press("."))
	b.until(`document.querySelector(".chosen-box").innerText.includes(" at ")`)
	b.must(b.f.Press("0"))
	b.until(fmt.Sprintf(`document.querySelector(".tools [role=status]").innerText.includes(%q)`, units.Milliseconds(at("to")/1e3)))
	b.until(`document.querySelector("canvas").dataset.from === "0"`)
}
