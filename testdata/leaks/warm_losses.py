"""Keeps the loss of each step as a number, for a curve."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(128, 512), nn.Tanh(), nn.Linear(512, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
curve = []
for _ in range(40000):
    x = torch.randn(96, 128)
    loss = nn.functional.mse_loss(model(x), x.norm(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curve.append(loss.item())
print(sum(curve) / len(curve))
