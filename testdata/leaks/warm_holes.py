"""Sorts a corpus out while it trains: small tensors come and go, and the number of those that live stays the same."""

import random

import torch
from torch import nn

random.seed(19)
torch.manual_seed(19)
corpus = {i: torch.randn(random.randrange(16, 4000)) for i in range(20000)}
notes = []
net = nn.Linear(16, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(20000):
    at = random.randrange(len(corpus))
    corpus[at] = torch.randn(random.randrange(16, 4000))
    loss = net(corpus[at][:16]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    notes.append((step, at))
print(len(notes))
