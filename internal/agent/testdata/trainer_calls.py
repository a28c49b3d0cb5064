"""A Lightning trainer of 2 batches; with "FILE" under Lightning's AdvancedProfiler, whose counts of the actions within which no
other ran go there: {action: {"file:line:name": calls}}."""

import json
import logging
import pstats
import sys
import warnings

import torch

warnings.simplefilter("ignore")
try:
    import lightning.pytorch as lightning
    from lightning.pytorch.profilers import AdvancedProfiler
except ImportError:
    print("no Lightning")
    sys.exit(3)

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Kept(AdvancedProfiler):
    """Writes its counts."""

    running = []
    outer = set()

    def start(self, action_name):
        self.outer.update(self.running)
        self.running.append(action_name)
        super().start(action_name)

    def stop(self, action_name):
        super().stop(action_name)
        self.running.remove(action_name)

    def teardown(self, stage):
        counts = {}
        for action, profile in self.profiled_actions.items():
            if action not in self.outer:
                stats = pstats.Stats(profile).stats
                counts[action] = {"%s:%d:%s" % key: row[1] for key, row in stats.items() if key[0] != "~"}
        with open(sys.argv[1], "w") as file:
            json.dump(counts, file)
        super().teardown(stage)


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))

    def twice(self, x):
        return self.layer(x) + self.layer(x)

    def training_step(self, batch, _):
        return sum(self.twice(batch[0]).pow(2).mean() for _ in range(3))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = torch.utils.data.TensorDataset(torch.ones(4, 4))
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    profiler=Kept() if len(sys.argv) > 1 else None,
)
trainer.fit(Module(), torch.utils.data.DataLoader(data, batch_size=2))
print("steps", trainer.global_step)
