"""Keeps a copy of the best weights so far."""

import copy

import torch
from torch import nn

torch.manual_seed(9)
policy = nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 8))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
best, least = None, float("inf")
history = []
for _ in range(9000):
    seen = torch.randn(1024, 64)
    loss = (policy(seen).sum(1) - seen[:, 0]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(float(loss))
    if loss.item() < least:
        least, best = loss.item(), copy.deepcopy(policy.state_dict())
print(least, len(best), len(history))
