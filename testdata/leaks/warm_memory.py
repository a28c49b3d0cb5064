"""Plays against itself and keeps positions in a memory that drops the oldest."""

import random
from collections import deque

import torch
from torch import nn


class Memory:
    def __init__(self, most):
        self.positions = deque(maxlen=most)

    def keep(self, position, result):
        self.positions.append((position, result))

    def draw(self, n):
        return [self.positions[i] for i in random.sample(range(len(self.positions)), min(n, len(self.positions)))]


def main():
    torch.manual_seed(5)
    player, memory = nn.Sequential(nn.Linear(192, 256), nn.ReLU(), nn.Linear(256, 1)), Memory(400)
    optimizer = torch.optim.Adam(player.parameters(), lr=1e-3)
    for _ in range(22000):
        board = torch.randn(64, 192)
        with torch.no_grad():
            result = player(board)
        memory.keep(board, result)
        boards, results = zip(*memory.draw(4))
        loss = (player(torch.cat(boards)) - torch.cat(results) * 0.9).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
