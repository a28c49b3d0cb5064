package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The programs that docs/from-other-tools.md runs.
var toolPrograms = map[string]string{
	"train.py": `import torch
from torch.utils.data import DataLoader, TensorDataset


def prepare(x):
    return x * 2


def one_step(model, optimizer, x):
    with torch.autograd.profiler.record_function("my region"):
        loss = model(prepare(x)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for (batch,) in DataLoader(TensorDataset(torch.randn(32, 8)), batch_size=4):
    one_step(model, optimizer, batch)
`,
	"plan.py": `from torch.profiler import ProfilerAction


def third(step):
    return ProfilerAction.RECORD_AND_SAVE if step == 3 else ProfilerAction.NONE
`,
	"own_profiler.py": `import torch

with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
    for _ in range(4):
        torch.ones(4, 4).mm(torch.ones(4, 4))
print("own profiler:", [e.count for e in prof.key_averages() if e.key == "aten::mm"][0], "matrix products")
`,
	"trainer.py": `import logging
import sys
import warnings

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        return self.layer(batch[0]).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


if __name__ == "__main__":
    logging.getLogger("lightning.pytorch.profilers").setLevel(logging.INFO)
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, profiler=sys.argv[1] if len(sys.argv) > 1 else None)
    trainer.fit(Model(), DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8))
    if len(sys.argv) > 1:
        print(trainer.profiler.summary())
`,
}

// needComment is what a command of the page needs of its PyTorch.
var needComment = regexp.MustCompile(`\s+# (kineto|lightning)$`)

// TestFromOtherToolsRuns executes the commands of docs/from-other-tools.md that run a program, on each generation in turn.
func TestFromOtherToolsRuns(t *testing.T) {
	text := strings.ReplaceAll(strings.ReplaceAll(read(t, filepath.Join(root(t), "docs/from-other-tools.md")), "```console\n", "```\n"), "```console run\n", "```console\n")
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := readCommands(t, page)
	if len(commands) < 20 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, generation := range generations(t) {
		t.Run(generation, func(t *testing.T) {
			python := environment(t, generation)
			folder, path := pageFolder(t, python)
			for name, program := range toolPrograms {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(program), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			has := map[string]bool{
				"kineto":    exec.Command(python, "-c", "import torch, sys; sys.exit(not torch.autograd.kineto_available())").Run() == nil,
				"lightning": exec.Command(python, "-c", "import lightning").Run() == nil,
			}
			for _, c := range commands {
				if m := needComment.FindStringSubmatch(c.command); m != nil {
					if !has[m[1]] {
						t.Logf("left out without %s: %s", m[1], c.command)
						continue
					}
					c.command = strings.TrimSuffix(c.command, m[0])
				}
				status, out := execute(t, folder, path, c.command)
				if status != c.status {
					t.Errorf("line %d: %s: exit status %d, want %d\n%s", c.line, c.command, status, c.status, out)
				}
				if missing, ok := matches(out, c.output); !ok {
					t.Errorf("line %d: %s: its output lacks %q:\n%s", c.line, c.command, missing, out)
				}
			}
		})
	}
}
