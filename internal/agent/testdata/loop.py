"""Trains for as many steps as its argument says, 0: until it is ended from outside."""

import itertools
import sys

import torch

model = torch.nn.Linear(4, 4)
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
