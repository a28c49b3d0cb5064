"""Cuts recordings into pieces, a file for each, and learns from the files to tell which recording a piece is of."""

import os
import tempfile

import torch
from torch import nn

RECORDINGS = 4
PIECES = 20
LENGTH = 4000000
EPOCHS = 1
WIDTH = 1000


def record(number):
    times = torch.arange(LENGTH) / 8000
    return torch.sin(times * (200 + 30 * number)) + 0.3 * torch.randn(LENGTH)


def cut(folder):
    paths = []
    for number in range(RECORDINGS):
        sound = record(number)
        for i in range(PIECES):
            begin = i * (LENGTH // PIECES)
            path = os.path.join(folder, f"{number}-{i}.pt")
            torch.save({"sound": sound[begin : begin + LENGTH // PIECES].clone(), "recording": number}, path)  # the cost
            paths.append(path)
    return paths


def prepare(piece):
    x = piece["sound"].clamp(-2, 2)
    x = x[: len(x) // WIDTH * WIDTH].view(-1, WIDTH)
    return x, torch.full((len(x),), piece["recording"])


def main():
    torch.manual_seed(6)
    network = nn.Sequential(nn.Linear(WIDTH, 1600), nn.ReLU(), nn.Linear(1600, 1600), nn.ReLU(), nn.Linear(1600, RECORDINGS))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    with tempfile.TemporaryDirectory() as folder:
        pieces = [prepare(torch.load(path)) for path in cut(folder)]
    for _ in range(EPOCHS):
        for i in torch.randperm(len(pieces)).tolist():
            x, y = pieces[i]
            loss = nn.functional.cross_entropy(network(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
