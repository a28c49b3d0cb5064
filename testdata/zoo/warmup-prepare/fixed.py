"""Prepares a table in Python once and keeps it, then learns for a short time."""

import os

import torch
from torch import nn

LINES = 900000
STEPS = 120
KEPT = "table.pt"


def parse(lines):
    if os.path.exists(KEPT):
        return torch.load(KEPT)
    rows = []
    for line in lines:
        rows.append([float(part) for part in line.split(",")])  # the cost
    table = torch.tensor(rows)
    torch.save(table, KEPT)
    return table


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
