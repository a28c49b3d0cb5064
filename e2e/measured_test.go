package e2e

import (
	"path/filepath"
	"testing"
)

const oneMatrix = `import torch

net = torch.nn.Linear(512, 512)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(120):
    optimizer.zero_grad()
    net(torch.randn(256, 512)).square().mean().backward()
    optimizer.step()
`

// TestMeasuredFixesStay runs --measure-fixes: what it measured stays with the session, so that a later report is the one that
// the run ended in.
func TestMeasuredFixesStay(t *testing.T) {
	for _, generation := range generations(t) {
		t.Run(generation, func(t *testing.T) {
			folder, path := pageFolder(t, environment(t, generation))
			write(t, filepath.Join(folder, "one.py"), oneMatrix)
			command := "bottleneck run --measure-fixes --bench-budget 2s --out s -o end.txt --json end.json one.py && bottleneck report " +
				"-o again.txt --json again.json s"
			if status, out := execute(t, folder, path, command); status != 0 {
				t.Fatal(out)
			}
			document, _ := jsonFile(t, filepath.Join(folder, "end.json")).(map[string]any)
			if measured, _ := document["measured"].(map[string]any); measured == nil {
				t.Errorf("nothing was measured: %v", document["measured"])
			}
			for _, name := range []string{"txt", "json"} {
				if a, b := read(t, filepath.Join(folder, "end."+name)), read(t, filepath.Join(folder, "again."+name)); a != b {
					t.Errorf("the later report differs: %s", firstDifference(a, b))
				}
			}
		})
	}
}
