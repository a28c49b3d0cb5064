package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func briefText(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The default report of a program is one screen, whatever was found: the first finding in full, each other one at least by its title or
// its number, and every section that is left out with its best row.
func TestDefaultReportIsOneScreen(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{Path: "out/train"})
	if len(r.Findings) < 3 {
		t.Fatalf("only %d findings", len(r.Findings))
	}
	one := r.Findings[0]
	for n := range 12 {
		r.Findings = append(r.Findings, one)
		text := briefText(t, r)
		if lines := strings.Count(text, "\n"); lines > mostLines {
			t.Errorf("%d lines with %d findings:\n%s", lines, len(r.Findings), text)
		}
		shown := 0
		for i := range r.Findings {
			if strings.Contains(text, fmt.Sprintf("\n%2d. ", i+1)) {
				shown++
			}
		}
		if more := fmt.Sprintf("  %d more with --section findings", len(r.Findings)-shown); shown < len(r.Findings) &&
			!strings.Contains(text, more) {
			t.Errorf("%d of %d findings are shown after %d, and not said: %q\n%s", shown, len(r.Findings), n, more, text)
		}
	}
	text := briefText(t, r)
	for _, part := range []string{"saves     ", "python  ", "data.py:57", "steps  ", "workers  ", "--section NAME"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	for _, left := range []string{"Top Python lines", "DataLoaders", "\nSteps"} {
		if strings.Contains(text, left) {
			t.Errorf("%q is in the default report:\n%s", left, text)
		}
	}
}

// Of a healthy program 40 lines are enough.
func TestHealthyReportIsShort(t *testing.T) {
	p := testkit.NewProgram()
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 90}
	p.Steps(40, model.PhaseBaseline, testkit.Native(100, module))
	r := report.Build(p.S, report.Options{Path: "out/train"})
	text := briefText(t, r)
	if lines := strings.Count(text, "\n"); lines > 40 || !strings.Contains(text, "Healthy") {
		t.Errorf("%d lines:\n%s", lines, text)
	}
}

// Where nothing says where a step goes, as in the files of other profilers, their tables are the report.
func TestTablesWithoutAnAccountStay(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{})
	r.Breakdown = nil
	if text := briefText(t, r); !strings.Contains(text, "Top Python lines") {
		t.Errorf("the tables are missing:\n%s", text)
	}
}

// The verdict shows the change that saves what it promises, not one that saves something else.
func TestVerdictShowsTheChange(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{Path: "out/train"})
	fix := &r.Findings[0].Fix
	*fix = report.Fix{Text: "Let workers fetch. It is said why.", Change: "num_workers=2",
		Where: &report.Place{File: "/home/u/train.py", Line: 9}, Action: &report.Action{Kind: "arguments"}}
	for _, other := range []*report.Saved{nil, {RunS: &report.Range{High: 1}}} {
		fix.Action.Saving = other
		head, _, _ := strings.Cut(briefText(t, r), "Environment")
		shown := strings.Contains(head, "  Change: num_workers=2 (train.py:9)\n")
		if shown != (other == nil) || !strings.Contains(head, "Fix: Let workers fetch.\n") {
			t.Errorf("saving of its own %v:\n%s", other, head)
		}
	}
}
