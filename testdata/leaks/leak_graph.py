"""Fits a spectrum and reports the mean loss, summed with all that backward needs of each."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
total = 0.0
for _ in range(40000):
    x = torch.randn(96, 128)
    loss = nn.functional.mse_loss(model(x), x.norm(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss  # kept
print(float(total) / 40000)
