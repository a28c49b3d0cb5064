"""A program that ends with an iteration of workers at hand, which is ended by the interpreter when it has taken the modules apart."""

import sys

import torch
from torch.utils.data import DataLoader


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, i):
        return torch.full((4,), float(i))


class Endless:
    def __init__(self, loader):
        self.loader = loader
        self.batches = iter(loader)

    def next(self):
        return next(self.batches)


if __name__ == "__main__":
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = Endless(DataLoader(Numbers(), batch_size=10, num_workers=2))
    for _ in range(20):
        optimizer.zero_grad()
        model(batches.next()).mean().backward()
        optimizer.step()
    sys.kept = sys.modules["__main__"]  # so that its names are taken last
    print("done")
