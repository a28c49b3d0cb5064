package view

import (
	"bottleneck/internal/report"
	"bytes"
	"strings"
	"testing"
)

// The same damage in files of one name is one line, with --all one for each.
func TestSameDamageOnce(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{})
	at := int64(7)
	for range 3 {
		r.Inputs = append(r.Inputs, report.Input{Path: "p/events.jsonl.gz",
			Diagnostics: []report.Diagnostic{{Kind: "missing", Count: 2, Text: "nothing there"}}})
	}
	r.Inputs = append(r.Inputs, report.Input{
		Path: "p/trace.json", Diagnostics: []report.Diagnostic{{Kind: "cut", Count: 1, FirstOffset: &at, Text: "it ends"}},
	})
	for all, want := range map[bool]int{false: 1, true: 3} {
		var b bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Width: 100, All: all}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(b.String(), "nothing there"); got != want ||
			!strings.Contains(b.String(), "trace.json: it ends (cut, 1 ×, first at byte 7)") {
			t.Errorf("all %v: said %d times, want %d:\n%s", all, got, want, b.String())
		}
		if strings.Contains(b.String(), "(missing, 6 × in 3 files)") == all {
			t.Errorf("all %v:\n%s", all, b.String())
		}
	}
}
