"""Learns a wide network from small batches; the optimizer goes over all weights, operator by operator."""

import torch
from torch import nn

STEPS = 60
WIDTH = 1300
FUSED = False


def main():
    layers = [nn.Linear(64, WIDTH), nn.ReLU()]
    for _ in range(4):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    network = nn.Sequential(*layers, nn.Linear(WIDTH, 8))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, fused=FUSED)
    for _ in range(STEPS):
        x, y = torch.randn(16, 64), torch.randint(8, (16,))
        loss = nn.functional.cross_entropy(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # the cost
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
