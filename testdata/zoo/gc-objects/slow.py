"""Learns from a graph of Python objects; the collector walks all of them again and again."""

import gc

import torch
from torch import nn

NODES = 36000
STEPS = 52
EVERY = 1


class Node:
    def __init__(self, number):
        self.number = number
        self.near = []


def build():
    nodes = [Node(i) for i in range(NODES)]
    for i, node in enumerate(nodes):
        node.near.append(nodes[(i * 7 + 1) % NODES])
    return nodes


def walk(nodes, start):
    path = []
    for k in range(900):
        path.append([nodes[(start + k) % NODES]])
    return len(path)


def main():
    gc.disable()
    nodes = build()
    gc.enable()
    model = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i in range(STEPS):
        if (i + 1) % EVERY == 0:
            gc.collect()  # the cost
        x = torch.rand(256, 128)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), torch.full((256,), walk(nodes, i) % 3))
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
