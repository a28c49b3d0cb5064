"""Trains for as many steps as its argument says, 0: until it is ended from outside; a second one gives the layers, 1; a third one the
seconds that each step sleeps, 0; a fourth one those of the steps after the twelfth."""

import itertools
import sys
import time

import torch

layers = int(sys.argv[2]) if len(sys.argv) > 2 else 1
model = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(layers)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
limit = int(sys.argv[1])
sleeps = float(sys.argv[3]) if len(sys.argv) > 3 else 0
later = float(sys.argv[4]) if len(sys.argv) > 4 else sleeps


def train_step(number):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(sleeps if number < 12 else later)


try:
    for number in itertools.count() if not limit else range(limit):
        train_step(number)
finally:
    print("cleaned up")
