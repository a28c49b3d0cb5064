"""Watches the activations of a layer, and registers the watcher again before each step."""

import torch
from torch import nn


def watcher(scale):
    weights = torch.full((200, 200), scale)

    def note(module, inputs, output):
        watcher.last = float(output.detach()[0, 0]) * float(weights[0, 0])

    return note


def train():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(300, 300), nn.GELU(), nn.Linear(300, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(3600):
        model[0].register_forward_hook(watcher(step / 3600))  # kept
        x = torch.randn(512, 300)
        loss = nn.functional.cross_entropy(model(x), torch.randint(10, (512,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(watcher.last)


train()
