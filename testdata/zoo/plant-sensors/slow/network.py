"""The network that judges a window: each sensor has a small network of its own."""

import torch
from torch import nn


class Failure(nn.Module):
    def __init__(self, settings):
        super().__init__()
        width = settings.width // 2
        self.enter = nn.Parameter(torch.randn(settings.sensors, settings.length, width) / settings.length**0.5)
        self.blocks = nn.Parameter(torch.randn(settings.depth, settings.sensors, width, width) / width**0.5)
        self.judge = nn.Linear(settings.sensors * width, 2)

    def one(self, x, i):
        """Follows one sensor."""
        x = torch.tanh(x @ self.enter[i])  # the cost
        for block in self.blocks:
            x = x + torch.tanh(x @ block[i])
        return x

    def forward(self, x):
        seen = [self.one(x[:, i], i) for i in range(x.shape[1])]
        return self.judge(torch.cat(seen, 1))


def build(settings):
    """Makes the network as training calls it."""
    return Failure(settings)
