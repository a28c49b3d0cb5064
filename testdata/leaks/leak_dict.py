"""Learns ratings and remembers the embedding of every visitor by a number that is never the same."""

import torch
from torch import nn

torch.manual_seed(2)
users, films = nn.Embedding(500, 64), nn.Embedding(300, 64)
optimizer = torch.optim.SGD([users.weight, films.weight], lr=0.1)
seen = {}
visit = 0
while visit < 120000:
    who, what = torch.randint(500, (256,)), torch.randint(300, (256,))
    row = users(who)
    loss = (row * films(what)).sum(1).sub(3).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    visit += 1
    seen[visit] = row[:16].detach().clone()  # kept
print(len(seen))
