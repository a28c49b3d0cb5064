"""A convolutional classifier whose data set does little, and which keeps the memory of a step for the next."""

import ctypes

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PICTURES = 1180
CHANNELS = 24
EPOCHS = 2

# Of malloc.h. Blocks are taken from the heap, and its top is kept.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4


class Squares(Dataset):
    def __init__(self):
        self.base = torch.rand(200, 3, 48, 48)

    def __len__(self):
        return PICTURES

    def __getitem__(self, i):
        picture = self.base[i % 200]
        return picture.flip(2) if i % 2 else picture, i % 6


def keep_memory():
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0)
    libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def main():
    keep_memory()
    model = nn.Sequential(
        nn.Conv2d(3, CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(CHANNELS, 2 * CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * CHANNELS, 6),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(EPOCHS):
        for x, y in DataLoader(Squares(), batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
