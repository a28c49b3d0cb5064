"""Reads a table, then learns for a short time."""

import numpy as np
import torch
from torch import nn

LINES = 600000
STEPS = 120


def parse(lines):
    flat = np.fromstring(",".join(lines), sep=",", dtype=np.float32)
    return torch.from_numpy(flat).view(len(lines), -1)


def main():
    lines = ["0.5,1.5,2.25,3.0,4.125,5.5,6.75,7.875"] * LINES
    table = parse(lines)
    model = nn.Sequential(nn.Linear(8, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for i in range(STEPS):
        rows = table[i * 256 % LINES :][:256]
        optimizer.zero_grad()
        loss = model(rows).pow(2).mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
