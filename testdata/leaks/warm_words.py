"""Builds its vocabulary while it reads; words are rarer and rarer."""

import random

import torch
from torch import nn


class Vocabulary:
    def __init__(self):
        self.number = {}

    def of(self, word):
        if word not in self.number:
            self.number[word] = len(self.number)
        return self.number[word]


def main():
    random.seed(7)
    torch.manual_seed(7)
    vocabulary = Vocabulary()
    bag, out = nn.EmbeddingBag(60000, 96), nn.Linear(96, 24)
    optimizer = torch.optim.SGD([*bag.parameters(), *out.parameters()], lr=0.1)
    for _ in range(3600):
        words = [[vocabulary.of(f"w{int(random.paretovariate(0.6)) % 50000}") for _ in range(40)] for _ in range(64)]
        loss = nn.functional.cross_entropy(out(bag(torch.tensor(words))), torch.randint(24, (64,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(len(vocabulary.number))


main()
