"""Trains for as many steps as its argument says, 0: until it is ended from outside; a second one gives the layers, 1."""

import itertools
import sys

import torch

layers = int(sys.argv[2]) if len(sys.argv) > 2 else 1
model = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(layers)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
limit = int(sys.argv[1])


def train_step():
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


try:
    for _ in itertools.count() if not limit else range(limit):
        train_step()
finally:
    print("cleaned up")
