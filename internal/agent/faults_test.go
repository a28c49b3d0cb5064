package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var faultTest = regexp.MustCompile("`(\\w+) ((?:Test|Fuzz)\\w+)(?: (\\w+\\.py))?`")

// TestFaultsHaveTests checks that every test and program which docs/faults.md, threats.md, untrue.md and proving.md name is there, and that
// each of their rows names one.
func TestFaultsHaveTests(t *testing.T) {
	sources := map[string]string{} // of the tests of each package of internal, of the benches and of e2e
	for _, folder := range []string{"../*", "../*/*", "../*/*/*", "../../bench/*", "../../e2e"} {
		paths, err := filepath.Glob(folder + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			sources[filepath.Base(filepath.Dir(path))] += content(t, path)
		}
	}
	for name, page := range map[string]struct {
		head string
		rows int // at least
	}{"faults.md": {"| fault ", 25}, "threats.md": {"| who, ", 15}, "untrue.md": {"| what was untrue ", 10},
		"proving.md": {"| what is promised ", 50}} {
		text, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, page.head) {
				rows++
				checkRow(t, name, line, sources)
			}
		}
		if rows < page.rows {
			t.Errorf("%s: only %d rows", name, rows)
		}
	}
}

func checkRow(t *testing.T, page, line string, sources map[string]string) {
	t.Helper()
	named := faultTest.FindAllStringSubmatch(line, -1)
	if len(named) == 0 {
		t.Errorf("%s: no test shows it: %s", page, line)
	}
	for _, test := range named {
		if !strings.Contains(sources[test[1]], "func "+test[2]+"("+strings.ToLower(test[2][:1])+" *testing."+test[2][:1]+")") {
			t.Errorf("%s: %s is not a test of %s", page, test[2], test[1])
		}
		if test[3] != "" && !strings.Contains(sources["agent"], `{program: "`+test[3]) {
			t.Errorf("%s: %s is not run by %s", page, test[3], test[2])
		}
	}
}
