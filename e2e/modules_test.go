package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// placedModules is a program whose modules say themselves where they are: each forward marks its operators with a region of
// the profiler's own, and each layer has a width that no other has, so that operators of the backward pass are known by
// their shapes.
const placedModules = `import torch
from torch.utils.checkpoint import checkpoint


class Layer(torch.nn.Linear):
    def __init__(self, place, inside, outside):
        super().__init__(inside, outside)
        self.place = place

    def forward(self, x):
        with torch.autograd.profiler.record_function("in:" + self.place):
            return super().forward(x)


class Block(torch.nn.Module):
    def __init__(self, place, width):
        super().__init__()
        self.place = place
        self.up, self.down = Layer(place + ".up", 16, width), Layer(place + ".down", width, 16)

    def forward(self, x):
        x = self.up(x)
        with torch.autograd.profiler.record_function("in:" + self.place):
            x = torch.relu(x)
        return self.down(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block("Net.blocks.%d" % i, 20 + i) for i in range(3)])
        self.again = Block("Net.again", 30)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return checkpoint(self.again, x, use_reentrant=True) if CHECKPOINT else self.again(x)


CHECKPOINT = hasattr(torch, "compile")
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(8):
    x = torch.randn(4, 16, requires_grad=True)
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
`

// TestModulesOfEagerOperators compares the module of every operator with what the program says.
func TestModulesOfEagerOperators(t *testing.T) {
	testkit.Wide(t, true)
	for _, generation := range generations(t) {
		t.Run(generation, func(t *testing.T) {
			folder, path := pageFolder(t, environment(t, generation))
			write(t, filepath.Join(folder, "net.py"), placedModules)
			if status, out := execute(t, folder, path,
				"bottleneck run --out s --with-modules --record-shapes --schedule active=3,skip-first=2,repeat=1 net.py"); status != 0 {
				t.Fatal(out)
			}
			status, out := execute(t, folder, path, "bottleneck export --to events s")
			if status != 0 {
				t.Fatal(out)
			}
			checkModules(t, out)
			status, out = execute(t, folder, path, "bottleneck report --section modules --row-limit 50 s && bottleneck report --section "+
				"operators --group-by module s && bottleneck export --to chrome s")
			for _, want := range []string{"Net.blocks.2.up", "(outside modules)", `"Module Hierarchy": "Net.blocks.1.down (Layer)"`} {
				if status != 0 || !strings.Contains(out, want) {
					t.Errorf("no %q in\n%.3000s", want, out)
				}
			}
		})
	}
}

// moduleEvent is a row of export --to events.
type moduleEvent struct {
	ID, Parent  *int
	Name        string
	Module      string
	InputShapes [][]int `json:"input_shapes"`
}

// widthOf is the place of the only layer that an operator with these shapes can belong to.
var widthOf = map[int]string{20: "Net.blocks.0", 21: "Net.blocks.1", 22: "Net.blocks.2", 30: "Net.again"}

func checkModules(t *testing.T, lines string) {
	var events []moduleEvent
	for line := range strings.Lines(lines) {
		var e moduleEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			var plain struct{ Name, Module string }
			if json.Unmarshal([]byte(line), &plain) != nil { // shapes of lists of tensors nest deeper
				t.Fatalf("%v: %s", err, line)
			}
			e.Name, e.Module = plain.Name, plain.Module
		}
		events = append(events, e)
	}
	forward, backward := 0, 0
	for i := range events {
		e := &events[i]
		if !strings.HasPrefix(e.Name, "aten::") {
			continue
		}
		place, within := "", ""
		for up := e.Parent; up != nil; up = events[*up].Parent {
			name := events[*up].Name
			if p, ok := strings.CutPrefix(name, "in:"); ok && place == "" {
				place = p
			}
			if strings.HasPrefix(name, "autograd::engine::evaluate_function: ") && within == "" {
				within = name
			}
		}
		switch {
		case place != "":
			forward++
			if e.Module != place {
				t.Errorf("%s ran in %s, not %q", e.Name, place, e.Module)
			}
		case e.Name == "aten::mm" && within != "":
			for _, shape := range e.InputShapes {
				for _, width := range shape {
					if block := widthOf[width]; block != "" {
						backward++
						if !strings.HasPrefix(e.Module, block+".") {
							t.Errorf("%s of %v is the backward of a layer in %s, not of %q", e.Name, e.InputShapes, block, e.Module)
						}
					}
				}
			}
		}
	}
	if forward < 3*4*3 || backward < 3*4*2 {
		t.Errorf("%d operators forward, %d backward", forward, backward)
	}
}
