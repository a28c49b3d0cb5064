package export_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bottleneck/internal/cli"
)

// gpuTrace is a function that calls an operator whose kernel runs for 20 µs.
const gpuTrace = `{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "made"}], "traceEvents": [
{"ph": "X", "cat": "python_function", "name": "train.py(3): step", "pid": 7, "tid": 7, "ts": 100, "dur": 90, "args": {"Python id": 1, "Python parent id": null}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 110, "dur": 30, "args": {"External id": 5, "Ev Idx": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 120, "dur": 5, "args": {"External id": 5, "correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 150, "dur": 20, "args": {"External id": 5, "device": 0, "stream": 7, "correlation": 9}}
]}`

// TestFromOtherTools executes the commands of docs/from-other-tools.md and looks for the lines that it shows.
func TestFromOtherTools(t *testing.T) {
	page := read(t, "../../docs/from-other-tools.md")
	trace := read(t, "../../testdata/torchtable/everything.trace.json.gz")
	plain := read(t, "../../testdata/torchtable/plain.trace.json.gz")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	foreign := foreignFiles(t)
	t.Chdir(t.TempDir())
	for name, data := range foreign {
		write(t, name, data)
	}
	write(t, "trace.json.gz", trace)
	write(t, "gpu.json.gz", []byte(gpuTrace))
	if err := os.Mkdir("log", 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, "log/host_1.1.pt.trace.json.gz", trace)
	write(t, "log/host_2.1.pt.trace.json.gz", plain)
	const program = "import cProfile; cProfile.run('sorted(str(i) for i in range(1000))', 'train.prof')"
	if out, err := exec.Command(python, "-c", program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commands := 0
	inside, skipped := false, false
	var command, output string
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSuffix(line, "\n")
		switch rest, ok := strings.CutPrefix(line, "$ bottleneck "); {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && ok && missing(t, foreign, rest):
			output = ""
			skipped = true
		case inside && ok:
			skipped = false
			command = rest
			commands++
			output = runCommand(t, rest)
		case inside && skipped:
		case inside:
			if !shows(output, line) {
				t.Errorf("%s: its output has no line like %q:\n%s", command, line, firstLines(output, 20))
			}
		}
	}
	if commands < 12 {
		t.Errorf("only %d commands were executed", commands)
	}
	for _, file := range []string{"whole.json.gz", "memory.html", "memory.raw.json.gz", "again.prof"} {
		if info, err := os.Stat(file); err != nil || info.Size() < 100 {
			t.Errorf("%s was not written: %v", file, err)
		}
	}
	if files, _ := filepath.Glob("tb/trainer_0.*.pt.trace.json.gz"); len(files) != 1 {
		t.Errorf("tb holds %v", files)
	}
}

// foreignNames are the real files of other tools that the page's commands read, by the names that it gives them.
var foreignNames = map[string]string{
	"nvprof.sql": "nvprof-sqlite/pyprof_net_bert.sql", "nsys.sqlite": "nsys-sqlite/cs336_rtx3070ti_nsys2025.1.sqlite",
	"sampled.json":     "speedscope/pyspy_bpe_tokenizer.speedscope.json",
	"snapshot.pickle":  "cuda-memory-snapshot/cs336_bcrafton.pickle",
	"timeline.json.gz": "memory-timeline/adamw8bit-memory-timeline.json.gz", "execution.json.gz": "param-linear/linear_et.json.gz",
}

// foreignFiles are those that are there.
func foreignFiles(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, path := range map[string]string{"compiled.log.gz": "torchtrace/comp.log.gz", "viztracer.json.gz": "viztracer/calls.json.gz",
		"perfetto.pftrace": "perfetto/small.pftrace", "scalene.json.gz": "scalene/profile.json.gz", "memray.json": "memray/stats.json",
		"counters.csv": "rocprof/counter_collection.csv"} {
		out[name] = read(t, "../ingest/testdata/"+path)
	}
	for name, path := range foreignNames {
		if data, err := os.ReadFile("../../../shared/traces/" + path); err == nil {
			out[name] = data
		}
	}
	return out
}

// missing says whether a command reads a real file that is not beside this checkout.
func missing(t *testing.T, files map[string][]byte, command string) bool {
	t.Helper()
	words := strings.Fields(command)
	name := words[len(words)-1]
	if _, foreign := foreignNames[name]; foreign && files[name] == nil {
		t.Logf("left out without the real file: %s", command)
		return true
	}
	return false
}

func runCommand(t *testing.T, command string) string {
	t.Helper()
	var out, errors bytes.Buffer
	if status := cli.Run(context.Background(), strings.Fields(command), strings.NewReader(""), &out, &errors); status != 0 {
		t.Errorf("bottleneck %s: exit status %d\n%s", command, status, errors.String())
	}
	return out.String()
}

// shows says whether a line of the output is like the shown one, in which "…" stands for anything.
func shows(output, line string) bool {
	parts := strings.Split(line, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?m)^` + strings.Join(parts, ".*") + `\s*$`).MatchString(output)
}

func firstLines(s string, n int) string {
	lines := strings.SplitAfterN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "")
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
