package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// program is one of examples/ with what its header says.
type program struct {
	name   string // of its file in examples/
	cause  string // expected cause, sub-cause and rank; "" and -1: none given
	sub    string
	rank   int
	absent bool     // `# expect: not …`: the cause must not be found
	lines  []int    // marked lines, from 1
	short  []string // arguments for tests
	launch []string // put between the interpreter and the script
	needs  string   // module without which it cannot run
	script string   // path, where it is not examples/name
}

// root is the checkout.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// readProgram reads the header and the marks of a file below examples/.
func readProgram(t *testing.T, name string) program {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "examples", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	p := program{name: name, rank: -1}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "# expect: here") {
			p.lines = append(p.lines, i+1)
			continue
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
		if !ok || !strings.HasPrefix(line, "# ") {
			continue
		}
		switch key {
		case "expect":
			p.expect(t, value)
		case "short":
			p.short = strings.Fields(value)
		case "needs":
			p.needs = value
		case "run": // torchrun is `python -m torch.distributed.run`
			p.launch = append([]string{"-m", "torch.distributed.run"}, strings.Fields(value)[1:]...)
		}
	}
	if p.cause == "" || len(p.short) == 0 || len(p.lines) == 0 && !p.absent {
		t.Fatalf("examples/%s: its header lacks an expectation, a mark or short arguments", name)
	}
	return p
}

func (p *program) expect(t *testing.T, text string) {
	t.Helper()
	text, p.absent = strings.CutPrefix(text, "not ")
	for _, field := range strings.Fields(text) {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "cause":
			p.cause = value
		case "sub":
			p.sub = value
		case "rank":
			rank, err := strconv.Atoi(value)
			if err != nil {
				t.Fatalf("examples/%s: rank %q", p.name, value)
			}
			p.rank = rank
		default:
			t.Fatalf("examples/%s: expectation %q", p.name, field)
		}
	}
}

// command is the program with its short arguments, under the interpreter.
func (p *program) command(python string) []string {
	args := append([]string{python}, p.launch...)
	script := cmp.Or(p.script, filepath.Join("examples", p.name))
	return append(append(args, script), p.short...)
}

// placed says whether a place is within two lines of a mark.
func (p *program) placed(f finding) bool {
	if filepath.Base(f.Where.File) != filepath.Base(p.name) {
		return false
	}
	for _, line := range p.lines {
		if f.Where.Line >= line-2 && f.Where.Line <= line+2 {
			return true
		}
	}
	return false
}

// names says whether a finding is of the expected cause and, where given, sub-cause.
func (p *program) names(f finding) bool {
	return f.Cause == p.cause && (p.sub == "" || f.Sub == p.sub)
}

// names of the programs in examples/, twins apart.
func programNames(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root(t), "examples", "*.py"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// TestTwinsDifferLittle keeps twins from drifting: each is its program with the few lines changed that cure it.
func TestTwinsDifferLittle(t *testing.T) {
	for _, name := range programNames(t) {
		slow, fixed := readProgram(t, name), readProgram(t, "fixed/"+name)
		if slow.absent || !fixed.absent || slow.cause != fixed.cause {
			t.Errorf("%s expects %q, its twin must expect that to be absent", name, slow.cause)
		}
		if n := changedLines(t, name); n == 0 || n > 20 {
			t.Errorf("%s: %d lines differ from its twin, want 1 to 20", name, n)
		}
	}
}

// changedLines counts the lines that diff prints for a program and its twin, headers' expectation apart.
func changedLines(t *testing.T, name string) int {
	t.Helper()
	slow, fixed := lineCounts(t, "examples/"+name), lineCounts(t, "examples/fixed/"+name)
	n := 0
	for line, count := range slow {
		n += max(0, count-fixed[line])
	}
	for line, count := range fixed {
		n += max(0, count-slow[line])
	}
	return n
}

// lineCounts counts equal lines of a file, without the header's expectation.
func lineCounts(t *testing.T, path string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "# expect") {
			counts[line]++
		}
	}
	return counts
}

// environment gives the interpreter of a generation, or skips with env.sh's reason.
func environment(t *testing.T, generation string) string {
	t.Helper()
	cmd := exec.Command("scripts/env.sh", generation)
	cmd.Dir = root(t)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 3 {
		t.Skip(strings.TrimSpace(stderr.String()))
	}
	if err != nil {
		t.Fatalf("scripts/env.sh %s: %v\n%s", generation, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// able skips a program that the generation cannot run by itself.
func (p *program) able(t *testing.T, python string) {
	t.Helper()
	if p.needs != "" {
		if err := exec.Command(python, "-c", "import "+p.needs).Run(); err != nil {
			t.Skipf("%s has no module %s", python, p.needs)
		}
	}
	if len(p.launch) > 0 {
		probe := exec.Command(python, "-m", "torch.distributed.run", "--nproc_per_node", "1", "--no_python", "true")
		if out, err := probe.CombinedOutput(); err != nil {
			t.Skipf("torchrun of %s fails on an empty command: %s", python, lastLine(string(out)))
		}
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// binary is ./bottleneck of the checkout.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(root(t), "bottleneck")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no ./bottleneck: `make build` first")
	}
	return path
}

// generations are those named by BOTTLENECK_E2E.
func generations(t *testing.T) []string {
	t.Helper()
	names := os.Getenv("BOTTLENECK_E2E")
	if names == "" {
		t.Skip("BOTTLENECK_E2E names no generation; `make test` does")
	}
	return strings.Split(names, ",")
}

func (f finding) String() string {
	return fmt.Sprintf("%s/%s at %s:%d, saves %.1f s (%.0f %%): %s", f.Cause, f.Sub, filepath.Base(f.Where.File), f.Where.Line,
		f.saving(), f.Share*100, f.Title)
}
