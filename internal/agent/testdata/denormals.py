"""Trains for some steps on values of a size, which sys.argv gives, or of a usual size but for the first one."""

import sys
import time

import torch

torch.manual_seed(0)
layer = torch.nn.Sequential(torch.nn.Linear(9, 8))
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.rand(1001, 9) * float(sys.argv[1])
x[0, 0] *= float(sys.argv[2])
for _ in range(8):
    optimizer.zero_grad()
    layer(x).sum().backward()
    optimizer.step()
    time.sleep(0.006)
print(round(float(layer[0].weight.detach().sum()), 4))
