package cli

import (
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// looped writes a trace of steps that each call an operator so many times, of so many microseconds.
func looped(t *testing.T, name string, steps, calls int, us int64) string {
	t.Helper()
	tr := testkit.NewTrace()
	for i := range int64(steps) {
		at := i * 10_000_000
		length := int64(calls)*us*1000 + 50_000
		tr.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i+5), 100, 1, at, length)
		for k := range int64(calls) {
			tr.Op("aten::mm", 1, at+k*us*1000, us*1000-1)
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(tr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// diffOf runs diff and reads its document, which must be what the schema says and add up.
func diffOf(t *testing.T, args ...string) *report.Diff {
	t.Helper()
	code, stdout, stderr := here(append([]string{"diff", "--json", "-"}, args...)...)
	var d report.Diff
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 && d.Verdict != report.Unlike {
		t.Fatalf("%v: status %d, %v\n%s", args, code, err, stderr)
	}
	validate(t, "diff.schema.json", stdout)
	sums, sizes := map[string]float64{}, map[string]float64{}
	for _, r := range d.Rows {
		sums[r.Kind] += r.DifferenceMs
		sizes[r.Kind] += math.Abs(r.DifferenceMs) + r.Before.Ms + r.After.Ms
	}
	for kind, sum := range sums {
		if math.Abs(sum-d.Step.DifferenceMs) > 1e-9*(sizes[kind]+d.Step.BeforeMs) {
			t.Errorf("%v: rows of %s sum to %v, the step differs by %v", args, kind, sum, d.Step.DifferenceMs)
		}
	}
	return &d
}

func validate(t *testing.T, name, text string) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(document); err != nil {
		t.Errorf("the document is not what docs/%s says: %v", name, err)
	}
}

func TestDiff(t *testing.T) {
	before, after := []string{}, []string{}
	for i := range 4 {
		before = append(before, looped(t, "a.json", 20, 3, int64(100+i)))
		after = append(after, looped(t, "b.json", 20, 4, int64(100+i)))
	}
	d := diffOf(t, append(append(before, "--"), after...)...)
	if d.Verdict != report.Slower || len(d.Before.Runs) != 4 || math.Abs(d.Step.DifferenceMs-0.1015) > 0.002 {
		t.Errorf("%s: %+v", d.Sentence, d.Step)
	}
	if !strings.Contains(d.Sentence, "because 1 more aten::mm a step") {
		t.Error(d.Sentence)
	}
	for _, r := range d.Rows {
		if r.Name == "aten::mm" && (math.Abs(*r.CallsMs-r.DifferenceMs) > 0.002 || *r.Before.Count != 3 || *r.After.Count != 4) {
			t.Errorf("%+v: %v more calls, %v dearer", r, *r.CallsMs, *r.PriceMs)
		}
	}
	code, stdout, stderr := here("diff", before[0], after[0])
	if code != 0 || !strings.HasPrefix(stdout, "Cannot say: one run against one run") {
		t.Errorf("status %d: %s%s", code, stdout, stderr)
	}
	expect(t, "diff", strings.Join(strings.Fields(stdout), " "), "for certain: 1 more aten::mm a step", "noise of the machine not covered",
		"all rows sum to +100 µs", "at least 3 more a side")
	for i, line := range strings.Split(stdout, "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("line %d has %d columns: %s", i+1, n, line)
		}
	}
}

// TestDiffOfRealTraces compares real files of many kinds, each with itself and with its neighbour: every account closes, every document is
// what the schema says, and a file does not differ from itself.
func TestDiffOfRealTraces(t *testing.T) {
	traces := filepath.Join("..", "..", "..", "shared", "traces")
	files := []string{"hta-compare-small/base.json.gz", "hta-compare-small/test.json.gz", "hta-critical-path/alexnet_a100.json.gz",
		"hta-critical-path/simple_add_overlaid_critical_path.json.gz", "hta-nccl-a100/nccl_data.json.gz",
		"hta-sampled-128ranks/sampled_rank-0.json.gz", "hta-sampled-128ranks/sampled_rank-1.json.gz",
		"hta-mtia/mtia_inference_rank_0.json.gz", "luatil-compile-rtx3060/trace_04_compiled.json.gz",
		"luatil-compile-rtx3060/trace_06_cudagraphs.json.gz", "megatron-tp8-a100/megatron_kineto_0.json.gz",
		"dtu-mlops-windows-cpu/resnet18.LE-PC-DE-16_8780.1672914269646.pt.trace.json.gz", "line-profiler/nerfstudio_train.lprof",
		"line-profiler/ssd_train.lprof", "pstats/amazon_review_train.prof", "pstats/dtu_profile_stats_windows.prof",
		"pprof/large.cpu.pb", "speedscope/pyspy_bpe_tokenizer.speedscope.json"}
	for i, name := range files {
		path := filepath.Join(traces, name)
		if _, err := os.Stat(path); err != nil {
			t.Skip("the folder of real traces is not there: ", err)
		}
		d := diffOf(t, "--anyway", path, path)
		if d.Step.DifferenceMs != 0 || len(d.Findings.Gone)+len(d.Findings.New) > 0 {
			t.Errorf("%s differs from itself by %v ms: %+v", name, d.Step.DifferenceMs, d.Findings)
		}
		for _, r := range d.Rows {
			if math.Abs(r.DifferenceMs) > 1e-9*d.Step.BeforeMs {
				t.Errorf("%s differs from itself: %+v", name, r)
			}
		}
		for _, c := range d.Counters {
			if c.Different {
				t.Errorf("%s differs from itself: %+v", name, c)
			}
		}
		other := filepath.Join(traces, files[(i+1)%len(files)])
		if code, stdout, stderr := here("diff", "--json", "-", "--anyway", path, other); code == 0 {
			diffOf(t, "--anyway", path, other)
		} else if code != exitUnusable || stdout != "" || !strings.Contains(stderr, "in common") {
			t.Errorf("%s and %s: status %d: %s", name, other, code, stderr)
		}
	}
}

func TestDiffRefuses(t *testing.T) {
	good := looped(t, "a.json", 20, 3, 100)
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{good}, exitUsage, "needs two sides"},
		{[]string{good, good, good}, exitUsage, "BEFORE… -- AFTER…"},
		{[]string{good, "--"}, exitUsage, "missing on one side"},
		{[]string{"--per", "stpe", good, good}, exitUsage, `did you mean "step"`},
		{[]string{"--per", "item", good, good}, exitUnusable, "no batch size was seen"},
		{[]string{"--per", "token", good, good}, exitUnusable, "aten::embedding"},
		{[]string{good, empty}, exitUnusable, "the file is empty"},
		{[]string{good, filepath.Join(t.TempDir(), "nowhere")}, exitUnusable, "nowhere"},
	} {
		code, stdout, stderr := here(append([]string{"diff"}, c.args...)...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: status %d, %q, %q", c.args, code, stdout, stderr)
		}
	}
}

// TestDiffOfUnlike: sides that share nothing are refused with what is unlike, and compared on demand.
func TestDiffOfUnlike(t *testing.T) {
	tr := testkit.NewTrace()
	for i := range int64(20) {
		tr.X("user_annotation", fmt.Sprintf("ProfilerStep#%d", i+5), 100, 1, i*1000_000, 900_000)
		tr.Op("aten::conv2d", 1, i*1000_000, 800_000)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(tr.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	good := looped(t, "a.json", 20, 3, 100)
	code, stdout, _ := here("diff", good, other)
	if code != exitNo || !strings.HasPrefix(stdout, "Not comparable: program: a.json and other.json") {
		t.Errorf("status %d: %s", code, stdout)
	}
	if d := diffOf(t, "--anyway", good, other); d.Verdict == report.Unlike || len(d.Rows) == 0 {
		t.Error(d.Sentence)
	}
}

// TestDiffOfManyStepsAgainstFew says what the few are worth; damaged files are named.
func TestDiffOfManyStepsAgainstFew(t *testing.T) {
	few, many := looped(t, "few.json", 10, 3, 100), looped(t, "many.json", 2000, 3, 100)
	text, err := os.ReadFile(many)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(many, text[:len(text)*9/10], 0o600); err != nil {
		t.Fatal(err)
	}
	d := diffOf(t, few, many)
	notes := strings.Join(d.Notes, "\n")
	if !strings.Contains(notes, "10 steps are few") || !strings.Contains(notes, "many.json") {
		t.Errorf("notes: %s", notes)
	}
}

func TestGateCommand(t *testing.T) {
	dir := t.TempDir()
	perf := filepath.Join(dir, "perf.json")
	a, b := looped(t, "a.json", 20, 3, 100), looped(t, "b.json", 20, 4, 100)
	if code, _, stderr := here("gate", "--baseline", perf, "--write-baseline", a); code != 0 || !strings.Contains(stderr, "counters only") {
		t.Fatalf("status %d: %s", code, stderr)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--baseline", perf, a}, 0, "Passed: "},
		{[]string{"--baseline", perf, b}, exitNo, "Worse: operators 0: 4 a step, was 3"},
		{[]string{"--baseline", perf, "--rule", "operators 1", b}, 0, "Passed: "},
		{[]string{"--baseline", perf, "--rule", "step +3%", b}, exitUndecided, "Cannot say: "},
		{[]string{"--baseline", perf, "--rule", "launches 0", b}, exitUndecided, "did not count it"},
		{[]string{"--baseline", perf, "--rule", "operaters 0", b}, exitUsage, `rules are about: step, operators`},
		{[]string{"--baseline", perf, "--format", "yaml", b}, exitUsage, "--format"},
		{[]string{b}, exitUsage, "--baseline FILE is missing"},
		{[]string{"--baseline", perf}, exitUsage, "SESSION is missing"},
		{[]string{"--baseline", filepath.Join(dir, "none.json"), b}, exitUnusable, "there is no baseline"},
		{[]string{"--baseline", a, b}, exitUnusable, "no baseline of this version"},
		{[]string{"--baseline", perf, filepath.Join(dir, "none")}, exitUnusable, "none"},
		{[]string{"--baseline", perf, "--rules", filepath.Join(dir, "rules"), b}, exitNo, "operators 0"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "rules"), []byte("# ours\n\noperators 0 # none more\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := here(append([]string{"gate"}, c.args...)...)
		if text := strings.Join(strings.Fields(stdout+stderr), " "); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%v: status %d, %s", c.args, code, text)
		}
	}
	_, stdout, _ := here("gate", "--baseline", perf, "--format", "json", b)
	validate(t, "gate.schema.json", stdout)
}

// TestDiffOfDirectoriesOfRuns: a directory of sessions is a side of that many runs, packed ones as well; what ended badly is said.
func TestDiffOfDirectoriesOfRuns(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import sys\nsys.exit(int(sys.argv[1]))\n")
	b.file("killed.py", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
	for i := range 4 {
		for _, side := range []string{"a", "b"} {
			if got := b.run("", "run", "--no-trace", "--out", fmt.Sprintf("%s/%d", side, i), "-o", "report.txt",
				"s.py", "0"); got.code != 0 {
				t.Fatalf("%+v", got)
			}
		}
	}
	document := func(args ...string) (d report.Diff) {
		t.Helper()
		got := b.run("", append([]string{"diff", "--json", "-"}, args...)...)
		if err := json.Unmarshal([]byte(got.stdout), &d); err != nil || got.code > 1 {
			t.Fatalf("%v: %+v", args, got)
		}
		validate(t, "diff.schema.json", got.stdout)
		return d
	}
	d := document("a", "b")
	if len(d.Before.Runs) != 4 || len(d.After.Runs) != 4 || !d.NoiseCovered || d.Per != "run" || d.Step.LowMs == nil {
		t.Errorf("%s: %+v", d.Sentence, d.Before)
	}
	b.file("packed/README", "not a session")
	for i := range 2 {
		if got := b.run("", "pack", "-o", fmt.Sprintf("packed/%d.tar.zst", i), fmt.Sprintf("a/%d", i)); got.code != 0 {
			t.Fatalf("%+v", got)
		}
	}
	if d := document("packed", "b"); len(d.Before.Runs) != 2 || d.NoiseCovered || d.Verdict != report.Undecided {
		t.Errorf("%s: %+v", d.Sentence, d.Before)
	}
	b.run("", "run", "--no-trace", "--out", "failed", "-o", "report.txt", "s.py", "7")
	b.run("", "run", "--no-trace", "--out", "ended", "-o", "report.txt", "killed.py")
	notes := strings.Join(document("--anyway", "failed", "ended").Notes, "\n")
	if !strings.Contains(notes, "failed: the program ended with exit status 7") ||
		!strings.Contains(notes, "ended: the program was ended by SIGTERM") {
		t.Error(notes)
	}
	if got := b.run("", "gate", "--baseline", "perf.json", "--write-baseline", "a"); got.code != 0 ||
		!strings.Contains(got.stdout, "4 runs") {
		t.Errorf("%+v", got)
	}
	if got := b.run("", "gate", "--baseline", "perf.json", "--rule", "step +100000%", "b"); got.code != 0 {
		t.Errorf("%+v", got)
	}
}

// TestExportDiffCommand writes what differs between two traces, and names the forms that have a form for it.
func TestExportDiffCommand(t *testing.T) {
	a, b := looped(t, "a.json", 20, 3, 100), looped(t, "b.json", 20, 4, 100)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--to", "folded", a}, exitUsage, "needs two sessions, BEFORE and AFTER, and has 1"},
		{[]string{"--to", "chrome", a, b}, exitUsage, "has no form for differences"},
		{[]string{"--to", "folded", a, b}, exitUnusable, "samples"},
		{[]string{"--to", "html", "-o", filepath.Join(t.TempDir(), "page.html"), a, b}, 0, ""},
	} {
		code, stdout, stderr := here(append([]string{"export", "--diff"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: status %d, %q, %d bytes", c.args, code, stderr, len(stdout))
		}
	}
}
