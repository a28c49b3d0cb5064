"""The network that judges a window."""

import torch
from torch import nn


class Failure(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.enter = nn.Conv1d(settings.sensors, settings.width, 5, padding=2)
        self.blocks = nn.ModuleList(nn.Conv1d(settings.width, settings.width, 3, padding=1) for _ in range(settings.depth))
        self.recall = nn.Linear(settings.width, settings.memory * 4)
        self.gather = nn.Linear(settings.memory * 4, settings.memory)
        self.judge = nn.Linear(settings.memory, 2)

    def forward(self, x):
        x = torch.relu(self.enter(x))
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.judge(torch.relu(self.gather(torch.relu(self.recall(x.mean(2))))))


def build(settings):
    """Makes the network as training calls it."""
    return Failure(settings)
