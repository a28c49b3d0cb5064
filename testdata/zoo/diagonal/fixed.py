"""Learns to make points look alike, but for those that lie far out by the spread that was seen before."""

import torch
from torch import nn

ROUNDS = 150
POINTS = 2000
WIDTH = 96


def spread():
    """The inverse of a covariance."""
    seen = torch.randn(4 * WIDTH, WIDTH)
    return torch.linalg.inv(seen.T @ seen / len(seen))


def far(points, inverse):
    """How far out each point lies."""
    return torch.sqrt(((points @ inverse) * points).sum(-1) + 1e-6)


def main():
    torch.manual_seed(9)
    net = nn.Sequential(nn.Linear(32, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    inverse = spread()
    for _ in range(ROUNDS):
        points = net(torch.randn(POINTS, 32))
        loss = (far(points, inverse) - 3).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3g}")


if __name__ == "__main__":
    main()
