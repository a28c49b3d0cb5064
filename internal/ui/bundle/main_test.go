package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"bottleneck/internal/ui"
)

// TestBundle bundles the sources again: dist is what comes out.
func TestBundle(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no npm, which fetches the page's libraries")
	}
	out, err := exec.Command("../../../scripts/ui.sh", "--modules").Output()
	if err != nil {
		t.Skipf("the page's libraries cannot be had: %v", err)
	}
	modules := strings.TrimSpace(string(out))
	if _, err := os.Stat(modules); err != nil {
		t.Fatal(err)
	}
	files, err := bundle("..", modules)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if !bytes.Equal(text, ui.File(name)) {
			t.Errorf("dist/%s is not what the sources give: make ui", name)
		}
	}
}
