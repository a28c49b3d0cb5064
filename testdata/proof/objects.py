"""Learns while it keeps many Python objects, which the garbage collector walks again and again."""

import torch
from torch import nn

NODES = 600_000
STEPS = 120


def build():
    return [[i] for i in range(NODES)]


def note(history, step):
    history.append([[step, k] for k in range(16_000)])


def main():
    torch.manual_seed(3)
    nodes, history = build(), []
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(STEPS):
        x = torch.full((64, 64), float(nodes[step][0]) / STEPS)
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        note(history, step)
    print(f"loss {loss.item():.3f}, {len(history)} notes")


if __name__ == "__main__":
    main()
