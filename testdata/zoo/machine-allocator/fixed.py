"""Learns to tell plants on photos, on a CPU: the maps of the first layers are large, and come and go with each step."""

import os

import torch
from torch import nn

STEPS = 65
BATCH = 16
SIDE = 224


class Plants(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(4),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(32, 10),
        )

    def forward(self, photos):
        return self.layers(photos)


def main():
    os.environ["THP_MEM_ALLOC_ENABLE"] = "1"  # PyTorch asks for it with the first large tensor
    torch.manual_seed(5)
    model = Plants()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    photos, species = torch.rand(BATCH, 3, SIDE, SIDE), torch.randint(0, 10, (BATCH,))
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(photos), species)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
