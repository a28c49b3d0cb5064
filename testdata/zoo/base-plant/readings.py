"""Windows of a plant's sensor readings, and whether the machine failed soon after."""

import torch


class Readings:
    """Holds all windows of one part of the data in memory."""

    def __init__(self, settings, count, seed):
        chance = torch.Generator().manual_seed(seed)
        drift = torch.rand(count, settings.sensors, 1, generator=chance)
        noise = torch.randn(count, settings.sensors, settings.length, generator=chance)
        time = torch.linspace(0, 6, settings.length)
        self.x = torch.sin(time * (1 + drift)) + 0.3 * noise
        self.y = (drift.mean((1, 2)) > 0.5).long()

    def __len__(self):
        return len(self.y)

    def part(self, rank, world):
        """Keeps every world-th window for one of several processes."""
        self.x, self.y = self.x[rank::world], self.y[rank::world]

    def batches(self, size, chance=None):
        """Yields batches in order, or shuffled; the last, smaller one is left out."""
        order = torch.randperm(len(self), generator=chance) if chance is not None else torch.arange(len(self))
        for start in range(0, len(self) - size + 1, size):
            at = order[start : start + size]
            yield self.x[at], self.y[at]
