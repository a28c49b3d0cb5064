"""Keeps the hardest examples in a heap of bounded size, and the last losses in a list that is cut."""

import heapq

import torch
from torch import nn


def main():
    torch.manual_seed(18)
    net = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    hardest, recent = [], []
    for step in range(14000):
        x, y = torch.randn(64, 256), torch.randint(10, (64,))
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        heapq.heappush(hardest, (loss.item(), step, x))
        if len(hardest) > 300:
            heapq.heappop(hardest)
        recent.append(loss.detach())
        recent = recent[-200:]
    print(len(hardest), len(recent))


main()
