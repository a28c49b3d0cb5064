"""A small network that learns from random numbers. The programs beside it differ from it by one planted line."""

import sys

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def batch():
    return torch.randn(256, 64), torch.randint(10, (256,))


def train_step(inputs, targets):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(int(sys.argv[1]) if sys.argv[1:] else 400):
    inputs, targets = batch()
    inputs = inputs.clone()  # planted
    loss = train_step(inputs, targets)
