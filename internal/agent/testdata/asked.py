"""Trains a model that is asked twice for each batch, beside a teacher that is asked for the same all along."""

import inspect

import numpy
import torch
from torch import nn

torch.manual_seed(0)
MODEL = nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.5), nn.Linear(4, 2))
TEACHER = nn.Sequential(nn.Linear(8, 2)).eval()
FOLLOWER = nn.Sequential(nn.Linear(8, 2)).eval()
BUFFER = numpy.zeros((3, 8), numpy.float32)
SHARED = torch.from_numpy(BUFFER)
FIXED, WRITTEN = torch.randn(3, 8), torch.randn(3, 8)


class Holder:
    """Holds a batch where nobody looks."""

    def __init__(self, batch):
        self.batch = batch


class Opens(nn.Module):
    """Takes its batch out of an object."""

    def forward(self, holder, scale=1.0):
        """A number of each row."""
        return holder.batch.sum(1) * scale


FUSED = {"fused": True} if "fused" in inspect.signature(torch.optim.SGD).parameters else {}
optimizer = torch.optim.SGD(MODEL.parameters(), lr=0.01, **FUSED)
right = 0
for _ in range(24):
    batch = torch.randn(3, 8)
    optimizer.zero_grad()
    loss = MODEL(batch).sum()
    with torch.no_grad():
        known = TEACHER(FIXED).sum()
        WRITTEN.add_(1)
        TEACHER(WRITTEN)
        BUFFER[:] += 1
        TEACHER(SHARED)
        for weight in FOLLOWER.parameters():
            weight.data.mul_(0.5)
        FOLLOWER(FIXED)
    (loss - known).backward()
    optimizer.step()
    right += int(MODEL(batch).argmax(1).sum())
    Opens()(Holder(batch), scale=2.0)
print(right, loss.item(), "__call__" in vars(nn.Sequential), nn.Module.__call__.__qualname__)
