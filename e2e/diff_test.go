package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// planted are programs of testdata/diff that differ from another by one line, marked "# planted", and the counter that shows it.
var planted = []struct {
	before, after, flags, counter string
}{
	{"train", "item", "", "aten::item"},
	{"train", "clone", "", "aten::clone"},
	{"train", "open", "--calls", "<built-in method _io.open>"},
	{"compiled", "break", "", "graph-breaks"},
}

// TestDiffFindsPlantedLines: one run a side is enough for what is counted, and the line is named.
func TestDiffFindsPlantedLines(t *testing.T) {
	testkit.Rest(t, true, "make test-proofs")
	for _, generation := range generations(t) {
		folder, path := pageFolder(t, environment(t, generation))
		record := func(name, flags string) string {
			out := filepath.Join(folder, "sessions", name+flags)
			if _, err := os.Stat(out); err == nil {
				return out
			}
			script := filepath.Join(folder, name, "train.py")
			write(t, script, read(t, filepath.Join(root(t), "testdata", "diff", name+".py")))
			if status, text := execute(t, folder, path, "bottleneck run "+flags+" --out "+out+" -o /dev/null "+script); status != 0 {
				t.Fatalf("%s: status %d: %s", name, status, text)
			}
			return out
		}
		for _, p := range planted {
			t.Run(generation+"/"+p.after, func(t *testing.T) {
				source := read(t, filepath.Join(root(t), "testdata", "diff", p.after+".py"))
				line := 1 + strings.Count(source[:strings.Index(source, "# planted")], "\n")
				d := diffDocument(t, folder, path, record(p.before, p.flags), record(p.after, p.flags))
				found := false
				for _, c := range d.Counters {
					if found = c.Different && (c.Name == p.counter || c.Kind == p.counter); found {
						if c.Difference != 1 || c.Where.Line != line {
							t.Errorf("%+v, planted in line %d", c, line)
						}
						break
					}
				}
				if !found || !strings.Contains(d.Sentence, " at train.py:"+strconv.Itoa(line)) {
					t.Errorf("%s: %s", p.counter, d.Sentence)
				}
			})
		}
		t.Run(generation+"/moved", func(t *testing.T) { // functions under other names in another order
			d := diffDocument(t, folder, path, record("train", ""), record("moved", ""))
			for _, c := range d.Counters {
				if c.Different {
					t.Errorf("%+v", c)
				}
			}
			for _, r := range d.Rows {
				if mine := strings.HasPrefix(r.Name, "train.py:"); mine && r.Before.Ms == 0 && r.After.Ms > 0.2*d.Step.AfterMs {
					t.Errorf("a line has no counterpart: %+v", r)
				}
				if r.Kind == "function" && (r.Name == "learn" && r.Was != "train_step" || r.Name == "draw" && r.Was != "batch") &&
					r.Before.Ms > 0 {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

type diffed struct {
	Sentence string
	Step     struct {
		AfterMs float64 `json:"after_ms"`
	}
	Rows []struct {
		Kind, Name, Was string
		Before, After   struct{ Ms float64 }
	}
	Counters []struct {
		Kind, Name string
		Difference float64
		Different  bool
		Where      struct{ Line int }
	}
}

func diffDocument(t *testing.T, folder, path, before, after string) *diffed {
	t.Helper()
	out := filepath.Join(t.TempDir(), "diff.json")
	if status, text := execute(t, folder, path, "bottleneck diff --json "+out+" "+before+" "+after); status != 0 {
		t.Fatalf("status %d: %s", status, text)
	}
	d := &diffed{}
	if err := json.Unmarshal([]byte(read(t, out)), d); err != nil {
		t.Fatal(err)
	}
	return d
}
