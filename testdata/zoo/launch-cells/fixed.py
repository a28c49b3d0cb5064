"""Learns to name each word's kind."""

import torch
from torch import nn

WORDS = 48
WIDTH = 96
STEPS = 300
KINDS = 12


class Names(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.cell, self.kind = nn.Embedding(400, WIDTH), nn.LSTM(WIDTH, WIDTH, batch_first=True), nn.Linear(WIDTH, KINDS)

    def forward(self, words):
        return self.kind(self.cell(self.table(words))[0])


def main():
    torch.manual_seed(4)
    names = Names()
    optimizer = torch.optim.SGD(names.parameters(), lr=0.1)
    for _ in range(STEPS):
        words = torch.randint(400, (24, WORDS))
        loss = nn.functional.cross_entropy(names(words).flatten(0, 1), (words % KINDS).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
