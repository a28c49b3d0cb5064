"""Trains an autoencoder on generated signals with Lightning; the weights are kept on disk in case the job is stopped."""

# expect: not cause=io sub=checkpoint
# needs: lightning
# short: --steps 150
from __future__ import annotations

import argparse
import logging
import tempfile
import warnings
from pathlib import Path

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LENGTH = 512


def make_signals(count: int) -> torch.Tensor:
    """Sums of three waves with noise: (count, LENGTH) float32."""
    time = torch.linspace(0, 1, LENGTH)
    frequency = torch.randint(1, 30, (count, 3, 1))
    phase = torch.rand(count, 3, 1) * 6.28
    return torch.sin(6.28 * frequency * time + phase).sum(1) + 0.1 * torch.randn(count, LENGTH)


class Autoencoder(lightning.LightningModule):
    """Squeezes a signal through 16 numbers and draws it again."""

    def __init__(self, width: int):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(LENGTH, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 16))
        self.decoder = nn.Sequential(nn.Linear(16, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, LENGTH))

    def training_step(self, batch, index):
        (signals,) = batch
        loss = nn.functional.mse_loss(self.decoder(self.encoder(signals)), signals)
        self.log("loss", loss, prog_bar=False)
        return loss

    def on_train_epoch_end(self):
        print(f"epoch {self.current_epoch}: loss {self.trainer.callback_metrics['loss'].item():.4f}", flush=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class KeepWeights(lightning.Callback):
    """Saves the weights and the optimizer's state, so that a stopped job goes on where it was."""

    def __init__(self, path: Path, every: int):
        self.path = path
        self.every = every

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if trainer.global_step % self.every == 0:
            state = {"step": trainer.global_step, "model": module.state_dict(), "optimizer": trainer.optimizers[0].state_dict()}
            torch.save(state, self.path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--steps", type=int, default=600, help="batches to train on")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--save-every", type=int, default=100, help="batches between two saves")
    arguments = parser.parse_args()

    warnings.filterwarnings("ignore", module="lightning")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    lightning.seed_everything(0, verbose=False)
    loader = DataLoader(TensorDataset(make_signals(8192)), batch_size=arguments.batch_size, shuffle=True)
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            max_steps=arguments.steps,
            max_epochs=-1,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[KeepWeights(Path(folder) / "last.pt", arguments.save_every)],
        )
        trainer.fit(Autoencoder(arguments.width), loader)
    print(f"{trainer.global_step} steps, loss {trainer.callback_metrics['loss'].item():.4f}")


if __name__ == "__main__":
    main()
