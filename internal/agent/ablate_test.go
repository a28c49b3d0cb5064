package agent

import (
	"bottleneck/internal/testkit"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAblations takes causes away: the program does the same number of steps, with a few batches or without what the collector looks at.
func TestAblations(t *testing.T) {
	testkit.Wide(t, false)
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for ablate, want := range map[string]string{"": "20 160 False\n", AblateInput: "20 32 False\n", AblateGC: "20 160 True\n"} {
			t.Run(generation+"/"+ablate, func(t *testing.T) {
				result, dir := withAgent(t, interpreter, Config{Ablate: ablate}, nil, "ablated.py")
				if result.status != 0 || result.stdout != want {
					t.Errorf("%+v, want %q", result, want)
				}
				if got := only(t, dir, "main").of("step"); len(got) == 0 {
					t.Error("no steps")
				}
			})
		}
	}
}

// place is a file's absolute path, and its line that holds a text.
func place(t *testing.T, file, text string) (string, int) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(file)
	before, _, found := strings.Cut(string(source), text)
	if err != nil || !found {
		t.Fatalf("%s: %v, no %q", file, err, text)
	}
	return path, strings.Count(before, "\n") + 1
}

// TestAblatedWrites leaves out what is written at one place, whichever way it is written: the program's own streams, memory, and the files
// that other places write stay as they are.
func TestAblatedWrites(t *testing.T) {
	testkit.Wide(t, false)
	for _, generation := range generations() {
		interpreter := python(t, generation)
		plain, _ := withAgent(t, interpreter, Config{}, nil, "ablatedwrites.py")
		none, _ := withAgent(t, interpreter, Config{}, nil, "ablatedwrites.py", "--none")
		file, line := place(t, filepath.Join("testdata", "ablatedwrites.py"), "# the place")
		config := Config{Ablate: AblateIO, AblateFile: file, AblateLine: line}
		ablated, dir := withAgent(t, interpreter, config, nil, "ablatedwrites.py")
		if plain.status != 0 || none.status != 0 || ablated.status != 0 || ablated.stderr != plain.stderr {
			t.Fatalf("%+v, %+v, %+v", plain, none, ablated)
		}
		shown, files, _ := strings.Cut(ablated.stdout, "table ")
		plainShown, plainFiles, _ := strings.Cut(plain.stdout, "table ")
		if shown != plainShown || strings.Count(shown, "\n") != 16 {
			t.Errorf("%s: standard output is %q, not %q", generation, shown, plainShown)
		}
		if _, want, _ := strings.Cut(none.stdout, "table "); files != strings.Replace(want, "False", "True", 1) || files == plainFiles {
			t.Errorf("%s: files are %q, not %q", generation, files, want)
		}
		counts := only(t, dir, "main").of("count", "ablated")
		if len(counts) == 0 || counts[len(counts)-1][2].(float64) < 60 {
			t.Errorf("%s: counters %v", generation, counts)
		}
	}
}
