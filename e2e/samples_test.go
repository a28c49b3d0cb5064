package e2e

import (
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// timedLines times lines of microseconds itself: small modules, in which frames change all the time, and operators that two threads may
// compute together.
const timedLines = `import json
import time

import torch

weights = torch.linspace(-1, 1, 101)
network = torch.nn.Sequential(torch.nn.Linear(4, 120), torch.nn.ReLU(), torch.nn.Linear(120, 84), torch.nn.ReLU(), torch.nn.Linear(84, 202))
marks = [0.0] * 5
took = {line: 0.0 for line in ("modules", "softmax", "product", "index")}


def step(x):
    marks[0] = time.perf_counter()
    logits = network(x)  # modules
    marks[1] = time.perf_counter()
    shares = torch.softmax(logits.view(len(x), 2, 101), dim=2)  # softmax
    marks[2] = time.perf_counter()
    values = (shares * weights).sum(2)  # product
    marks[3] = time.perf_counter()
    picked = shares[torch.arange(len(x)), torch.argmax(values, 1)]  # index
    marks[4] = time.perf_counter()
    for i, line in enumerate(took):
        took[line] += marks[i + 1] - marks[i]
    return picked


x = torch.randn(1, 4)
with torch.no_grad():
    end = time.time() + 5
    while time.time() < end:
        step(x)
print(json.dumps(took))
`

// TestSamplesAreWhereTimeGoes: samples lie in lines of a few microseconds as often as these take time. Read from another processor, nine of
// ten lay in the line whose operator waits for a thread that the sampler put off its core.
func TestSamplesAreWhereTimeGoes(t *testing.T) {
	folder, path := pageFolder(t, environment(t, "newest"))
	write(t, filepath.Join(folder, "timed.py"), timedLines)
	status, text := execute(t, folder, path, "bottleneck run --no-trace --out session -o report.txt timed.py && "+
		"bottleneck export --to folded -o stacks.txt session")
	if status != 0 {
		t.Fatalf("status %d: %s", status, text)
	}
	truth := map[string]float64{}
	if err := json.Unmarshal([]byte(text[strings.Index(text, "{"):strings.Index(text, "}")+1]), &truth); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	lines := strings.Split(timedLines, "\n")
	counts, all := map[string]float64{}, 0.0
	stack := regexp.MustCompile(`(?m);step \([^)]*:(\d+)\)(?:;.*)? (\d+)$`)
	for _, m := range stack.FindAllStringSubmatch(read(t, filepath.Join(folder, "stacks.txt")), -1) {
		at, _ := strconv.Atoi(m[1])
		n, _ := strconv.ParseFloat(m[2], 64)
		if _, line, ok := strings.Cut(lines[at-1], "  # "); ok {
			counts[line], all = counts[line]+n, all+n
		}
	}
	whole := 0.0
	for _, s := range truth {
		whole += s
	}
	if all < 200 {
		t.Fatalf("only %.0f samples", all)
	}
	for line, s := range truth {
		want, got := s/whole, counts[line]/all
		if limit := 0.06 + 3.3*math.Sqrt(want*(1-want)/all); math.Abs(got-want) > limit {
			t.Errorf("%s: %.3f of %.0f samples, truth %.3f ± %.3f", line, got, all, want, limit)
		}
	}
}
