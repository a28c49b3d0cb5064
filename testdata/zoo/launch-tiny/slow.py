"""Fits springs: each row's energy is computed by operators of its own."""

import torch
from torch import nn

STEPS = 460
SPRINGS = 220


def energy(lengths, stiffness):
    total = torch.zeros(())
    for i in range(SPRINGS):
        stretch = lengths[i] - 1.0
        total = total + (stiffness[i] * stretch * stretch).sum()  # the cost
    return total


def main():
    model = nn.Linear(32, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    stiffness = torch.rand(SPRINGS, 8)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = energy(model(torch.rand(SPRINGS, 32)), stiffness)
        loss.backward()
        optimizer.step()
    print(f"energy {loss.item():.3f}")


if __name__ == "__main__":
    main()
