package web_test

import (
	"bottleneck/internal/units"
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// copyTo copies a session below a folder.
func copyTo(t *testing.T, folder, name, session string) string {
	t.Helper()
	to := filepath.Join(folder, name)
	if err := os.CopyFS(to, os.DirFS(session)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestRunsOfAFolder lists two runs and a damaged one, and goes from the list to a run and back.
func TestRunsOfAFolder(t *testing.T) {
	folder := t.TempDir()
	copyTo(t, folder, "images", imagesRun(t))
	copyTo(t, folder, "ranks", ranksRun(t))
	broken := copyTo(t, folder, "broken", imagesRun(t))
	if err := os.WriteFile(filepath.Join(broken, "manifest.json"),
		[]byte(`{"schema": "bottleneck.session/1", "job": "other", "created_unix_ns": 5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(broken, "*-*-*"))
	if err != nil || len(folders) == 0 {
		t.Fatal(err, folders)
	}
	for _, dir := range folders { // a session whose processes are gone
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	doc := asJSON(t, filepath.Join(folder, "ranks"))
	b := newTab(t)
	b.run(chromedp.Navigate(viewed(t, folder)))
	b.until(`document.querySelectorAll("tbody tr").length === 3 && !document.body.innerText.includes("reading …")`)
	b.picture("runs")
	row := eval[string](b, `[...document.querySelectorAll("tbody tr")].find(r => r.innerText.startsWith("ranks")).innerText`)
	for _, want := range []string{doc.Verdict.Sentence, units.Milliseconds(doc.Steps[0].Baseline.MedianMs)} {
		if !strings.Contains(row, want) {
			t.Errorf("the list says %q of the run, not %q", row, want)
		}
	}
	b.js(`[...document.querySelectorAll("tbody a")].find(a => a.innerText === "ranks").click()`)
	b.until(fmt.Sprintf(`document.querySelector("main h1")?.innerText === %q`, units.UpperFirst(doc.Verdict.Sentence)))
	b.js(`location.hash = "#/ranks"`)
	b.until(`document.querySelector("svg[data-kind=heat]")`)
	b.js(`[...document.querySelectorAll("nav a")].find(a => a.innerText === "All runs").click()`)
	b.until(`document.querySelectorAll("tbody tr").length === 3`)
	b.js(`[...document.querySelectorAll("tbody a")].find(a => a.innerText === "broken").click()`)
	b.until(`document.querySelector("main h1") || document.querySelector("[role=alert]")`)
}

// TestRunIsShownLive watches a real run while it goes on: steps, step time and verdict appear and change; when the run has ended, what was
// seen last stays.
func TestRunIsShownLive(t *testing.T) {
	if testing.Short() {
		t.Skip("records a run of PyTorch")
	}
	python, err := exec.Command("../../scripts/env.sh", "newest").Output()
	if err != nil {
		t.Skipf("scripts/env.sh newest: %v", err)
	}
	binary, err := binaryOnce()
	if err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(t.TempDir(), "run")
	command := exec.Command(binary, "run", "--view", "--out", session, "-o", os.DevNull, "--", strings.TrimSpace(string(python)),
		"../../examples/images.py", "--epochs", "30")
	command.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = command.Process.Signal(os.Interrupt); _ = command.Wait() }()
	said := bufio.NewScanner(stderr)
	address := ""
	for said.Scan() && address == "" {
		if strings.HasPrefix(said.Text(), "http://") {
			address = said.Text()
			break
		}
	}
	if address == "" {
		t.Fatal("run --view printed no address")
	}
	go io.Copy(io.Discard, stderr)
	b := newTab(t)
	b.open(address, "")
	steps := `parseInt(/(\d+) steps/.exec(document.querySelector(".so-far")?.innerText)?.[1])`
	b.until(steps + ` > 3`)
	b.picture("live")
	first := eval[int](b, steps)
	b.until(fmt.Sprintf(`%s > %d`, steps, first))
	b.until(`/a step/.test(document.querySelector(".so-far").innerText) && document.querySelector("main h1").innerText.length > 10`)
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector(".problem")?.innerText.includes("does not answer") || !document.querySelector(".so-far")`)
	if text := eval[string](b, `document.querySelector("main").innerText`); len(text) < 100 {
		t.Errorf("the page forgot what it showed: %q", text)
	}
}

// TestSessionsThatChange removes a session under the server: the page says so, and shows on what it has.
func TestSessionsThatChange(t *testing.T) {
	session := copyTo(t, t.TempDir(), "session", imagesRun(t))
	launchers, err := filepath.Glob(filepath.Join(session, "launcher-*", "launcher.json"))
	if err != nil || len(launchers) != 1 {
		t.Fatal(err, launchers)
	}
	asIfRunning(t, launchers[0])
	b := newTab(t)
	b.open(viewed(t, session), "")
	b.until(`document.querySelector(".so-far")`)
	verdict := eval[string](b, `document.querySelector("main h1").innerText`)
	if err := os.RemoveAll(session); err != nil {
		t.Fatal(err)
	}
	b.until(`document.querySelector(".problem")?.innerText.includes("it is gone")`)
	b.picture("gone")
	if now := eval[string](b, `document.querySelector("main h1").innerText`); now != verdict {
		t.Errorf("the verdict was %q and is %q", verdict, now)
	}
	b.js(`location.hash = "#/steps"`)
	b.until(`document.querySelector("svg[data-kind=points]")`)
}

// asIfRunning takes the end out of a launcher's file, and lets its program be this test, which runs.
func asIfRunning(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var launcher map[string]any
	if err := json.Unmarshal(text, &launcher); err != nil {
		t.Fatal(err)
	}
	delete(launcher, "exit")
	delete(launcher, "machine_after")
	launcher["child_pid"] = os.Getpid()
	if text, err = json.Marshal(launcher); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
