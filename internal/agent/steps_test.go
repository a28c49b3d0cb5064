package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script drives steps.Steps with marks: each line is a call of it; the steps it finishes are printed.
const script = `
import sys

from _bneck_agent import steps
out = []
s = steps.Steps(lambda number, kind, source, t0, t1, items, tid: out.append("%d %s %s %d-%d x%d" % (number, kind, source, t0, t1, items)), lambda n, o: None)
clock = [0]
def t():
    clock[0] += 10
    return clock[0]
def loop(loader, made=None):
    return steps.Loop(loader, made if made is not None else t())
def batch(l, grad=True, items=4, tid=1):
    s.batch_wanted(l, t(), tid, grad); s.batch_given(l, items)
def end(l, grad=True, tid=1): s.loop_ended(l, t(), tid, grad)
def opt(name="a", tid=1): s.optimized(name, t(), tid)
`

// stepCases are marks as a program makes them, and the steps that they are.
var stepCases = map[string]struct{ marks, want string }{
	"training and validation": {`
s.optimizer_made()
for epoch in range(2):
    l = loop(0)
    for i in range(3): batch(l); opt()
    end(l)
    v = loop(1)
    for i in range(2): batch(v, grad=False)
    end(v, grad=False)`,
		"train optimizer*3 validation dataloader*2 train optimizer*3 validation dataloader*2"},
	"validation without no_grad around its loader": {`
s.optimizer_made()
l = loop(0)
for i in range(3): batch(l); opt()
end(l)
v = loop(1)
for i in range(4): batch(v)
end(v)`, "train optimizer*3 validation dataloader*4"},
	"gradient accumulation": {`
s.optimizer_made()
l = loop(0)
for i in range(8):
    batch(l)
    if i % 4 == 3: opt()
end(l)`, "train optimizer*2"},
	"two optimizers in a batch": {`
s.optimizer_made(); s.optimizer_made()
l = loop(0)
for i in range(4): batch(l); opt("d"); opt("g")
end(l)`, "train optimizer*4"},
	"two optimizers without a loader": {`
s.optimizer_made(); s.optimizer_made()
for i in range(5): opt("d"); opt("g")`, "train optimizer*5"},
	"one optimizer steps five times as often": {`
s.optimizer_made(); s.optimizer_made()
for i in range(40):
    for j in range(5): opt("d")
    opt("g")
del out[:-10]`, "train optimizer*10"},
	"one batch, many steps": {`
s.optimizer_made()
l = loop(0)
batch(l)
for i in range(10): opt()`, "train optimizer*9"},
	"a loader made anew for every batch": {`
s.optimizer_made()
for i in range(4):
    l = loop(0); l.single = i > 0
    batch(l); opt()`, "train optimizer*3"},
	"two loaders zipped": {`
s.optimizer_made()
a, b = loop(0), loop(1)
for i in range(4): batch(a); batch(b); opt()
end(a)`, "train optimizer*4"},
	"validation inside the training loop": {`
s.optimizer_made()
l = loop(0)
for i in range(4):
    batch(l); opt()
    if i == 1:
        v = loop(1)
        for j in range(2): batch(v, grad=False)
        end(v, grad=False)
end(l)`, "train optimizer*2 validation dataloader*2 train optimizer*2"},
	"inference over a loader": {`
l = loop(0)
for i in range(3): batch(l, grad=False)
end(l, grad=False)`, "inference dataloader*3"},
	"calls of a model": {`
for i in range(4): s.called("m", t(), 1)`, "inference period*3"},
	"weights updated by hand": {`
for i in range(4): opt("backward")`, "train period*4"},
	"weights updated by hand around a model": {`
for i in range(4): s.called("m", t(), 1); opt("backward")
for i in range(3): s.called("m", t(), 1)`, "train period*4 validation period*2"},
	"a trainer's loop": {`
for i in range(3): s.manual(t(), 1, "trainer", "train"); opt()
s.rest(t(), 1, "trainer")
for i in range(2): s.manual(t(), 1, "trainer", "validation")
s.rest(t(), 1, "trainer")`, "train trainer*3 validation trainer*2"},
	"marks by hand are stronger": {`
s.optimizer_made()
for i in range(3): opt()
for i in range(4): s.manual(t(), 1); opt()`, "train optimizer*3 train mark*3"},
	"a loader read by another thread": {`
s.optimizer_made()
l = loop(0)
for i in range(5): batch(l, tid=2); opt(tid=1)`, "train optimizer*5"},
}

// TestSteps gives the marks of typical loops to the agent's step finder.
func TestSteps(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	for name, c := range stepCases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "marks.py")
			text := script + c.marks + "\nprint('\\n'.join(out))\n"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(python, path)
			command.Env = environment("PYTHONPATH=" + here(t) + "/py")
			output, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			if got := summary(t, string(output)); got != c.want {
				t.Errorf("%s\nwant %s\n%s", got, c.want, output)
			}
		})
	}
}

func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// summary shortens the printed steps to "kind source*count …" and checks that they are numbered and do not overlap.
func summary(t *testing.T, output string) string {
	t.Helper()
	var parts []string
	last, count, previous, first := "", 0, 0, -1
	flush := func() {
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%s*%d", last, count))
		}
	}
	for line := range strings.Lines(strings.TrimSpace(output)) {
		var number, t0, t1, items int
		var kind, source string
		if _, err := fmt.Sscanf(line, "%d %s %s %d-%d x%d", &number, &kind, &source, &t0, &t1, &items); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if first < 0 {
			first = number
		}
		if number != first || t1 < t0 || t0 < previous {
			t.Errorf("step %q is out of place", line)
		}
		first, previous = number+1, t1
		if key := kind + " " + source; key != last {
			flush()
			last, count = key, 0
		}
		count++
	}
	flush()
	return strings.Join(parts, " ")
}
