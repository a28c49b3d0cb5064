"""Learns which words stand together; each record is a list of Python's own numbers, which every worker comes to copy."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, many):
        random.seed(0)
        self.records = [[random.randrange(1000, 60000) for _ in range(24)] for _ in range(many)]  # kept

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        return torch.tensor(self.records[i])


def main():
    torch.manual_seed(10)
    words = nn.EmbeddingBag(60000, 48, sparse=True)
    optimizer = torch.optim.SGD(words.parameters(), lr=0.1)
    loader = DataLoader(Sentences(300_000), batch_size=256, shuffle=True, num_workers=2)
    for _ in range(2):
        for batch in loader:
            loss = (words(batch).norm(dim=1) - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
