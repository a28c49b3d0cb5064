"""Trains for some steps on values of a size, which sys.argv gives."""

import sys
import time

import torch

torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.rand(64, 8) * float(sys.argv[1])
for _ in range(8):
    optimizer.zero_grad()
    layer(x).sum().backward()
    optimizer.step()
    time.sleep(0.006)
print(round(float(layer[0].weight.detach().sum()), 4))
