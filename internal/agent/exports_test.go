package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestProgramsOwnTraces has a program export profiles of its own: they stay as they would be, and the session refers to each.
func TestProgramsOwnTraces(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			folders := []string{t.TempDir(), t.TempDir()}
			plain := start(t, interpreter, environment(), "exports.py", folders[0])
			agent, dir := withAgent(t, interpreter, Config{}, nil, "exports.py", folders[1])
			same(t, plain, agent)
			if lines := strings.Count(plain.stdout, "\n"); lines != 4 && lines != 1 {
				t.Fatalf("the program exported %d files:\n%+v", lines, plain)
			}
			main := only(t, dir, "main")
			var theirs, ours []string
			_ = filepath.WalkDir(folders[1], func(path string, entry os.DirEntry, err error) error {
				if err == nil && !entry.IsDir() {
					theirs = append(theirs, content(t, path))
				}
				return err
			})
			links, _ := filepath.Glob(filepath.Join(main.dir, "trace-own-*"))
			for _, path := range links {
				ours = append(ours, content(t, path))
			}
			slices.Sort(theirs)
			slices.Sort(ours)
			if len(ours) == 0 || !slices.Equal(theirs, ours) {
				t.Errorf("the session refers to %v", links)
			}
			if notes := main.of("note", "", "program-trace"); len(notes) != len(ours) {
				t.Errorf("notes %v", notes)
			}
			for _, row := range main.of("step") {
				if row[6] == "trace" && !traced(main, row) {
					t.Errorf("a step under the program's profiler is taken for one of ours: %v", row)
				}
			}
		})
	}
}

// traced says whether a step lies in a window of ours.
func traced(w written, step []any) bool {
	return slices.ContainsFunc(w.of("window"), func(window []any) bool {
		return window[6].(float64) <= step[1].(float64) && step[1].(float64) < window[7].(float64)
	})
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
