"""Learns while a thread of the same process keeps statistics of a text in Python."""

import threading

import torch
from torch import nn

STEPS = 36
WORDS = 3000


def watch(stop, counts):
    while not stop.is_set():
        for i in range(WORDS):
            counts[i % 97] = counts.get(i % 97, 0) + i * i % 7  # the cost


def main():
    model = nn.Sequential(nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 4))
    optimizer = torch.optim.Adam(model.parameters())
    stop, counts = threading.Event(), {}
    watcher = threading.Thread(target=watch, args=(stop, counts), daemon=True)
    watcher.start()
    x, y = torch.rand(128, 384), torch.randint(4, (128,))
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    stop.set()
    watcher.join()
    print(f"loss {loss.item():.3f}, {sum(counts.values())} counted")


if __name__ == "__main__":
    main()
