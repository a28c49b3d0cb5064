package web_test

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"bufio"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
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

// TestCompare compares two runs on the page, and the page with diff --json.
func TestCompare(t *testing.T) {
	before, after := imagesRun(t), record(t, "../../examples/fixed/images.py", "--epochs", "2", "--images", "1280")
	binary, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	var d report.Diff
	decode(t, &d, binary, "diff", "--json", "-", before, after)
	b := newTab(t)
	b.open(viewed(t, "--before", before, after), "compare")
	b.until(fmt.Sprintf(`document.querySelector("main h1").innerText === %q`, units.UpperFirst(d.Sentence)))
	b.picture("compare")
	at := slices.IndexFunc(d.Rows, func(r report.DiffRow) bool { return r.Kind == "part" && r.Name == "data wait" })
	if at < 0 {
		t.Fatalf("diff has no row of data waits: %+v", d.Rows)
	}
	want := []string{units.Milliseconds(d.Rows[at].Before.Ms), units.Milliseconds(d.Rows[at].After.Ms),
		units.Milliseconds(d.Rows[at].DifferenceMs)}
	b.until(`[...document.querySelectorAll(".within .row")].some(r => r.innerText.startsWith("data wait"))`)
	row := eval[string](b, `[...document.querySelectorAll(".within .row")].find(r => r.innerText.startsWith("data wait"))?.innerText ?? ""`)
	for _, text := range want {
		if !strings.Contains(row, text) {
			t.Errorf("the row of data waits says %q, not %q; all rows: %q", row, text,
				eval[string](b, `[...document.querySelectorAll(".within .row")].map(r => r.innerText).join(" | ")`))
		}
	}
	said := reading(b, "Parts of the", 1)
	if !strings.Contains(said[0], "before") {
		t.Errorf("the first part reads %q", said[0])
	}
	b.js(`location.hash = "#/flame-python-difference?find=shift_hue"`)
	b.until(`document.querySelector("canvas")?.dataset.boxes > 5`)
	b.js(`document.querySelector("canvas").focus()`)
	b.until(`/before|new/.test(document.querySelector(".chosen-box").innerText)`)
	b.picture("compare-flame")
}
