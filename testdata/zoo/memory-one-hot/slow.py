"""Learns which words stand beside others."""

import torch
from torch import nn
from torch.nn import functional

WORDS = 12000
WIDTH = 96
PAIRS = 192
STEPS = 600
GROUPS = 400


class Beside(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(WORDS, WIDTH, bias=False), nn.Linear(WIDTH, GROUPS)

    def forward(self, words):
        vectors = functional.one_hot(words, WORDS).float()  # the cost
        return self.outer(torch.tanh(self.inner(vectors)))


def main():
    torch.manual_seed(6)
    beside = Beside()
    optimizer = torch.optim.SGD(beside.parameters(), lr=0.1)
    for _ in range(STEPS):
        words = torch.randint(WORDS, (PAIRS,))
        loss = functional.cross_entropy(beside(words), words % GROUPS)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
