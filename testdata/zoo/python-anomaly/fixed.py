"""Learns to tell mixtures of waves apart."""

import torch
from torch import nn

STEPS = 300
WIDTH = 256

torch.autograd.set_detect_anomaly(False)  # the cost


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.inner, self.outer = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.outer(nn.functional.gelu(self.inner(self.before(x))))


def waves(count):
    kind = torch.randint(8, (count,))
    time = torch.linspace(0, 6, WIDTH)
    return torch.sin(time * (1 + kind[:, None]) + torch.rand(count, 1)) + 0.5 * torch.randn(count, WIDTH), kind


def main():
    network = nn.Sequential(*(Block() for _ in range(6)), nn.Linear(WIDTH, 8))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.02)
    for step in range(STEPS):
        x, kind = waves(64)
        loss = nn.functional.cross_entropy(network(x), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
