package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var faultTest = regexp.MustCompile("`(\\w+) ((?:Test|Fuzz)\\w+)(?: (\\w+\\.py))?`")

// TestFaultsHaveTests checks that every test and program which docs/faults.md names is there.
func TestFaultsHaveTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{} // of the tests of each package of internal
	paths, err := filepath.Glob("../*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		sources[filepath.Base(filepath.Dir(path))] += content(t, path)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| fault ") {
			continue
		}
		rows++
		named := faultTest.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test shows it: %s", line)
		}
		for _, test := range named {
			if !strings.Contains(sources[test[1]], "func "+test[2]+"("+strings.ToLower(test[2][:1])+" *testing."+test[2][:1]+")") {
				t.Errorf("%s is not a test of internal/%s", test[2], test[1])
			}
			if test[3] != "" && !strings.Contains(sources["agent"], `{program: "`+test[3]) {
				t.Errorf("%s is not run by %s", test[3], test[2])
			}
		}
	}
	if rows < 25 {
		t.Errorf("only %d faults are listed", rows)
	}
}
