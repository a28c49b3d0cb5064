package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// momentum is a program whose memory is of every category that torch has.
const momentum = `import torch

net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.BatchNorm1d(64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
optimizer = torch.optim.Adam(net.parameters())
for step in range(20):
    x, y = torch.randn(16, 32), torch.randint(0, 4, (16,))
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
`

// TestMemoryTimelineIsTorchs compares the memory timeline of a run with what torch's own export_memory_timeline and
// export_memory_timeline_raw write for the same profile. PyTorch 1.13 has neither: there the categories are inferred.
func TestMemoryTimelineIsTorchs(t *testing.T) {
	testkit.Wide(t, true)
	for _, generation := range generations(t) {
		t.Run(generation, func(t *testing.T) {
			python := environment(t, generation)
			folder, path := pageFolder(t, python)
			write(t, filepath.Join(folder, "momentum.py"), momentum)
			for _, command := range []string{"BNECK_DUMP_TIMELINE=1 bottleneck run --out s --profile-memory momentum.py",
				"bottleneck export --to memory-timeline -o m.json s", "bottleneck export --to memory-timeline -o m.json.gz s",
				"bottleneck export --to memory-timeline -o m.raw.json.gz s", "bottleneck export --to memory-timeline -o m.html s"} {
				if status, out := execute(t, folder, path, command); status != 0 &&
					exec.Command(python, "-c", "import torch.profiler._memory_profiler").Run() == nil {
					t.Fatalf("%s: %s", command, out)
				} else if status != 0 {
					if !strings.Contains(out, "no trace holds memory events") {
						t.Errorf("%s: %s", command, out)
					}
					return // without Kineto there are no addresses
				}
			}
			reference, _ := filepath.Glob(filepath.Join(folder, "s", "*", "timeline-*-cpu.json"))
			raw, _ := filepath.Glob(filepath.Join(folder, "s", "*", "memory-*-cpu.json.gz"))
			page := read(t, filepath.Join(folder, "m.html"))
			if exec.Command(python, "-c", "import torch.profiler._memory_profiler").Run() != nil {
				if len(reference)+len(raw) != 0 || !strings.Contains(page, "told from when") {
					t.Errorf("%q of a PyTorch that cannot say it\n%.400s", raw, page)
				}
				return
			}
			if len(reference) != 1 || len(raw) != 1 {
				t.Fatalf("torch wrote %q, the agent %q", reference, raw)
			}
			for _, pair := range [][2]string{{reference[0], "m.json"}, {reference[0], "m.json.gz"}, {raw[0], "m.raw.json.gz"}} {
				want, got := jsonFile(t, pair[0]), jsonFile(t, filepath.Join(folder, pair[1]))
				if !reflect.DeepEqual(want, got) {
					t.Errorf("%s differs from torch's", pair[1])
				}
			}
			var times []float64
			var sizes [][]float64
			if err := json.Unmarshal([]byte(read(t, reference[0])), &[]any{&times, &sizes}); err != nil || len(sizes) < 50 {
				t.Fatalf("%v: %d points", err, len(sizes))
			}
			for category, name := range []string{"parameters", "optimizer state", "inputs", "temporaries", "activations",
				"gradients", "autograd detail"} {
				most := 0.0
				for _, s := range sizes {
					most = max(most, s[category+1])
				}
				if most == 0 {
					t.Errorf("no %s in torch's own timeline: the program has to have them", name)
				}
			}
			if !strings.Contains(page, "torch's own") {
				t.Errorf("the page does not say whose categories it shows:\n%.400s", page)
			}
		})
	}
}

// jsonFile reads a JSON file, gzipped or not.
func jsonFile(t *testing.T, path string) any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if text, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return value
}
