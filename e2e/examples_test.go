package e2e

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/testkit"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// finding and document are what these tests read of the report document, by the names that docs promise.
type finding struct {
	Cause, Sub, Title string
	Share             float64
	Where             struct {
		File string
		Line int
		Rank *int
	}
	Saving *struct {
		RunS *struct{ Low, Mid, High float64 } `json:"run_s"`
	}
}

type document struct {
	Schema string
	Run    struct {
		ExitCode int     `json:"exit_code"`
		WallS    float64 `json:"wall_s"`
	}
	Steps []struct {
		Kind     string
		Baseline *struct {
			Count    int
			MedianMS float64 `json:"median_ms"`
		}
		Traced *struct{ Count int }
	}
	Account struct {
		TotalMS float64 `json:"total_ms"`
	}
	Breakdown []struct {
		Part  string
		MS    float64
		Share float64
	}
	Verdict  struct{ Bound, Sentence string }
	Findings []finding
}

// saving is the predicted saving over the run in seconds; NaN where none is given.
func (f finding) saving() float64 {
	if f.Saving == nil || f.Saving.RunS == nil {
		return math.NaN()
	}
	return f.Saving.RunS.Mid
}

// oneThread keeps a program's bottleneck the same on busy and idle machines: OpenMP's threads spin while they wait, which
// beside other work makes any step ten times longer, and any program bound by its operators.
const oneThread = "OMP_NUM_THREADS=1"

// ran is one profiled run.
type ran struct {
	report   document
	text     string // the report at the run's end
	document string // the same by --json
	stdout   string
	wall     time.Duration
	cpu      time.Duration // of the program, its children and bottleneck
	folder   string
}

func TestExamples(t *testing.T) {
	for _, generation := range generations(t) {
		t.Run(generation, func(t *testing.T) {
			python := environment(t, generation)
			for _, name := range programNames(t) {
				t.Run(strings.TrimSuffix(name, ".py"), func(t *testing.T) {
					testkit.Wide(t, name != "images.py")
					testkit.Shared(t, generation, name)
					testExample(t, python, name)
				})
			}
		})
	}
}

// testExample runs a program and its twin and compares what the reports say with what is known.
func testExample(t *testing.T, python, name string) {
	slow, fixed := readProgram(t, name), readProgram(t, "fixed/"+name)
	slow.able(t, python)
	before := profile(t, python, slow)
	checkAccount(t, before)
	checkReplayed(t, before)
	checkReplay(t, before)
	if len(before.report.Findings) == 0 {
		t.Errorf("nothing found; expected %s/%s; %s", slow.cause, slow.sub, before.report.Verdict.Sentence)
	} else if first := before.report.Findings[0]; !slow.names(first) || !slow.placed(first) {
		t.Errorf("first finding is %v; expected %s/%s at lines %v", first, slow.cause, slow.sub, slow.lines)
	} else if slow.rank >= 0 && (first.Where.Rank == nil || *first.Where.Rank != slow.rank) {
		t.Errorf("first finding %v names rank %v, expected %d", first, first.Where.Rank, slow.rank)
	}

	if testing.Short() {
		return // the twin shows that the program's bottleneck is real, which does not depend on PyTorch's version
	}
	after := profile(t, python, fixed)
	checkAccount(t, after)
	for _, f := range after.report.Findings {
		if fixed.names(f) && f.Share > 0.10 {
			t.Errorf("the fixed twin still has %v", f)
		}
	}
	// Ranks that wait for each other take no CPU time, and the clock is no judge on a shared machine: for them the finding's
	// absence above has to do.
	if slow.cause != "straggler" && after.cpu > before.cpu*19/20 {
		t.Errorf("the fixed twin took %v of %v CPU time: it must do less", after.cpu, before.cpu)
	}
	if len(before.report.Findings) > 0 {
		t.Logf("saving predicted %.1f s; wall time %.1f s → %.1f s, CPU time %.1f s → %.1f s",
			before.report.Findings[0].saving(), before.wall.Seconds(), after.wall.Seconds(), before.cpu.Seconds(), after.cpu.Seconds())
	}
}

// TestForkServer has the workers of a loader started by a fork server, as Python 3.14 does by itself: they must be joined to it.
func TestForkServer(t *testing.T) {
	testkit.Wide(t, true)
	python := environment(t, generations(t)[0])
	const begin = "if __name__ == \"__main__\":\n"
	text := read(t, filepath.Join(root(t), "examples", "images.py"))
	served := strings.Replace(text, begin, begin+"    torch.multiprocessing.set_start_method(\"forkserver\")\n", 1)
	if served == text {
		t.Fatal("images.py begins otherwise")
	}
	path := filepath.Join(t.TempDir(), "images.py")
	write(t, path, served)
	p := readProgram(t, "images.py")
	p.script = path
	r := profile(t, python, p)
	checkReplayed(t, r)
	if len(r.report.Findings) == 0 || !p.names(r.report.Findings[0]) || !p.placed(r.report.Findings[0]) {
		t.Errorf("findings %v; expected %s/%s at lines %v", r.report.Findings, p.cause, p.sub, p.lines)
	}
}

// profile runs a program under the binary; its own output and status must be as without.
func profile(t *testing.T, python string, p program) *ran {
	t.Helper()
	r := &ran{folder: filepath.Join(t.TempDir(), "session")}
	text, document := filepath.Join(t.TempDir(), "report.txt"), filepath.Join(t.TempDir(), "report.json")
	args := append([]string{"run", "--out", r.folder, "-o", text, "--json", document, "--"}, p.command(python)...)
	cmd := exec.Command(binary(t), args...)
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), oneThread)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	r.wall, r.stdout = time.Since(began), stdout.String()
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	if r.stdout == "" {
		t.Errorf("%s printed nothing", p.name)
	}
	r.text = read(t, text)
	r.document = read(t, document)
	if err := json.Unmarshal([]byte(r.document), &r.report); err != nil {
		t.Fatalf("--json: %v", err)
	}
	return r
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkAccount asks that the parts of a step sum to its median, or to the mean of uneven ones, with less than a twentieth unknown.
func checkAccount(t *testing.T, r *ran) {
	t.Helper()
	if r.report.Schema != "bottleneck.report/1" || r.report.Run.ExitCode != 0 || len(r.report.Breakdown) == 0 {
		t.Errorf("schema %q, exit code %d, %d parts of the step", r.report.Schema, r.report.Run.ExitCode, len(r.report.Breakdown))
		return
	}
	sum, share, unknown := 0.0, 0.0, 0.0
	for _, part := range r.report.Breakdown {
		sum, share = sum+part.MS, share+part.Share
		if part.Part == "unknown" {
			unknown = part.Share
		}
	}
	if math.Abs(share-1) > 1e-3 {
		t.Errorf("shares sum to %.4f", share)
	}
	if steps := r.report.Steps; len(steps) > 0 && steps[0].Baseline != nil {
		median, total := steps[0].Baseline.MedianMS, r.report.Account.TotalMS
		even := math.Abs(sum-median) <= 1e-3*sum
		if math.Abs(sum-total) > 1e-3*sum || !even && sum < 1.1*median {
			t.Errorf("parts sum to %.3f ms of a step of %.3f ms; the median has %.3f ms", sum, total, median)
		}
	}
	if unknown > 0.05 {
		t.Errorf("%.1f %% of the step is unknown", unknown*100)
	}
}

// checkReplayed asks that `report DIR` gives what the run gave at its end, as text and as document, and that the text fits.
func checkReplayed(t *testing.T, r *ran) {
	t.Helper()
	if later := report(t, r.folder); later != r.text {
		t.Errorf("report of the session differs from the one at the run's end: %s", firstDifference(r.text, later))
	}
	if later := report(t, "--json", "-", r.folder); later != r.document {
		t.Errorf("report --json of the session differs from the one at the run's end: %s", firstDifference(r.document, later))
	}
	for i, line := range strings.Split(r.text, "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("line %d of the report has %d columns: %s", i+1, n, line)
		}
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(r.document))
	if err != nil {
		t.Fatalf("--json: %v", err)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root(t), "docs", "report.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(document); err != nil {
		t.Errorf("--json is not what docs/report.schema.json says: %v", err)
	}
}

// report is what `bottleneck report` prints.
func report(t *testing.T, arguments ...string) string {
	t.Helper()
	cmd := exec.Command(binary(t), append([]string{"report"}, arguments...)...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v", cmd, err)
	}
	return string(out)
}

func firstDifference(a, b string) string {
	other := strings.Split(b, "\n")
	for i, line := range strings.Split(a, "\n") {
		if i >= len(other) || line != other[i] {
			return "at the run's end: " + line + "\nlater: " + strings.Join(other[min(i, len(other)-1):min(i+1, len(other))], "")
		}
	}
	return "the later one is longer"
}
