"""Plays against itself and keeps every position in a memory from which batches are drawn; the memory has no limit."""

import random
from collections import deque

import torch
from torch import nn


class Player(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = nn.Sequential(nn.Linear(192, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, x):
        return self.value(x)


class Memory:
    def __init__(self):
        self.positions = deque()

    def keep(self, position, result):
        self.positions.append((position, result))  # kept

    def draw(self, n):
        chosen = random.sample(range(max(0, len(self.positions) - 64), len(self.positions)), min(n, len(self.positions)))
        return [self.positions[i] for i in chosen]


def main():
    torch.manual_seed(5)
    player, memory = Player(), Memory()
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
