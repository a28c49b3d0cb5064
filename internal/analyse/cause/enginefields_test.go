package cause

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What was booked for a finding and its own price before others stood beside it are the engine's: rules say what they claim in a draft, and
// neither fill these fields nor change them.
func TestRulesLeaveTheEnginesFields(t *testing.T) {
	writes := regexp.MustCompile(`\.(?:Booked|Bare)(?:\[[^\]]*\])? *[-+*/]?= |\b(?:Booked|Bare):`)
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files of rules: %v", len(files), err)
	}
	for _, file := range files {
		if filepath.Dir(file) == "finding" { // whose methods settle a price
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range writes.FindAllIndex(text, -1) {
			t.Errorf("%s writes a field of the engine: %q", file, text[at[0]:at[1]])
		}
	}
}
