package e2e

import (
	proofs "bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type provableCase struct {
	path, cause string   // a case of the zoo, or a file, below testdata
	sizes       []string // pairs of old and new texts
	rest        bool
	saved       string // a file of states that is compared, too
}

// Which command runs a case: `make test`, too, or `make test-proofs` alone.
const narrow, rest = false, true

// provable are programs of testdata whose finding has a change that a program can make. sizes make them short, and seed what they draw:
// what both sides print shall tell whether they compute the same.
var provable = []provableCase{
	{"zoo/input-workers", "input", []string{"ROWS = 4400", "ROWS = 1800"}, narrow, ""},
	{"zoo/input-transform", "input",
		[]string{"PICTURES = 3600", "PICTURES = 2000", "EPOCHS = 3", "EPOCHS = 1\ntorch.manual_seed(3)"}, rest, ""},
	{"zoo/input-cold", "input", []string{"RECORDS = 6400", "RECORDS = 2400\ntorch.manual_seed(3)",
		"os.urandom(PIECE) * 256", "bytes(range(256)) * PIECE"}, rest, ""},
	{"zoo/input-restart", "input", []string{"EPOCHS = 64", "EPOCHS = 32\ntorch.manual_seed(3)"}, rest, ""},
	{"zoo/real-classifier", "input", []string{"PICTURES = 1000", "PICTURES = 400", "EPOCHS = 3", "EPOCHS = 2"}, rest, ""},
	{"zoo/python-anomaly", "python", []string{"STEPS = 300", "STEPS = 150\ntorch.manual_seed(3)",
		"\n\nif __name__", "    torch.save(network.state_dict(), \"state.pt\")\n\n\nif __name__"}, rest, "state.pt"},
	{"zoo/memory-optimizer", "memory-bound", []string{"STEPS = 60", "STEPS = 60\ntorch.manual_seed(3)"}, rest, ""},
	{"zoo/compile-again", "compile", []string{"STEPS = 28", "STEPS = 28\ntorch.manual_seed(3)"}, rest, ""},
	{"zoo/plant-lengths", "compile", []string{"WINDOWS = 2560", "WINDOWS = 1280"}, rest, ""},
	{"zoo/threads-many", "threads", []string{"STEPS = 780", "STEPS = 390\ntorch.manual_seed(3)"}, rest, ""},
	{"zoo/plant-threads", "threads", []string{"WINDOWS = 800", "WINDOWS = 512"}, rest, ""},
	{"zoo/gc-objects", "gc", []string{"STEPS = 52", "STEPS = 40\ntorch.manual_seed(3)", "NODES = 36000", "NODES = 20000"}, rest, ""},
	{"zoo/plant-collector", "gc", []string{"WINDOWS = 2560", "WINDOWS = 1280"}, rest, ""},
	{"proof/objects.py", "gc", nil, rest, ""},
}

// project writes a program into a git repository: a file of testdata as train.py, or the slow side of a case of the zoo with all of its
// files. It gives the script's name and the files' texts.
func project(t *testing.T, folder, path, program string, sizes []string) (script string, texts map[string]string) {
	t.Helper()
	shorter, texts := strings.NewReplacer(sizes...), map[string]string{}
	from := filepath.Join(root(t), "testdata", filepath.FromSlash(program))
	if strings.HasSuffix(program, ".py") {
		script, texts["train.py"] = "train.py", shorter.Replace(read(t, from))
	} else {
		var expect struct{ Main, Base string }
		if err := json.Unmarshal([]byte(read(t, filepath.Join(from, "expect.json"))), &expect); err != nil {
			t.Fatal(err)
		}
		layers := []string{filepath.Join(from, "slow")}
		if script = expect.Main; script != "" {
			layers = append([]string{from}, layers...)
		}
		if expect.Base != "" {
			layers = append([]string{filepath.Join(filepath.Dir(from), expect.Base)}, layers...)
		}
		for _, layer := range layers {
			paths, err := filepath.Glob(filepath.Join(layer, "*.py"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				texts[filepath.Base(path)] = shorter.Replace(read(t, path))
			}
		}
		if script == "" {
			script, texts["train.py"] = "train.py", shorter.Replace(read(t, filepath.Join(from, "slow.py")))
		}
	}
	for name, text := range texts {
		write(t, filepath.Join(folder, name), text)
	}
	if status, out := execute(t, folder, path,
		"git init -q . && git add *.py && git -c user.name=n -c user.email=e commit -qm before"); status != 0 {
		t.Skipf("git: %s", out)
	}
	return script, texts
}

// TestProveZoo: run, prove, apply the patch, run, diff, gate. How much is saved is not judged here, since other programs run beside the
// tests: make zoo does. What is: the change is the one that the finding proposes and that README tells, nothing of the user's is touched,
// both sides print the same.
func TestProveZoo(t *testing.T) {
	told := toldProofs(t)
	for _, generation := range generations(t) {
		python := environment(t, generation)
		for _, c := range provable {
			t.Run(generation+"/"+c.path, func(t *testing.T) {
				testkit.Rest(t, c.rest, "make test-proofs")
				folder, path := pageFolder(t, python)
				folder = filepath.Join(folder, "project")
				script, texts := project(t, folder, path, c.path, c.sizes)
				does := func(command string) string {
					t.Helper()
					status, out := execute(t, folder, path, command)
					if status != 0 {
						t.Fatalf("%s: exit status %d\n%s", command, status, out)
					}
					return out
				}
				does("bottleneck run --out before -o before.txt " + script)
				compared := ""
				if c.saved != "" {
					compared = " --compare " + c.saved
				}
				pairs := cmp.Or(os.Getenv("BOTTLENECK_PAIRS"), "2") // 4 and more show what is saved
				does("bottleneck prove --runs " + pairs + " --out proof --patch faster.patch --json proof.json" + compared + " before")
				var p proofs.Proof
				if err := json.Unmarshal([]byte(read(t, filepath.Join(folder, "proof.json"))), &p); err != nil {
					t.Fatal(err)
				}
				if p.Finding.Cause != c.cause || p.Outputs != proofs.OutputsSame || p.Bound || p.InTurns.Pairs < 2 ||
					p.Promised.RunS == nil || p.Patch != "faster.patch" {
					t.Fatalf("%+v: outputs %s %s, patch %q, %d pairs", p.Finding, p.Outputs, p.Difference, p.Patch, p.InTurns.Pairs)
				}
				t.Logf("%s: promised %s, proven %s", changeAsTold(&p), stepOrRun(p.Promised, p.Per), stepOrRun(p.Proven, p.Per))
				if same := "the saved states are the same, too: " + c.saved; slices.Contains(p.Notes, same) != (c.saved != "") {
					t.Errorf("notes %q, want %q", p.Notes, same)
				}
				if row, ok := told[filepath.Base(c.path)]; ok {
					if got := changeAsTold(&p); row != got {
						t.Errorf("README tells %s, and the change is %s", row, got)
					}
				}
				changed := filepath.Base(p.Finding.Where.File)
				if read(t, filepath.Join(folder, changed)) != texts[changed] ||
					strings.Contains(does("git status --porcelain --untracked-files=no"), ".py") {
					t.Error("the user's file was touched")
				}
				does("git apply faster.patch")
				for flags, says := range map[string]string{"--runs 1": " has changed since the recording",
					"--finding 90": "the report has "} {
					status, out := execute(t, folder, path, "bottleneck prove "+flags+" before")
					if status == 0 || !strings.Contains(out, says) {
						t.Errorf("prove %s of a program that was changed: exit status %d: %s", flags, status, out)
					}
				}
				if got := strings.Split(read(t, filepath.Join(folder, changed)),
					"\n"); strings.TrimSpace(got[p.Finding.Where.Line-1]) != p.Finding.Change {
					t.Errorf("line %d is %q", p.Finding.Where.Line, got[p.Finding.Where.Line-1])
				}
				does("bottleneck run --out after -o after.txt " + script)
				does("bottleneck diff --anyway before after")
				does("bottleneck gate --baseline perf.json --write-baseline after")
				if out := does("bottleneck gate --baseline perf.json after"); !strings.HasPrefix(out, "Passed: ") {
					t.Error(out)
				}
			})
		}
	}
}

// machineNumber matches numbers of workers and threads, which follow the machine.
var machineNumber = regexp.MustCompile(`\d+`)

// shortLine is up to how many signs the line as it was is told, too.
const shortLine = 45

// changeAsTold is a finding with its change as README tells it.
func changeAsTold(p *proofs.Proof) string {
	told := p.Finding.Cause
	if p.Finding.Sub != "" {
		told += "/" + p.Finding.Sub
	}
	bare := func(line string) string {
		line, _, _ = strings.Cut(line, "  #")
		return machineNumber.ReplaceAllString(line, "N")
	}
	told += " "
	if was := bare(p.Finding.Was); len(was) <= shortLine {
		told += "`" + was + "` "
	}
	return told + "→ `" + bare(p.Finding.Change) + "`"
}

// stepOrRun is a saving as README tells it.
func stepOrRun(s proofs.Saved, per string) string {
	switch {
	case per != "run" && s.StepMs != nil:
		return fmt.Sprintf("%.3g ms (%.3g – %.3g)", s.StepMs.Mid, s.StepMs.Low, s.StepMs.High)
	case s.RunS != nil:
		return fmt.Sprintf("%.3g s (%.3g – %.3g)", s.RunS.Mid, s.RunS.Low, s.RunS.High)
	}
	return "-"
}

// toldRow matches a row of README's table of proofs: the case, its finding, the line (where it is short) and what it becomes.
var toldRow = regexp.MustCompile(`(?m)^\| \[([a-z-]+)\]\([^)]*\) \| ([a-z/-]+) \| (.+) \|$`)

// toldProofs are the rows of README's table, by their cases; each of them must be a case of TestProveZoo, and there are ten at least.
func toldProofs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	_, text, _ := strings.Cut(read(t, filepath.Join(root(t), "README.md")), "<!-- proofs -->")
	text, _, _ = strings.Cut(text, "<!-- end of proofs -->")
	for _, m := range toldRow.FindAllStringSubmatch(text, -1) {
		out[m[1]] = m[2] + " " + machineNumber.ReplaceAllString(m[3], "N")
		if !slices.ContainsFunc(provable, func(c provableCase) bool { return c.path == "zoo/"+m[1] }) {
			t.Errorf("README tells of %s, which no test runs", m[1])
		}
	}
	if rows := strings.Count(strings.TrimSpace(text), "\n") - 1; len(out) < 10 || len(out) != rows {
		t.Errorf("README's table of proofs has %d rows, of which %d are read; want ten at least", rows, len(out))
	}
	return out
}

// measured matches a number with its unit, and what aligns it: it differs from machine to machine, and from what the page shows.
var measured = regexp.MustCompile(`\s*\b\d+(\.\d+)?( (ms|µs|s|%)( |\b))?`)

// TestProofPage executes what README.md tells between its marks, on the program that it is of.
func TestProofPage(t *testing.T) {
	testkit.Rest(t, true, "make test-proofs")
	folder, path := pageFolder(t, environment(t, generations(t)[0]))
	folder = filepath.Join(folder, "project")
	project(t, folder, path, "proof/train.py", nil)
	_, page, _ := strings.Cut(read(t, filepath.Join(root(t), "README.md")), "<!-- proof -->")
	page, _, found := strings.Cut(page, "<!-- end of proof -->")
	page = measured.ReplaceAllString(page, "…")
	if !found {
		t.Fatal("README.md has no proof between its marks")
	}
	block := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(block, []byte(strings.ReplaceAll(page, "```text", "```console")), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := readCommands(t, block)
	if len(commands) < 6 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		status, out := execute(t, folder, path, c.command)
		if status != c.status {
			t.Errorf("%s: exit status %d, want %d\n%s", c.command, status, c.status, out)
		}
		if missing, ok := matches(out, c.output); !ok {
			t.Errorf("%s: its output lacks %q:\n%s", c.command, missing, out)
		}
	}
}
