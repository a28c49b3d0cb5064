"""Adam's moments come with the first step, those of a head that is thawed later with a later one."""

import torch
from torch import nn

torch.manual_seed(6)
body, head = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)), nn.Linear(512, 2000)
optimizer = torch.optim.AdamW([*body.parameters(), *head.parameters()], lr=1e-4)
for step in range(2400):
    head.requires_grad_(step > 300)
    x = torch.randn(64, 512)
    loss = nn.functional.cross_entropy(head(body(x)), torch.randint(2000, (64,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
