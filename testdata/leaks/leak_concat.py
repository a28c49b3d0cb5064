"""Smooths a signal and joins what it has smoothed to all that came before."""

import torch
from torch import nn

torch.manual_seed(6)
smooth = nn.Conv1d(1, 1, 31, padding=15)
optimizer = torch.optim.SGD(smooth.parameters(), lr=1e-3)
curve = torch.empty(0)
for _ in range(1400):
    signal = torch.randn(32, 1, 2048)
    result = smooth(signal)
    loss = result.diff(dim=2).square().mean() + (result - signal).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curve = torch.cat([curve, result[:8].detach().flatten()])  # kept
print(curve.shape)
