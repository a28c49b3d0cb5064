package bottleneck

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "bottleneck"

// rooms are the analyses that rules and reports read.
var rooms = []string{"internal/analyse/account", "internal/analyse/allocations", "internal/analyse/arguments", "internal/analyse/attention",
	"internal/analyse/code", "internal/analyse/collectives", "internal/analyse/counts", "internal/analyse/criticalpath", "internal/analyse/device",
	"internal/analyse/gradients", "internal/analyse/keyaverages", "internal/analyse/naming", "internal/analyse/tables", "internal/analyse/times"}

// family is what the rules of each family of causes may import: no other family.
var family = append([]string{"internal/analyse/cause/facts", "internal/analyse/cause/finding", "internal/analyse/cause/price",
	"internal/analyse/cause/pysource", "internal/model", "internal/stats", "internal/wording"}, rooms...)

// layers is the package table of docs/architecture.md: each package and which of ours it may import. A "/…" at the end
// of an entry stands for the packages beneath. Tests' imports are not restricted.
var layers = map[string][]string{
	"cmd/bottleneck":   {"internal/cli"},
	"internal/cli":     {"internal/…"},
	"internal/early":   {},
	"internal/proc":    {},
	"internal/confine": {},
	"internal/cpython": {"internal/proc"},
	"internal/native":  {"internal/proc"},
	"internal/agent":   {},
	"internal/record":  {"internal/model"},
	"internal/collect": {"internal/early", "internal/proc", "internal/cpython", "internal/native", "internal/agent",
		"internal/record", "internal/model"},
	"internal/turns":               {"internal/collect"},
	"internal/overlay":             {},
	"internal/kineto":              {},
	"internal/model":               {},
	"internal/stats":               {},
	"internal/ingest":              {"internal/record", "internal/kineto", "internal/pickle", "internal/sqlite", "internal/model"},
	"internal/pickle":              {},
	"internal/sqlite":              {},
	"internal/analyse":             {"internal/analyse/allocations", "internal/analyse/times", "internal/model"},
	"internal/analyse/naming":      {"internal/model"},
	"internal/analyse/arguments":   {},
	"internal/analyse/attention":   {"internal/analyse/arguments", "internal/analyse/naming", "internal/model"},
	"internal/analyse/times":       {"internal/model", "internal/stats"},
	"internal/analyse/code":        {"internal/analyse/naming", "internal/model"},
	"internal/analyse/allocations": {"internal/analyse/code", "internal/analyse/naming", "internal/model"},
	"internal/analyse/tables":      {"internal/analyse/arguments", "internal/analyse/times", "internal/model", "internal/stats"},
	"internal/analyse/keyaverages": {"internal/analyse/arguments", "internal/analyse/naming",
		"internal/analyse/times", "internal/model"},
	"internal/analyse/account": {"internal/analyse/arguments", "internal/analyse/code", "internal/analyse/naming",
		"internal/analyse/times", "internal/model", "internal/stats"},
	"internal/analyse/counts": {"internal/analyse/account", "internal/analyse/code", "internal/analyse/naming",
		"internal/analyse/times", "internal/model"},
	"internal/analyse/gradients": {"internal/analyse/account", "internal/analyse/arguments", "internal/analyse/naming", "internal/model"},
	"internal/analyse/device": {"internal/analyse/arguments", "internal/analyse/attention", "internal/analyse/code", "internal/analyse/naming",
		"internal/analyse/times", "internal/model", "internal/stats"},
	"internal/analyse/collectives": {"internal/analyse/account", "internal/analyse/arguments", "internal/analyse/device",
		"internal/analyse/naming", "internal/analyse/times", "internal/model", "internal/stats"},
	"internal/analyse/criticalpath": {"internal/analyse/collectives", "internal/analyse/device",
		"internal/analyse/naming", "internal/model"},
	"internal/analyse/replay": {"internal/analyse/account", "internal/analyse/collectives", "internal/analyse/naming",
		"internal/analyse/times", "internal/model", "internal/stats"},
	"internal/analyse/cause": append([]string{"internal/analyse/replay", "internal/analyse/cause/…", "internal/model",
		"internal/stats", "internal/wording"}, rooms...),
	"internal/analyse/cause/finding": append([]string{"internal/analyse/replay", "internal/analyse/cause/price", "internal/model",
		"internal/wording"}, rooms...),
	"internal/analyse/cause/pysource": {},
	"internal/analyse/cause/facts": append([]string{"internal/analyse/cause/finding", "internal/analyse/cause/price",
		"internal/analyse/cause/pysource", "internal/analyse/usage", "internal/model", "internal/stats", "internal/wording"}, rooms...),
	"internal/analyse/cause/input":     append([]string{"internal/analyse/replay", "internal/analyse/usage"}, family...),
	"internal/analyse/cause/again":     append([]string{}, family...),
	"internal/analyse/cause/launch":    append([]string{}, family...),
	"internal/analyse/cause/python":    append([]string{}, family...),
	"internal/analyse/cause/ranks":     append([]string{}, family...),
	"internal/analyse/cause/machine":   append([]string{"internal/analyse/usage"}, family...),
	"internal/analyse/cause/timed":     append([]string{}, family...),
	"internal/analyse/cause/traced":    append([]string{"internal/analyse/replay"}, family...),
	"internal/analyse/cause/precision": append([]string{"internal/analyse/cause/traced"}, family...),
	"internal/analyse/cause/memory":    append([]string{"internal/analyse/cause/traced", "internal/analyse/usage"}, family...),
	"internal/analyse/usage":           {"internal/model"},
	"internal/analyse/cause/price":     {},
	"internal/rerun":                   {"internal/model"},
	"internal/report":                  {"internal/model", "internal/stats", "internal/analyse/…", "internal/units", "internal/wording"},
	"internal/view": append([]string{"internal/model", "internal/stats", "internal/analyse/replay", "internal/report",
		"internal/units"}, rooms...),
	"internal/compare": {"internal/stats", "internal/units", "internal/report", "internal/view"},
	"internal/export": {"internal/model", "internal/analyse/account", "internal/analyse/keyaverages", "internal/page",
		"internal/report", "internal/ui", "internal/view"},
	"internal/testkit": {"internal/model", "internal/record", "internal/kineto"},
	"internal/ui":      {},
	"internal/web":     {"internal/page", "internal/ui"},
	"bench/…":          {"internal/…", "bench/paired", "bench/timed"},
	"internal/page": append([]string{"internal/model", "internal/stats", "internal/analyse/replay", "internal/report",
		"internal/units", "internal/view"}, rooms...),
	"internal/units":             {},
	"internal/wording":           {"internal/units"},
	"internal/testkit/browser":   {},
	"internal/testkit/slowtrace": {"internal/model"},
	"internal/ui/bundle":         {"internal/ui"},
}

// planned are packages of the architecture that come with later work; the test fails as soon as one of them exists.
var planned []string

// forbidden imports hold for a package and all beneath it: what, where not, and why.
var forbidden = []struct{ path, in, why string }{
	{"os", "internal/analyse", "analyses are pure: the same session gives the same answer anywhere"},
	{"os", "internal/view", "what a screen shows depends on the document alone"},
	{"os", "internal/report", "a report depends on the session alone"},
	{"os", "internal/model", "the model is data; readers are in ingest"},
	{"os", "internal/stats", "numbers only"},
	{"net", "internal/analyse", "analyses are pure"},
	{"encoding", "internal/analyse", "analyses take the model and give values; formats belong to ingest, view and export"},
	{"net", "internal/view", "views are pure"},
	{"net", "internal/report", "reports are pure"},
	{"os", "internal/compare", "comparisons take documents and give one"},
	{"net", "internal/compare", "comparisons are pure"},
	{"os", "internal/page", "what the page shows depends on the session alone"},
	{"net", "internal/page", "parts are pure: web sends them, export writes them"},
	{"os/exec", "internal/ingest", "reading a stranger's file must never start a program"},
	{"os/exec", "internal/export", "exporting must never start a program"},
	{"os", "internal/web", "a browser must never be able to open a file"},
	{"internal/collect", "internal/web", "a browser must never be able to start a collection"},
	{"internal/ingest", "internal/web", "a browser must never be able to open a file"},
}

// only lists imports that belong to few packages: which, whose, and why.
var only = []struct {
	path    string
	allowed []string
	why     string
}{
	{"net/http", []string{"internal/web", "internal/cli"}, "one place guards who may ask"},
	{"os/exec", []string{"internal/collect", "internal/rerun", "internal/cli", "internal/testkit", "internal/testkit/…", "bench/…"},
		"one place starts programs"},
	{"unsafe", []string{"internal/proc"}, "one place handles raw memory"},
	{"github.com/landlock-lsm/go-landlock/landlock", []string{"internal/confine"}, "one place gives up rights, for good"},
	{"github.com/elastic/go-seccomp-bpf", []string{"internal/confine"}, "one place gives up rights, for good"},
	{"internal/testkit", nil, "for tests only"},
	{"internal/testkit/slowtrace", nil, "for tests only"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

// goList asks the go command for our packages with their imports, for one operating system.
func goList(t *testing.T, goos string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-pgo=off", "-json=ImportPath,Imports", "./...") // a profile makes variants of packages
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module+"/")
		for i := range p.Imports {
			p.Imports[i] = strings.TrimPrefix(p.Imports[i], module+"/")
		}
		packages = append(packages, p)
	}
}

// within says whether path is pattern itself, or beneath it where pattern ends in "/…".
func within(path, pattern string) bool {
	base, open := strings.CutSuffix(pattern, "/…")
	return path == base && !open || open && strings.HasPrefix(path, base+"/")
}

func matchAny(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return within(path, p) })
}

func ours(path string) bool {
	return strings.HasPrefix(path, "internal/") || strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "bench/")
}

// allowed finds the row of a package in layers.
func allowed(path string) (imports []string, known bool) {
	for pattern, imports := range layers {
		if within(path, pattern) {
			return imports, true
		}
	}
	return nil, false
}

func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, p := range goList(t, goos) {
			if ours(p.ImportPath) {
				checkPackage(t, goos, p)
			}
		}
	}
}

func checkPackage(t *testing.T, goos string, p goPackage) {
	t.Helper()
	may, known := allowed(p.ImportPath)
	if !known {
		t.Errorf("%s is not in the package table: add it to docs/architecture.md and to layers in deps_test.go", p.ImportPath)
	}
	for _, path := range p.Imports {
		if ours(path) && !matchAny(path, may) {
			t.Errorf("%s imports %s (%s): not allowed by the package table (docs/architecture.md)", p.ImportPath, path, goos)
		}
		for _, f := range forbidden {
			if (path == f.path || strings.HasPrefix(path, f.path+"/")) && (p.ImportPath == f.in || within(p.ImportPath, f.in+"/…")) {
				t.Errorf("%s imports %s (%s): %s", p.ImportPath, path, goos, f.why)
			}
		}
		for _, o := range only {
			if path == o.path && !matchAny(p.ImportPath, o.allowed) {
				t.Errorf("%s imports %s (%s): %s", p.ImportPath, path, goos, o.why)
			}
		}
	}
}

// TestTableIsCurrent fails on names in the tables above that no longer exist.
func TestTableIsCurrent(t *testing.T) {
	var existing []string
	for _, p := range goList(t, "linux") {
		existing = append(existing, p.ImportPath)
	}
	current := func(name string) bool {
		return slices.ContainsFunc(existing, func(p string) bool { return within(p, name) })
	}
	names := []string{}
	for pattern, imports := range layers {
		names = append(append(names, pattern), imports...)
	}
	for _, f := range forbidden {
		names = append(names, f.in)
	}
	for _, o := range only {
		names = append(names, o.allowed...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		switch later := slices.Contains(planned, name); {
		case later && current(name):
			t.Errorf("%s exists now: take it out of planned", name)
		case !later && !current(name):
			t.Errorf("%s is in a table of deps_test.go but does not exist", name)
		}
	}
}

// TestNoClock asks that what must be pure does not ask for the time either.
func TestNoClock(t *testing.T) {
	for _, p := range goList(t, "linux") {
		if !matchAny(p.ImportPath, []string{"internal/analyse", "internal/analyse/…", "internal/report", "internal/view", "internal/page",
			"internal/compare", "internal/model", "internal/stats"}) {
			continue
		}
		files, err := filepath.Glob(p.ImportPath + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil {
				t.Error(err)
			} else if !strings.HasSuffix(file, "_test.go") && (strings.Contains(string(text), "time.Now(") ||
				strings.Contains(string(text), "time.Since(")) {
				t.Errorf("%s reads the clock; equal sessions must give equal reports", file)
			}
		}
	}
}

// TestPackagesSayWhatTheyAreNot asks that every package has a doc.go that ends by saying what the package does not do.
func TestPackagesSayWhatTheyAreNot(t *testing.T) {
	for _, p := range goList(t, "linux") {
		if !strings.HasPrefix(p.ImportPath, "internal/") {
			continue
		}
		text, err := os.ReadFile(p.ImportPath + "/doc.go")
		if err != nil {
			t.Errorf("%s has no doc.go", p.ImportPath)
			continue
		}
		comment, _, _ := strings.Cut(string(text), "\npackage ")
		sentences := strings.Split(strings.ReplaceAll(strings.ReplaceAll(comment, "\n// ", " "), "\n//", " "), ". ")
		if last := strings.TrimSpace(sentences[len(sentences)-1]); !strings.HasPrefix(last, "It does not") {
			t.Errorf("%s/doc.go ends with %q, not with \"It does not …\"", p.ImportPath, last)
		}
	}
}

// TestLargePackagesSayWhy asks that a package of more than 4,000 lines states the reason in its row of docs/architecture.md.
func TestLargePackagesSayWhy(t *testing.T) {
	table, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range goList(t, "linux") {
		if !strings.HasPrefix(p.ImportPath, "internal/") {
			continue
		}
		files, err := filepath.Glob(p.ImportPath + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil {
				t.Error(err)
			} else if !strings.HasSuffix(file, "_test.go") {
				lines += strings.Count(string(text), "\n")
			}
		}
		_, row, _ := strings.Cut(string(table), "| `"+p.ImportPath+"` |")
		if row, _, _ = strings.Cut(row, "\n"); lines > 4000 && !strings.Contains(row, " lines: ") {
			t.Errorf("%s has %d lines, and no reason for it in docs/architecture.md", p.ImportPath, lines)
		}
	}
}
