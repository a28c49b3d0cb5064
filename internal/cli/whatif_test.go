package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
	"bottleneck/internal/view"
)

// hostBound writes a trace of three steps of 1 ms, each 600 µs of Python and one operator of 400 µs.
func hostBound(t *testing.T) string {
	t.Helper()
	tr := testkit.NewTrace()
	const us = 1000
	for i := range int64(3) {
		tr.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i+5), 100, 1, i*1000*us, 1000*us)
		tr.Op("aten::mm", 1, (i*1000+600)*us, 400*us)
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(tr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatIf(t *testing.T) {
	path := hostBound(t)
	for _, c := range []struct {
		args []string
		want float64 // ms
	}{
		{[]string{"--remove", "python"}, 0.4},
		{[]string{"--scale", "matmul=0.5"}, 0.8},
		{[]string{"--scale", "aten::mm=2"}, 1.4},
		{[]string{"--remove", "python", "--scale", "matmul=0.5"}, 0.2},
		{[]string{"--scale", "matmul=0", "--step", "6"}, 0.6},
	} {
		code, stdout, stderr := here(append([]string{"what-if", path, "--json", "-"}, c.args...)...)
		var doc view.WhatIf
		if err := json.Unmarshal([]byte(stdout), &doc); code != 0 || err != nil {
			t.Errorf("%v: status %d, %v, %s", c.args, code, err, stderr)
			continue
		}
		if math.Abs(doc.AfterMs-c.want) > 0.001 || math.Abs(doc.BeforeMs-1) > 0.001 || doc.Schema != view.WhatIfSchema {
			t.Errorf("%v: %g ms instead of %g, want %g", c.args, doc.AfterMs, doc.BeforeMs, c.want)
		}
	}
	code, stdout, _ := here("what-if", path, "--remove", "python")
	if code != 0 {
		t.Errorf("status %d", code)
	}
	expect(t, "what-if", stdout, "400 µs instead of 1.00 ms", "Python and untraced code", "matmul", "traced steps")
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int64{"": nil, "7": {7}, "3, 12 to 14, 20": {3, 12, 13, 14, 20},
		"1, 3, 5, 7, 9, 11, …, 21 to 22": {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 22}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}

func TestWhatIfRefuses(t *testing.T) {
	path := hostBound(t)
	for want, args := range map[string][]string{
		"nothing to change":                 {path},
		`did you mean "matmul"`:             {path, "--scale", "matmull=0.5"},
		`did you mean "python"`:             {path, "--remove", "pyhton"},
		"write NAME=FACTOR":                 {path, "--scale", "matmul"},
		"a number from 0 to 1000":           {path, "--scale", "matmul=-1"},
		"they are 5 to 7":                   {path, "--scale", "matmul=1", "--step", "9"},
		`"input" takes no time in these`:    {path, "--remove", "input"},
		`"sync" takes no time in these`:     {path, "--remove", "sync"},
		"can be taken away: launch, python": {path, "--remove", "alloc"},
		"does not hold what DataLoader":     {path, "--workers", "4"},
		"give the traces of all ranks":      {path, "--ranks-equal"},
		"PATH is missing":                   {"--remove", "python"},
		"not between 0 and an hour":         {path, "--measure", "--bench-budget", "-1s"},
	} {
		code, stdout, stderr := here(append([]string{"what-if"}, args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, want %q in %q", args, code, want, stderr)
		}
	}
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte(testkit.NewTrace().String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := here("what-if", empty, "--remove", "python"); code != exitUnusable {
		t.Errorf("status %d for a trace without events: %s", code, stderr)
	}
}
