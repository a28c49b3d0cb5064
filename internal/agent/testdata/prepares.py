"""Prepares its data by many small operators, then trains; its arguments say how many rows and how many steps."""

import sys
import time

import torch

rows, steps = int(sys.argv[1]), int(sys.argv[2])
begun = time.monotonic()
data = torch.zeros(rows, 4)
for i in range(rows):
    data[i, 0] = data[i, 1] + data[i, 2]
print("%.3f" % (time.monotonic() - begun))

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(steps):
    model(data[:8]).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
