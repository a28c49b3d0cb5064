"""Learns from sentences that a process of the program's own prepares and puts into a queue."""

import multiprocessing

import torch
from torch import nn

BATCHES = 400
WORDS = 19000


def number(text):
    numbers = []
    for word in text:
        numbers.append(sum(ord(c) * 31 for c in word) % 997)
    return numbers


def produce(queue):
    text = [f"word{i % 611}" for i in range(WORDS)]
    for i in range(BATCHES):
        queue.put((number(text)[: 32 * 64], i % 4))
    queue.put(None)


def main():
    queue = multiprocessing.Queue(4)
    multiprocessing.Process(target=produce, args=(queue,), daemon=True).start()
    model = nn.Sequential(nn.EmbeddingBag(1000, 256), nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss = torch.zeros(())
    while True:
        batch = queue.get()  # the cost
        if batch is None:
            break
        x, y = torch.tensor(batch[0]).view(32, 64), torch.full((32,), batch[1])
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
