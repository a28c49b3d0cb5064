package web_test

import (
	"bottleneck/internal/page"
	"bottleneck/internal/web"
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
)

// mouse sends a real event of the mouse; modifiers are the protocol's: 2 Ctrl, 8 Shift.
func (b *tab) mouse(kind input.DispatchMouseEventType, x, y float64, modifiers int64, deltaX, deltaY float64) {
	b.t.Helper()
	p := input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Modifiers: modifiers, DeltaX: deltaX, DeltaY: deltaY}
	if kind != "mouseWheel" {
		p.Button, p.ClickCount, p.Buttons = "left", 1, 1
	}
	call(b, input.DispatchMouseEvent, p)
}

func (b *tab) drag(fromX, toX, y float64, modifiers int64) {
	b.t.Helper()
	b.mouse("mouseMoved", fromX, y, modifiers, 0, 0)
	b.mouse("mousePressed", fromX, y, modifiers, 0, 0)
	for i := range 10 {
		b.mouse("mouseMoved", fromX+(toX-fromX)*float64(i+1)/10, y, modifiers, 0, 0)
	}
	b.mouse("mouseReleased", toX, y, modifiers, 0, 0)
}

// TestMouse zooms by the wheel around the mouse, pans by dragging, and sums a stretch that is dragged over with Shift.
func TestMouse(t *testing.T) {
	s, r := session(t, kernelTrace)
	b := newTab(t)
	b.open(serve(t, page.New(s, r)), "timeline")
	b.until(timelineDrawn)
	at := func(end string) float64 { return eval[float64](b, `+document.querySelector("canvas").dataset.`+end) }
	box := eval[struct{ X, Y, W float64 }](b,
		`(() => { const r = document.querySelector("canvas").getBoundingClientRect(); return { X: r.left, Y: r.top, W: r.width } })()`)
	const gutter, ctrl, shift = 190, 2, 8
	middle, whole := box.X+gutter+(box.W-gutter)/2, at("to")
	b.mouse("mouseWheel", middle, box.Y+100, ctrl, 1e-6, -400) // the binding leaves out a zero, which the protocol demands
	b.until(fmt.Sprintf(`+document.querySelector("canvas").dataset.to < %g && +document.querySelector("canvas").dataset.from > 0`, whole))
	if centre := (at("from") + at("to")) / 2; !nearly(centre, whole/2, 0.01) {
		t.Errorf("zooming in the middle leads to %g, not %g", centre, whole/2)
	}
	from, span := at("from"), at("to")-at("from")
	b.drag(middle, middle-200, box.Y+100, 0)
	b.until(fmt.Sprintf(`+document.querySelector("canvas").dataset.from > %g`, from))
	if moved, want := at("from")-from, 200/(box.W-gutter)*span; !nearly(moved, want, 0.02) {
		t.Errorf("dragging 200 pixels moves by %g µs, not %g", moved, want)
	}
	b.until(timelineDrawn)
	b.drag(middle-100, middle+100, box.Y+100, shift)
	b.until(`document.querySelector(".details .sums-table tbody tr")`)
	share := eval[float64](b, `parseFloat(document.querySelector(".details p").innerText.match(/Selected: ([\d.]+)/)[1])`)
	if want := 200 / (box.W - gutter) * span / 1e3; !nearly(share, want, 0.05) && !nearly(share, want*1e3, 0.05) {
		t.Errorf("200 pixels are %g, not %g ms", share, want)
	}
	b.picture("mouse")
}

// TestTableIsCopied copies a table that is filtered and grouped: a program that reads CSV finds the rows, and their sums are the report's.
func TestTableIsCopied(t *testing.T) {
	s, r := session(t, stackTrace)
	b := newTab(t)
	b.open(serve(t, page.New(s, r)), "operators")
	b.until(`document.querySelectorAll(".row").length > 3`)
	b.js(`navigator.clipboard.writeText = async text => { window.copied = text }`)
	take := func() [][]string {
		b.js(`window.copied = ""; [...document.querySelectorAll("button")].find(b => b.innerText === "Copy CSV").click()`)
		b.until(`window.copied`)
		rows, err := csv.NewReader(strings.NewReader(eval[string](b, `window.copied`))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	sum := func(rows [][]string, head string) float64 {
		total := 0.0
		for i, h := range rows[0] {
			if h != head {
				continue
			}
			for _, row := range rows[1:] {
				var v float64
				fmt.Sscan(row[i], &v)
				total += v
			}
		}
		return total
	}
	calls, self := 0.0, 0.0
	names := map[string]bool{}
	for _, o := range r.KeyAverages {
		if o.DeviceType == "cpu" && !o.IsUserAnnotation {
			calls, self = calls+float64(o.Count), self+o.SelfCPUUs
			names[o.Name] = true
		}
	}
	all := take()
	if sum(all, "calls") != calls || !nearly(sum(all, "self CPU (µs)"), self, 1e-6) || self == 0 {
		t.Errorf("%g calls, %g µs are copied; the report has %g, %g", sum(all, "calls"), sum(all, "self CPU (µs)"), calls, self)
	}
	for _, group := range eval[[]string](b, `[...document.querySelectorAll("select option")].map(o => o.value).filter(Boolean)`) {
		b.js(`location.hash = "#/operators?group=" + encodeURIComponent(%q)`, group)
		b.until(fmt.Sprintf(`document.querySelector(".row.head").innerText.startsWith(%q) && document.querySelector(".row.head").innerText.includes("rows")`,
			group))
		if grouped := take(); sum(grouped, "calls") != calls || sum(grouped, "rows") != float64(len(all)-1) {
			t.Errorf("by %s: %g calls of %g rows; the report has %g of %d", group, sum(grouped, "calls"), sum(grouped, "rows"), calls,
				len(all)-1)
		}
	}
}

// TestBehindProxy opens the page below a path of a proxy that asks under its own name, as JupyterHub and code-server do.
func TestBehindProxy(t *testing.T) {
	s, r := session(t, kernelTrace)
	p := page.New(s, r)
	inner := httptest.NewServer(web.Handler(p, web.Options{Token: token, Hosts: []string{"hub.example.org"}}))
	defer inner.Close()
	to, err := url.Parse(inner.URL)
	if err != nil {
		t.Fatal(err)
	}
	const below = "/user/me/proxy/8484"
	outer := httptest.NewServer(http.StripPrefix(below, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = "hub.example.org"
		if r.In.Header.Get("Origin") != "" {
			r.Out.Header.Set("Origin", "http://hub.example.org")
		}
	}}))
	defer outer.Close()
	b := newTab(t)
	b.open(outer.URL+below+"/"+token+"/", "timeline")
	b.until(timelineDrawn)
	b.js(`location.hash = "#/operators"`)
	b.until(`document.querySelectorAll(".row").length > 3`)
	for _, asked := range b.asked {
		if asked != "about:blank" && !strings.HasPrefix(asked, outer.URL+below+"/") && !strings.HasPrefix(asked, "data:") {
			t.Errorf("the page asks for %s", asked)
		}
	}
}

// TestStrictHost serves the file of the page from a host whose own policy lets only scripts of known hashes run, and nothing else load.
func TestStrictHost(t *testing.T) {
	s, _ := session(t, kernelTrace)
	path := strings.TrimPrefix(file(t, s), "file://")
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'none'; script-src "+hashesOf(t, path, "script-src")+
			"; style-src "+hashesOf(t, path, "style-src")+"; img-src data: blob:")
		http.ServeFile(w, r, path)
	}))
	defer host.Close()
	b := newTab(t)
	call(b, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	b.open(host.URL+"/", "timeline")
	b.until(timelineDrawn)
	for _, asked := range b.asked {
		if asked != "about:blank" && asked != host.URL+"/" && !strings.HasPrefix(asked, host.URL+"/#") && !strings.HasPrefix(asked, "data:") &&
			!strings.HasSuffix(asked, "/favicon.ico") {
			t.Errorf("the file asks for %s", asked)
		}
	}
}

// hashesOf are the hashes that a file's own policy allows.
func hashesOf(t *testing.T, path, of string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return ""
	}
	_, rest, _ := strings.Cut(html.UnescapeString(string(text[:2000])), of+" ")
	if !strings.HasPrefix(rest, "'sha256-") {
		_, rest, _ = strings.Cut(html.UnescapeString(string(text)), of+" ")
	}
	hash, _, _ := strings.Cut(rest, ";")
	return hash
}
