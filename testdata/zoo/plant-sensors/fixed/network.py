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

    def all(self, x):
        """Follows all sensors at once."""
        x = torch.tanh(x @ self.enter)
        for block in self.blocks:
            x = x + torch.tanh(x @ block)
        return x

    def forward(self, x):
        seen = self.all(x.transpose(0, 1))
        return self.judge(seen.transpose(0, 1).flatten(1))


def build(settings):
    """Makes the network as training calls it."""
    return Failure(settings)
