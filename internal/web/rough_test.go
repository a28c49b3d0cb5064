package web_test

import (
	"bottleneck/internal/page"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bottleneck/internal/testkit/browser"

	"github.com/chromedp/chromedp"
)

// TestManyClients asks for parts from two hundred clients at a time: each gets all of the same answer.
func TestManyClients(t *testing.T) {
	s, r := session(t, kernelTrace)
	address := serve(t, page.New(s, r))
	names := []string{"summary", "timeline", "tile/0/0", "tile/1/1", "flame/operators", "table/operators", "panels/roofline", "what-if",
		"what-if/nothing", "path", "find/addmm"}
	want := make([]string, len(names))
	for i, name := range names {
		want[i] = body(t, address+"data/"+name)
	}
	var all sync.WaitGroup
	for client := range 200 {
		all.Go(func() {
			for i := range 3 {
				n := (client + i) % len(names)
				if got := body(t, address+"data/"+names[n]); got != want[n] {
					t.Errorf("client %d got another %s: %d bytes, not %d", client, names[n], len(got), len(want[n]))
				}
			}
		})
	}
	all.Wait()
}

func body(t *testing.T, address string) string {
	res, err := http.Get(address)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%s: %v, status %d", address, err, res.StatusCode)
	}
	return string(text)
}

// TestWithoutWebGL opens the pictures in a browser that has no WebGL and no 3D at all.
func TestWithoutWebGL(t *testing.T) {
	ctx, stop, err := browser.Open(context.Background(), chromedp.Flag("disable-3d-apis", true), chromedp.Flag("disable-webgl", true),
		chromedp.Flag("disable-software-rasterizer", true))
	if errors.Is(err, browser.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	s, r := session(t, kernelTrace)
	b := &tab{t: t, ctx: ctx}
	b.open(serve(t, page.New(s, r)), "timeline")
	if eval[bool](b, `Boolean(document.createElement("canvas").getContext("webgl"))`) {
		t.Fatal("this browser has WebGL all the same")
	}
	b.until(`document.querySelector("canvas")?.dataset.waiting === "false" && document.querySelector("canvas").dataset.boxes > 0`)
	for _, view := range []string{"flame-operators", "roofline"} {
		b.js(`location.hash = %q`, "#/"+view)
		b.until(`document.querySelector("canvas, svg[data-kind]")`)
	}
}

// TestTakenAlong saves a chart as SVG and PNG and copies its numbers: the files are whole, and the numbers are the part's own.
func TestTakenAlong(t *testing.T) {
	s, r := session(t, kernelTrace)
	p := page.New(s, r)
	c := chart(t, p, "roofline", "Roofline")
	b := newTab(t)
	b.open(serve(t, p), "roofline")
	b.until(`document.querySelector("svg[data-kind]")`)
	b.js(`window.taken = []; HTMLAnchorElement.prototype.click = () => {}; const make = URL.createObjectURL;
		URL.createObjectURL = blob => (blob.text().then(text => window.taken.push([blob.type, text])), make.call(URL, blob));
		navigator.clipboard.writeText = async text => { window.copied = text };`)
	for _, kind := range []string{"SVG", "PNG", "CSV"} {
		b.js(`[...document.querySelectorAll(".save button")].find(b => b.innerText === %q).click()`, kind)
	}
	b.until(`window.copied && window.taken.length === 2`)
	svg := eval[string](b, `window.taken.find(t => t[0] === "image/svg+xml")[1]`)
	if !strings.HasPrefix(svg, "<svg") || strings.Contains(svg, "var(") || !strings.Contains(svg, "<path") {
		t.Errorf("the picture is %.300s", svg)
	}
	if png := eval[string](b, `window.taken.find(t => t[0] === "image/png")[1].slice(1, 4)`); png != "PNG" {
		t.Errorf("the PNG begins with %q", png)
	}
	copied := eval[string](b, `window.copied`)
	if want := fmt.Sprintf("%v", *c.Series[0].Y[0]); !strings.Contains(copied, want) {
		t.Errorf("the numbers lack %s: %.300s", want, copied)
	}
	if dir := os.Getenv("BOTTLENECK_PICTURES"); dir != "" {
		_ = os.WriteFile(filepath.Join(dir, "taken.svg"), []byte(svg), 0o666)
	}
}
