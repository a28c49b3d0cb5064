"""A Lightning trainer: 12 training batches, 3 of validation."""

import logging
import sys
import warnings

import torch

warnings.simplefilter("ignore")
try:
    import lightning.pytorch as lightning
except ImportError:
    print("no Lightning")
    sys.exit(3)

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, _):
        return self.layer(batch[0]).pow(2).mean()

    def validation_step(self, batch, _):
        self.log("loss", self.layer(batch[0]).pow(2).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = torch.utils.data.TensorDataset(torch.ones(24, 4))
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    num_sanity_val_steps=0,
    limit_val_batches=3,
)
loader = torch.utils.data.DataLoader(data, batch_size=2)
trainer.fit(Module(), loader, loader)
print("steps", trainer.global_step)
