package web_test

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// viewed starts the real `bottleneck view` and gives the address that it prints. It ends with the test.
func viewed(t *testing.T, arguments ...string) string {
	t.Helper()
	binary, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(binary, append([]string{"view", "--no-open", "--port", "0"}, arguments...)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGINT)
		if err := command.Wait(); err != nil && !t.Failed() {
			t.Errorf("view: %v: %s", err, stderr.String())
		}
	})
	if err != nil {
		t.Fatalf("view printed no address: %s", stderr.String())
	}
	return strings.TrimSpace(address)
}

// TestCompare compares two runs on the page, served and as a file without a network, and the page with diff --json.
func TestCompare(t *testing.T) {
	before, after := imagesRun(t), record(t, "../../examples/fixed/images.py", "--epochs", "2", "--images", "1280")
	binary, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	var d report.Diff
	decode(t, &d, binary, "diff", "--json", "-", before, after)
	path := filepath.Join(t.TempDir(), "page.html")
	if out, err := exec.Command(binary, "export", "--to", "html", "--diff", before, after, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, address := range map[string]string{"server": viewed(t, "--before", before, after), "file": "file://" + path} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t)
			if name == "file" {
				call(b, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: true})
			}
			b.open(address, "compare")
			checkCompared(b, &d, name)
			for _, asked := range b.asked {
				if name == "file" && !strings.HasPrefix(asked, address) && asked != "about:blank" && !strings.HasPrefix(asked, "data:") {
					t.Errorf("the page asks for %s", asked)
				}
			}
		})
	}
}

// checkCompared holds the view of a comparison to the document.
func checkCompared(b *tab, d *report.Diff, name string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`document.querySelector("main h1").innerText === %q`, units.UpperFirst(d.Sentence)))
	b.picture("compare-" + name)
	at := slices.IndexFunc(d.Rows, func(r report.DiffRow) bool { return r.Kind == "part" && r.Name == "data wait" })
	if at < 0 {
		b.t.Fatalf("diff has no row of data waits: %+v", d.Rows)
	}
	want := []string{units.Milliseconds(d.Rows[at].Before.Ms), units.Milliseconds(d.Rows[at].After.Ms),
		units.Milliseconds(d.Rows[at].DifferenceMs)}
	b.until(`[...document.querySelectorAll(".within .row")].some(r => r.innerText.startsWith("data wait"))`)
	row := eval[string](b, `[...document.querySelectorAll(".within .row")].find(r => r.innerText.startsWith("data wait"))?.innerText ?? ""`)
	for _, text := range want {
		if !strings.Contains(row, text) {
			b.t.Errorf("the row of data waits says %q, not %q; all rows: %q", row, text,
				eval[string](b, `[...document.querySelectorAll(".within .row")].map(r => r.innerText).join(" | ")`))
		}
	}
	said := reading(b, "Parts of the", 1)
	if !strings.Contains(said[0], "before") {
		b.t.Errorf("the first part reads %q", said[0])
	}
	b.js(`location.hash = "#/flame-python-difference?find=shift_hue"`)
	b.until(`document.querySelector("canvas")?.dataset.boxes > 5`)
	b.js(`document.querySelector("canvas").focus()`)
	b.until(`/before|new/.test(document.querySelector(".chosen-box").innerText)`)
	b.picture("compare-flame-" + name)
	for _, links := range []string{"compare", "timeline", "operators", "steps"} { // the rest of the page is there too
		b.js(`location.hash = "#/%s"`, links)
		b.until(fmt.Sprintf(`document.querySelector("nav [aria-current]")?.hash === "#/%s" && document.querySelector("main h1")`, links))
	}
}
