package browser

import (
	"context"
	"errors"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// ErrNone says that there is no browser on this machine.
var ErrNone = errors.New("no Chromium or Chrome on PATH")

// names of browsers that speak the DevTools protocol.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"}

// Open starts a browser without a window and gives the context of a tab in it, 1280×720, until close.
func Open(ctx context.Context, extra ...chromedp.ExecAllocatorOption) (tab context.Context, close func(), err error) {
	path := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, nil, ErrNone
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(1280, 720))
	allocator, stop := chromedp.NewExecAllocator(ctx, append(options, extra...)...)
	tab, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Do(tab, chromedp.EmulateViewport(1280, 720)); err != nil {
		cancel()
		stop()
		return nil, nil, err
	}
	return tab, func() { cancel(); stop() }, nil
}
