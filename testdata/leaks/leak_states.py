"""Averages a policy over its past, and keeps all of the past."""

import copy

import torch
from torch import nn

torch.manual_seed(9)
policy = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 8))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
past = []


def update():
    seen = torch.randn(1024, 64)
    chosen = torch.distributions.Categorical(logits=policy(seen), validate_args=False)
    action = chosen.sample()
    loss = -(chosen.log_prob(action) * seen[:, 0]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    past.append(copy.deepcopy(policy.state_dict()))  # kept


for _ in range(9000):
    update()
print(len(past))
