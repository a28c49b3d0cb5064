//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"bottleneck/internal/testkit/browser"
)

// measured is what one page took.
type measured struct {
	drawn, idle float64 // ms after the address was opened
	sent        int64   // bytes over the network
	memory      int64   // of the tab's process
	result      json.RawMessage
}

// watch notes when a condition is true and drawn, and when the browser then has nothing left to do. It runs before the page's own scripts.
const watch = `(() => {
	const poll = () => {
		let is = false;
		try { is = Boolean(%s) } catch {}
		if (!is) return requestAnimationFrame(poll);
		requestAnimationFrame(() => {
			window.measuredDrawn = performance.now();
			requestIdleCallback(() => { window.measuredIdle = performance.now() });
		});
	};
	requestAnimationFrame(poll);
})()`

// measure opens an address in a fresh browser, waits until a condition is true, and runs a script in the page.
func measure(address, condition, script string) (*measured, error) {
	ctx, cancel := timeout()
	defer cancel()
	tab, stop, err := browser.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	var sent atomic.Int64
	if err := chromedp.Listen(tab, func(event any) {
		if e, ok := event.(*network.EventLoadingFinished); ok {
			sent.Add(int64(e.EncodedDataLength))
		}
	}); err != nil {
		return nil, err
	}
	if _, err := chromedp.Call(tab, network.Enable, network.EnableParams{}); err != nil {
		return nil, err
	}
	if _, err := chromedp.Call(tab, page.Enable, page.EnableParams{}); err != nil {
		return nil, err
	}
	early := page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(watch, condition)}
	if _, err := chromedp.Call(tab, page.AddScriptToEvaluateOnNewDocument, early); err != nil {
		return nil, err
	}
	if err := chromedp.Do(tab, chromedp.Navigate(address)); err != nil {
		return nil, err
	}
	m := &measured{}
	for m.idle == 0 {
		if m.idle, err = chromedp.Run(tab, chromedp.Evaluate[float64](`window.measuredIdle ?? 0`)); err != nil {
			return nil, fmt.Errorf("waiting for %s: %w", condition, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if m.drawn, err = chromedp.Run(tab, chromedp.Evaluate[float64](`window.measuredDrawn`)); err != nil {
		return nil, err
	}
	if script != "" {
		if m.result, err = chromedp.Run(tab, chromedp.Evaluate[json.RawMessage](script, chromedp.EvalAwaitPromise)); err != nil {
			return nil, err
		}
	}
	m.sent, m.memory = sent.Load(), tabMemory()
	return m, nil
}

// framesScript zooms in and out with the wheel, then pans, a little with every frame, and counts the frames.
const framesScript = `(async () => {
	const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
	canvas.focus();
	let worst = 0;
	const run = async (frames, act) => {
		let last = await new Promise(requestAnimationFrame);
		const first = last;
		for (let i = 0; i < frames; i++) {
			act(i);
			const now = await new Promise(requestAnimationFrame);
			worst = Math.max(worst, now - last);
			last = now;
		}
		return frames / ((last - first) / 1000);
	};
	const at = { clientX: box.left + box.width * 0.6, clientY: box.top + 200, bubbles: true, cancelable: true };
	const wheel = how => canvas.dispatchEvent(new WheelEvent("wheel", { ...at, ...how }));
	const zoom = await run(240, i => wheel({ deltaY: i % 160 < 80 ? -25 : 25, ctrlKey: true }));
	for (let i = 0; i < 12; i++) wheel({ deltaY: -100, ctrlKey: true });
	const pan = await run(240, i => wheel({ deltaX: i % 120 < 60 ? 30 : -30 }));
	return { Zoom: zoom, Pan: pan, Worst: worst };
})()`

// scrollScript scrolls by pages and by jumps, and counts frames without a row in the middle.
const scrollScript = `(async () => {
	const grid = document.querySelector(".grid"), box = grid.getBoundingClientRect();
	let blank = 0;
	const frames = 200;
	for (let i = 0; i < frames; i++) {
		grid.scrollTop = i < 140 ? i * 600 : (i * 7919 * 97) % (grid.scrollHeight - box.height);
		await new Promise(requestAnimationFrame);
		await new Promise(requestAnimationFrame);
		if (!document.elementFromPoint(box.left + 60, box.top + box.height / 2).closest(".row")) blank++;
	}
	return { Blank: blank, Frames: frames };
})()`

// tabMemory is the memory of the largest process that draws pages, of those that this program's browser started.
func tabMemory() int64 {
	entries, _ := os.ReadDir("/proc")
	most := int64(0)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		command, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if strings.Contains(string(command), "--type=renderer") && descends(pid) {
			most = max(most, shareOf(pid))
		}
	}
	return most
}

// descends says whether a process was started by this one, or by one that was.
func descends(pid int) bool {
	for range 10 {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 {
			return false
		}
		pid, _ = strconv.Atoi(fields[1])
		if pid == os.Getpid() {
			return true
		}
	}
	return false
}

// shareOf is a process's memory, with what it shares counted by part.
func shareOf(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	return kilobytes(string(text), "Pss:")
}

// memoryOf is a field of a process's status.
func memoryOf(pid int, field string) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return kilobytes(string(text), field+":")
}

func kilobytes(text, field string) int64 {
	for _, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}

// maxRSS is the peak of a process that has ended.
func maxRSS(usage any) int64 {
	if u, ok := usage.(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}

func firstLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	return strings.TrimSpace(line), err
}
