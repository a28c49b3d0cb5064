package web_test

import (
	"bottleneck/internal/export"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit/browser"
	"bottleneck/internal/web"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const realTraces = "../../../shared/traces/"

// patience is for a browser on a busy machine; tests wait for conditions within it.
const patience = 30 * time.Second

// tab is a page in the real browser.
type tab struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string // what the browser complained about
	asked    []string // addresses that were asked for
}

// newTab opens the machine's browser, or skips.
func newTab(t *testing.T) *tab {
	t.Helper()
	tabCtx, stop, err := browser.Open(context.Background())
	if errors.Is(err, browser.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	b := &tab{t: t, ctx: tabCtx}
	if err := chromedp.Listen(tabCtx, b.hear); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, runtime.Enable, cdp.Empty{})
	t.Cleanup(func() {
		if t.Failed() {
			b.picture(t.Name())
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Errorf("the browser complains: %s", p)
		}
	})
	return b
}

// hear notes what the page asks for and what the browser complains about.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text, _ := json.Marshal(e.ExceptionDetails)
		b.problems = append(b.problems, string(text))
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			text, _ := json.Marshal(e.Args)
			b.problems = append(b.problems, string(text))
		}
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	}
}

// limited is the tab's context for one thing that may take patience at most.
func (b *tab) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, patience)
}

func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := b.limited()
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// call runs a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	r, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// until waits until a JavaScript expression is true. What cannot be evaluated yet, as while a page loads, is not true yet.
func (b *tab) until(condition string) {
	b.t.Helper()
	ctx, cancel := b.limited()
	defer cancel()
	expression := "(() => { try { return Boolean(" + condition + ") } catch { return false } })()"
	for {
		if is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && is {
			return
		}
		if ctx.Err() != nil {
			b.t.Fatalf("waited for %s; the page: %s", condition, eval[string](b, "document.body.innerText.slice(0, 1500)"))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// eval gives the value of a JavaScript expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := b.limited()
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// picture saves what is seen where BOTTLENECK_PICTURES names a folder.
func (b *tab) picture(name string) {
	if dir := os.Getenv("BOTTLENECK_PICTURES"); dir != "" {
		if png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot()); err == nil {
			_ = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o666)
		}
	}
}

// session reads files and makes their report as `view` does.
func session(t *testing.T, paths ...string) (*model.Session, *report.Report) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			t.Skip(err)
		}
	}
	s, err := ingest.Open(context.Background(), paths, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, report.Build(s, report.Options{MaxRows: page.MaxRows, Path: paths[0]})
}

// serve gives the address of a page.
func serve(t *testing.T, p web.Source) string {
	t.Helper()
	s := httptest.NewServer(web.Handler(p, web.Options{Token: token}))
	t.Cleanup(s.Close)
	return s.URL + "/" + token + "/"
}

// file writes the page as a file and gives its address.
func file(t *testing.T, s *model.Session) string {
	t.Helper()
	format, err := export.Find("html")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := export.WriteFile(context.Background(), s, format, path, export.Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// open goes to an address of the page and waits until the view is drawn.
func (b *tab) open(address, view string) {
	b.t.Helper()
	b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#/"+view))
	b.until(`document.querySelector("main h1") !== null`)
}
