package agent

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// countedLines reads the hits of a session's one file of counted lines: "function line" -> hits; and seconds likewise.
func countedLines(t *testing.T, dir string) (hits map[string]int, seconds map[string]float64) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "lines.json.gz"))
	if len(paths) != 1 {
		t.Fatalf("%d files of counted lines", len(paths))
	}
	f, err := os.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Functions [][4]any `json:"functions"`
	}
	if err := json.NewDecoder(zip).Decode(&file); err != nil {
		t.Fatal(err)
	}
	hits, seconds = map[string]int{}, map[string]float64{}
	for _, function := range file.Functions {
		if path := function[0].(string); !filepath.IsAbs(path) {
			t.Errorf("%s is no whole path", path)
		}
		for _, line := range function[3].([]any) {
			row := line.([]any)
			key := fmt.Sprintf("%v %v", function[2], row[0])
			hits[key] += int(row[1].(float64))
			seconds[key] += row[2].(float64) / 1e9
		}
	}
	return hits, seconds
}

// wantedHits are counted.py's, by hand.
var wantedHits = map[string]int{
	"plain 11": 1, "plain 12": 101, "plain 13": 100, "plain 14": 1,
	"several 18": 11, "several 19": 10, "several 25": 10, "several 29": 7, "several 30": 1,
	"generated 34": 5, "generated 35": 4, "generated 36": 3,
	"consumer 40": 1, "consumer 41": 4, "consumer 42": 3, "consumer 43": 3, "consumer 44": 1,
	"waited 48": 8, "waited 49": 6, "waited 50": 2,
	"fib 58": 67, "fib 59": 34, "fib 60": 33,
	"raises 64": 4, "raises 65": 3, "raises 66": 3, "raises 67": 3, "raises 68": 3, "raises 69": 1,
	"method 91": 1, "method 94": 1, "nested 92": 4, "value 83": 4, "still 87": 1, "<lambda> 97": 5,
	"outer 105": 1, "outer 106": 1, "callee 101": 1,
}

var countedNames = []string{"plain", "sever*", "counted.generated", "consumer", "waited", "fib", "raises", "Thing.*", "double", "*nested",
	"counted.py:105", "__main__.callee"}

// TestLinesAreCounted expects the same hits on every Python: of generators, coroutines, recursion, exceptions, nested, decorated and lambda
// functions, and statements of several lines; in one thread, and five times as many in five.
func TestLinesAreCounted(t *testing.T) {
	for name, interpreter := range interpreters(t) {
		for times, arguments := range map[int][]string{1: {"counted.py"}, 5: {"counted.py", "threads"}} {
			t.Run(fmt.Sprintf("%s/%d", name, times), func(t *testing.T) {
				plain := startPlain(t, interpreter, arguments...)
				got, dir := withAgent(t, interpreter, Config{Lines: append([]string{"nosuch"}, countedNames...)}, nil, arguments...)
				same(t, plain, got)
				hits, seconds := countedLines(t, dir)
				for line, want := range wantedHits {
					if hits[line] != times*want {
						t.Errorf("%s: %d hits, want %d", line, hits[line], times*want)
					}
				}
				if len(hits) != len(wantedHits) {
					t.Errorf("%d lines, want %d: %v", len(hits), len(wantedHits), hits)
				}
				for line, least := range map[string]float64{"outer 105": 0.05, "callee 101": 0.05, "outer 106": 0.02, "consumer 43": 0.03} {
					if seconds[line] < least*float64(times) {
						t.Errorf("%s took %v s, at least %v pass there", line, seconds[line], least*float64(times))
					}
				}
				if waits := seconds["waited 49"]; waits > 0.02*float64(times) {
					t.Errorf("%v s in a line that was suspended", waits)
				}
				all := read(t, dir)
				noFailures(t, all)
				for _, w := range all {
					if notes := w.of("note", "", "never-called"); len(notes) != 1 || !strings.Contains(notes[0][3].(string), "nosuch") {
						t.Errorf("said of names: %v", notes)
					}
				}
			})
		}
	}
}

// TestProfileNeedsNoImport has the decorator there only where lines are counted, and none where the program has its own; handlers of
// signals raise in a counted loop as ever.
func TestProfileNeedsNoImport(t *testing.T) {
	want := map[string]int{
		"plain 31": 1, "plain 32": 11, "plain 33": 10, "plain 34": 1, "inner 40": 1, "made 47": 1, "value 52": 1, "late 56": 1,
	}
	for name, interpreter := range interpreters(t) {
		t.Run(name, func(t *testing.T) {
			counts := Config{Lines: []string{"@profile"}}
			got, dir := withAgent(t, interpreter, counts, nil, "decorated.py")
			if got != (outcome{stdout: "45 1 1 2 plain plain\n"}) {
				t.Errorf("%+v", got)
			}
			hits, _ := countedLines(t, dir)
			for line, n := range want {
				if hits[line] != n {
					t.Errorf("%s: %d hits, want %d", line, hits[line], n)
				}
			}
			if len(hits) != len(want) {
				t.Errorf("%v", hits)
			}
			plain := startPlain(t, interpreter, "decorated.py", "own")
			got, _ = withAgent(t, interpreter, counts, nil, "decorated.py", "own")
			same(t, plain, got)
			got, _ = withAgent(t, interpreter, Config{Calls: true}, nil, "decorated.py", "absent")
			same(t, outcome{stdout: "False\n", status: 3}, got)
			got, dir = withAgent(t, interpreter, counts, nil, "decorated.py", "signals")
			if got.stderr != "" || strings.Count(got.stdout, "alarm ['decorated.py']\n") != 5 {
				t.Errorf("%+v", got)
			}
			noFailures(t, read(t, dir))
		})
	}
}

// TestLinesBesideOtherTracers has a program trace itself, and one take all tool ids: both get what they would, and the session says where
// lines were not counted.
func TestLinesBesideOtherTracers(t *testing.T) {
	has := monitoring(t)
	for name, interpreter := range interpreters(t) {
		t.Run(name, func(t *testing.T) {
			plain := startPlain(t, interpreter, "traced.py")
			got, dir := withAgent(t, interpreter, Config{Lines: []string{"work"}}, nil, "traced.py")
			same(t, plain, got)
			paused := only(t, dir, "main").of("note", "", "lines-paused")
			if has[name] == "" && len(paused) == 0 {
				t.Error("nobody says that the program's tracer had the slot")
			}
			if has[name] == "" {
				return
			}
			if hits, _ := countedLines(t, dir); len(hits) == 0 || len(paused) > 0 {
				t.Errorf("beside the program's tracer: %v, %v", hits, paused)
			}
			plain = startPlain(t, interpreter, "monitors.py", "3", "4", "5")
			got, dir = withAgent(t, interpreter, Config{Lines: []string{"late"}}, nil, "monitors.py", "3", "4", "5")
			same(t, plain, got)
			if paused := only(t, dir, "main").of("note", "", "lines-paused"); len(paused) != 1 {
				t.Errorf("all ids taken: %v", paused)
			}
			got, dir = withAgent(t, interpreter, Config{Calls: true, Lines: []string{"late"}}, nil, "monitors.py")
			same(t, startPlain(t, interpreter, "monitors.py"), got)
			if hits, _ := countedLines(t, dir); len(hits) == 0 {
				t.Error("no lines beside counted calls")
			}
		})
	}
}
