"""Learns with sixteen threads on any machine."""

import torch
from torch import nn

STEPS = 780
WIDTH = 640
THREADS = 16


def main():
    torch.set_num_threads(THREADS)  # the cost
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 9))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        x, y = torch.rand(128, WIDTH), torch.randint(9, (128,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
