package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
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
	"marked.py": `@profile
def marked(n):
    total = 0
    for i in range(n):
        total += i
    return total


print("marked", marked(10))
`,
	"plan.py": `from torch.profiler import ProfilerAction


def third(step):
    return ProfilerAction.RECORD_AND_SAVE if step == 3 else ProfilerAction.NONE


def never(step):
    return ProfilerAction.WARMUP if step == 3 else ProfilerAction.NONE
`,
	"endless.py": `import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    while True:
        for (batch,) in DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=4, num_workers=2):
            model(batch).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
`,
	"ranges.py": `import torch

for _ in range(3):
    with torch.autograd.profiler.record_function("by hand, torch"):
        torch.ones(4, 4).mm(torch.ones(4, 4))
for module, kind in ((torch.profiler.itt, "ITT"), (torch.cuda.nvtx, "NVTX")):
    try:
        module.range_push("by hand, " + kind)
        module.mark("here, " + kind)
        module.range_pop()
    except RuntimeError:
        print("this PyTorch was built without", kind)
`,
	"own_profiler.py": `import os
import sys

import torch


def product():
    return torch.ones(4, 4).mm(torch.ones(4, 4))


def more():
    """The profilers of old, and what only writes files."""
    try:
        prof = torch.autograd.profiler.profile(use_cuda=False)
    except TypeError:  # 2.15 no longer has it
        prof = torch.autograd.profiler.profile()
    with prof:
        product()
    print("old", [e.count for e in prof.key_averages() if e.key == "aten::mm"])
    try:
        with torch.autograd.profiler.emit_nvtx():
            product()
        print("nvtx")
    except (AssertionError, RuntimeError):
        print("no device for nvtx")
    observer = getattr(torch.profiler, "ExecutionTraceObserver", None)
    if observer is None:
        print("no execution traces")
    else:
        observer = observer()
        observer.register_callback("execution.json")
        observer.start()
        product()
        observer.stop()
        observer.unregister_callback()
        print("execution trace", os.path.getsize("execution.json") > 100)
    profiler = torch.profiler.profile() if torch.autograd.kineto_available() else torch.autograd.profiler.profile()
    profiler.__enter__()
    product()
    profiler.__exit__(None, None, None)
    print("by hand", [e.count for e in profiler.key_averages() if e.key == "aten::mm"])


if len(sys.argv) > 1:
    more()
    sys.exit()
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

    validation_step = predict_step = training_step

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


if __name__ == "__main__":
    logging.getLogger("lightning.pytorch.profilers").setLevel(logging.INFO)
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, limit_val_batches=0 if what not in ("validate", "predict") else 1.0,
        profiler=what if what in ("simple", "advanced", "pytorch") else None)
    loader = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8)
    if what in ("validate", "predict"):
        getattr(trainer, what)(Model(), loader)
    else:
        trainer.fit(Model(), loader)
    if trainer.profiler is not None and what:
        print(trainer.profiler.summary())
`,
	"hugging.py": `import tempfile

import torch
from transformers import Trainer, TrainingArguments


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        total = 0.0
        for k in range(40000):
            total += (index * k) % 7
        return {"x": torch.full((8,), total)}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, x):
        return {"loss": self.layer(x).square().mean()}


with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, num_train_epochs=2, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True)
    Trainer(Model(), arguments, train_dataset=Rows()).train()
`,
}

// needComment is what a command of the page needs of its PyTorch.
var needComment = regexp.MustCompile(`\s+# (kineto|lightning|transformers)$`)

// TestFromOtherToolsRuns executes the commands of docs/from-other-tools.md that run a program, on each generation in turn.
func TestFromOtherToolsRuns(t *testing.T) {
	testkit.Rest(t, true, "make test-tools")
	text := strings.ReplaceAll(strings.ReplaceAll(read(t, filepath.Join(root(t), "docs/from-other-tools.md")), "```console\n", "```\n"),
		"```console run\n", "```console\n")
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
				"kineto": exec.Command(python, "-c", "import torch, sys; sys.exit(not torch.autograd.kineto_available())").
					Run() == nil,
				"transformers": exec.Command(python, "-c",
					"import importlib.util, sys; sys.exit(not importlib.util.find_spec('transformers'))").Run() == nil,
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
