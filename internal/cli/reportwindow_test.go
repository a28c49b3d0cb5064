package cli

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestWindowFlags(t *testing.T) {
	w, err := (&windowOptions{steps: "3, 5-7", from: "200ms", to: "1.5"}).window()
	if err != nil || !slices.Equal(w.Steps, []int64{3, 5, 6, 7}) || w.From != 200e6 || w.To != 1500e6 {
		t.Errorf("%+v, %v", w, err)
	}
	for _, o := range []windowOptions{{steps: "x"}, {steps: "7-5"}, {steps: "1-99999999999"}, {from: "soon"}, {from: "-1s"},
		{from: "2", to: "1"}, {to: "0"}} {
		if _, err := o.window(); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// A part of a trace is reported with its own steps; a step that is not there is a usage error that names those that are.
func TestReportOfPart(t *testing.T) {
	trace := filepath.Join("..", "analyse", "testdata", "torch-2.15.0", "steps.json.gz")
	code, stdout, stderr := here("report", "--step", "99", trace)
	if code != 2 || stdout != "" {
		t.Errorf("status %d, %q", code, stdout)
	}
	expect(t, "message", stderr, "step 99", "has the steps")
	if code, _, stderr = here("report", "--from", "1h", trace); code != 2 {
		t.Errorf("status %d", code)
	}
	expect(t, "message", stderr, "nothing begins in that window", "covers")
}
