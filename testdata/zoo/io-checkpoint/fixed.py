"""Learns and keeps its state in a file now and then."""

import os
import tempfile

import torch
from torch import nn

STEPS = 200
WIDTH = 1048
EVERY = 50


def keep(model, optimizer, path):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)  # the cost


def main():
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 9))
    optimizer = torch.optim.Adam(model.parameters())
    with tempfile.TemporaryDirectory() as folder:
        for i in range(STEPS):
            x, y = torch.rand(32, WIDTH), torch.randint(9, (32,))
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            if i % EVERY == 0:
                keep(model, optimizer, os.path.join(folder, "state.pt"))
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
