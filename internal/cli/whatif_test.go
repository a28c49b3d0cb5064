package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/analyse/replay"
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

// TestWhatIfOfNothingThatLasts asks about traces with an operator of no length, with and without a kernel: an answer or a clear line, never
// a panic.
func TestWhatIfOfNothingThatLasts(t *testing.T) {
	op := `{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 0}`
	for kernel, code := range map[string]int{
		"": 3,
		`,{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 2, "dur": 5, "args": {"device": 0, "stream": 7}}`: 0,
	} {
		path := filepath.Join(t.TempDir(), "trace.json")
		if err := os.WriteFile(path, []byte(`{"traceEvents": [`+op+kernel+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		got, stdout, stderr := here("what-if", path, "--scale", "matmul=0")
		if got != code || strings.Contains(stderr, "internal error") || code == 3 &&
			!strings.Contains(stderr, "holds neither steps nor a complete trace") {
			t.Errorf("status %d, want %d: %s%s", got, code, stdout, stderr)
		}
	}
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
		`"input" takes no time in the`:      {path, "--remove", "input"},
		`"sync" takes no time in the`:       {path, "--remove", "sync"},
		"can be taken away: launch, python": {path, "--remove", "alloc"},
		"does not hold what DataLoader":     {path, "--workers", "4"},
		"give the traces of all ranks":      {path, "--ranks-equal"},
		"no session was found":              {"--remove", "python"},
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

// answer asks and gives the document and the text of the answer.
func answer(t *testing.T, args ...string) (doc view.WhatIf, text string) {
	t.Helper()
	code, stdout, stderr := here(append([]string{"what-if", "--json", "-"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &doc); code != 0 || err != nil {
		t.Fatalf("%v: status %d, %v, %s", args, code, err, stderr)
	}
	_, text, _ = here(append([]string{"what-if"}, args...)...)
	return doc, text
}

// rankTrace writes a rank's trace of three steps of so many µs each.
func rankTrace(t *testing.T, folder string, rank int, us int64) {
	t.Helper()
	tr := testkit.NewTrace().Key("distributedInfo", map[string]any{"backend": "nccl", "rank": rank, "world_size": 20})
	for i := range int64(3) {
		tr.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 100, 1, 1000+i*us*1000, us*1000)
		tr.Op("aten::mm", 1, 1000+i*us*1000, us*1000)
	}
	if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("rank%d.json", rank)), []byte(tr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIfOfRanks(t *testing.T) {
	folder := t.TempDir()
	for rank, us := range []int64{500, 900, 700} {
		rankTrace(t, folder, rank, us)
	}
	doc, text := answer(t, folder, "--scale", "matmul=0.5")
	if doc.Rank == nil || *doc.Rank != 1 || doc.Ranks != 3 || doc.Unit != "step" || math.Abs(doc.Coverage-1) > 0.01 ||
		math.Abs(doc.AfterMs-0.45) > 0.001 {
		t.Errorf("%+v", doc)
	}
	expect(t, "what-if", text, "a step of rank 1 takes 450 µs instead of 900 µs", "3 traced steps of each of 3 ranks",
		"100 % of what was traced")
	for rank := 3; rank < 20; rank++ {
		rankTrace(t, folder, rank, 300)
	}
	if doc, text := answer(t, folder, "--scale", "matmul=0.5"); doc.Ranks != replay.MaxTraces ||
		!strings.Contains(text, "4 traces are not replayed") {
		t.Errorf("%+v\n%s", doc, text)
	}
	if doc, text := answer(t, filepath.Join(folder, "rank2.json"), "--scale", "matmul=0.5"); doc.Rank == nil || *doc.Rank != 2 ||
		doc.Ranks != 1 || strings.Contains(text, "rank") {
		t.Errorf("%+v, %s", doc, text)
	}
}

// TestWhatIfWithoutSteps: an answer about all that was recorded does not speak of steps.
func TestWhatIfWithoutSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(testkit.NewTrace().Op("aten::mm", 1, 1000, 800_000).Op("aten::sum", 1, 801_000, 200_000).String()),
		0o600); err != nil {
		t.Fatal(err)
	}
	doc, text := answer(t, path, "--scale", "matmul=0.5")
	if doc.Unit != "run" || doc.Basis != "traced run" || math.Abs(doc.AfterMs-0.6) > 0.001 || strings.Contains(text, "step") {
		t.Errorf("%+v\n%s", doc, text)
	}
	expect(t, "what-if", text, "the run takes 600 µs instead of 1.00 ms: saves 400 µs (40 %)", "where the run goes")
	if code, _, stderr := here("what-if", path, "--remove", "python", "--step", "0"); code != exitUsage ||
		!strings.Contains(stderr, "no steps were recorded") {
		t.Errorf("status %d, %s", code, stderr)
	}
}

// TestWhatIfSavesNothing: what no step waits for is said to be so, with the time that it takes; a factor of 1 changes nothing.
func TestWhatIfSavesNothing(t *testing.T) {
	tr := testkit.NewTrace()
	for i := range int64(3) {
		at := 1000 + i*1_000_000
		tr.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i), 100, 1, at, 1_000_000)
		tr.Op("aten::mm", 1, at, 1_000_000).Launch("gemm", 1, at+1000, 5000, at+10_000, 300_000, int(i)+1)
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(tr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, text := answer(t, path, "--scale", "gpu compute=0.5")
	if math.Abs(doc.NamedMs-0.3) > 0.001 || doc.SavedMs != 0 {
		t.Errorf("%+v", doc)
	}
	expect(t, "what-if", text, "as before: nothing is saved",
		"300 µs a step are spent in what is changed, but all of it beside what the step waits for")
	if doc, text := answer(t, path, "--scale", "aten::mm=1"); doc.AfterMs != doc.BeforeMs || strings.Contains(text, "beside") {
		t.Errorf("%+v\n%s", doc, text)
	}
}

// TestWhatIfMeasuresNothing: where no operator can be run again, an answer that was asked for beside is given, and says so.
func TestWhatIfMeasuresNothing(t *testing.T) {
	path := hostBound(t)
	doc, text := answer(t, path, "--remove", "python", "--measure", "--python", "/no/such/python")
	if doc.Measured != nil || math.Abs(doc.AfterMs-0.4) > 0.001 {
		t.Errorf("%+v", doc)
	}
	expect(t, "what-if", text, "nothing was measured: no operator's inputs were recorded")
	if code, stdout, stderr := here("what-if", path, "--measure", "--python", "/no/such/python"); code != exitUnusable || stdout != "" ||
		!strings.Contains(stderr, "no operator's inputs were recorded") {
		t.Errorf("status %d, %s", code, stderr)
	}
}
