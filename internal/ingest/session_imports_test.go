package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// Modules of the program that no sample met are found by the statements that import them; packages that are installed, and what is
// kept already, are not listed.
func TestImportedSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s := &model.Session{Sources: map[string]*model.Source{}}
	keep := func(path, text string) { s.Sources[path] = &model.Source{Path: path, Lines: strings.Split(text, "\n")} }
	keep(write("train.py", ""),
		"import torch, settings as s  # numbers\nfrom lib.model import Net\nfrom lib import (loss, missing\nimport "+
			"kept\nprint('import nothing')")
	keep(write("lib/model.py", ""), "def build():\n    from . import layers\n    from ..tools.clock import now\nimport lib.deep.most")
	keep(write("kept.py", ""), "")
	want := []string{write("lib/__init__.py", ""), write("lib/deep/most.py", ""), write("lib/layers.py", ""), write("lib/loss.py", ""),
		write("settings.py", ""), write("tools/clock.py", "")}
	write("unused.py", "")
	write("lib/python3.13/site-packages/torch.py", "")
	if got := ImportedSources(s); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
