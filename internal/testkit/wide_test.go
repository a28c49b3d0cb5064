package testkit

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\) \{\n((?:\t.*\n|\n)*)\}`)

// TestWideTestsAreRun holds the tests with cases of the wider set against those that the Makefile runs for it: none goes untested.
func TestWideTestsAreRun(t *testing.T) {
	var have []string
	for _, pattern := range []string{"../../*/*_test.go", "../../*/*/*_test.go", "../../*/*/*/*_test.go", "../../*/*/*/*/*_test.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range testFunction.FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(match[2], "testkit."+"Wide(") {
					have = append(have, match[1])
				}
			}
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var run []string
	for _, name := range []string{"ALONE", "WIDE_TESTS"} {
		found := regexp.MustCompile(`(?m)^` + name + ` = ((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
		if found == nil {
			t.Fatalf("the Makefile has no %s", name)
		}
		run = append(run, strings.FieldsFunc(string(found[1]), func(r rune) bool { return strings.ContainsRune("| \t\n\\", r) })...)
	}
	slices.Sort(have)
	slices.Sort(run)
	if len(have) < 10 || !slices.Equal(have, run) {
		t.Errorf("tests that call testkit.Wide:\n%q\nof the Makefile's ALONE and WIDE:\n%q", have, run)
	}
}
