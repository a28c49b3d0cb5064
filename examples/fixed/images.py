"""Trains an image classifier on generated pictures: workers, augmentation, validation, checkpoint, AMP where there is a GPU.

Each picture is one of ten textures, its colour shifted at random so that the classifier has to look at the texture.
"""

# expect: not cause=input sub=transform
# short: --epochs 2 --images 1280
from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 10
SIDE = 32


class Textures(Dataset):
    """Waves of ten directions, 32 x 32 pixels, as (3, 32, 32) float tensors with their class."""

    def __init__(self, count: int, augment: bool, seed: int):
        self.count = count
        self.augment = augment
        self.seed = seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        random = np.random.default_rng((self.seed, index))
        label = index % CLASSES
        picture = draw(label, random)
        if self.augment:
            picture = flip(picture, random)
            picture = shift_hue(picture, random.uniform(0, 1))
        return torch.from_numpy(picture.transpose(2, 0, 1).copy()), label


def draw(label: int, random: np.random.Generator) -> np.ndarray:
    """One picture (32, 32, 3) float32 in 0..1: a wave in the direction of its class, with noise."""
    angle = np.pi * label / CLASSES
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    wave = np.sin((x * np.cos(angle) + y * np.sin(angle)) * 0.8 + random.uniform(0, 6))
    colour = random.uniform(0.3, 1.0, 3)
    picture = 0.5 + 0.4 * wave[..., None] * colour + random.normal(0, 0.3, (SIDE, SIDE, 3))
    return picture.clip(0, 1).astype(np.float32)


def flip(picture: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Turns the picture by half a circle every second time, which keeps the direction of its waves."""
    return picture[::-1, ::-1] if random.uniform() < 0.5 else picture


def shift_hue(picture: np.ndarray, amount: float) -> np.ndarray:
    """Turns every pixel's hue by amount (0..1 is once around)."""
    value, low = picture.max(-1), picture.min(-1)
    red, green, blue = np.moveaxis(picture, -1, 0)
    spread = np.where(value > low, value - low, 1)
    hue = np.where(value == red, (green - blue) / spread, np.where(value == green, 2 + (blue - red) / spread, 4 + (red - green) / spread))
    sector = hue[..., None] + 6 * amount + np.array([5, 3, 1])
    sector %= 6
    return (value[..., None] - (value - low)[..., None] * np.minimum(sector, 4 - sector).clip(0, 1)).astype(np.float32)


def build_model() -> nn.Module:
    """A small convolutional network of some 60,000 weights."""
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 16), (16, 32), (32, 64), (64, 64)):
        layers += [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 4, CLASSES))


def make_scaler(device: torch.device):
    """The loss scaler of mixed precision, which does nothing without a GPU; its home moved in PyTorch 2.3."""
    enabled = device.type == "cuda"
    return (
        torch.amp.GradScaler(device.type, enabled=enabled)
        if hasattr(torch.amp, "GradScaler")
        else torch.cuda.amp.GradScaler(enabled=enabled)
    )


def train_epoch(model, loader, optimizer, scaler, device) -> float:
    """One pass over the training set; returns the mean loss."""
    model.train()
    total = torch.zeros((), device=device)
    for pictures, labels in loader:
        pictures, labels = pictures.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        with torch.autocast(device.type, enabled=device.type == "cuda"):
            loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        total += loss.detach()
    return total.item() / len(loader)


@torch.no_grad()
def validate(model, loader, device) -> float:
    """The share of pictures whose class is named right."""
    model.eval()
    right = torch.zeros((), device=device)
    for pictures, labels in loader:
        right += (model(pictures.to(device)).argmax(1) == labels.to(device)).sum()
    return right.item() / len(loader.dataset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training set")
    parser.add_argument("--images", type=int, default=1920, help="pictures in the training set")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2, help="processes that prepare pictures")
    parser.add_argument("--checkpoint", type=Path, default=Path(tempfile.gettempdir()) / "bottleneck-example-images.pt")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    common = {"batch_size": arguments.batch_size, "num_workers": arguments.workers, "pin_memory": device.type == "cuda"}
    training = DataLoader(Textures(arguments.images, augment=True, seed=1), shuffle=True, drop_last=True, **common)
    validation = DataLoader(Textures(arguments.images // 10, augment=False, seed=2), **common)

    model = build_model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    scaler = make_scaler(device)
    for epoch in range(arguments.epochs):
        began = time.perf_counter()
        loss = train_epoch(model, training, optimizer, scaler, device)
        accuracy = validate(model, validation, device)
        torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, arguments.checkpoint)
        print(f"epoch {epoch}: loss {loss:.3f}, accuracy {accuracy:.1%}, {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
