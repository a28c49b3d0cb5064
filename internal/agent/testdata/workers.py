"""A training whose workers call modules on each sample, as torchvision's transforms are: workers.py START"""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scale(nn.Module):
    def forward(self, x):
        return (x - 0.5) / 0.5


class Samples(Dataset):
    def __init__(self):
        self.scale = Scale()

    def __len__(self):
        return 320

    def __getitem__(self, i):
        return self.scale(torch.full((4,), float(i)))


def main():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for batch in DataLoader(Samples(), batch_size=8, num_workers=2, multiprocessing_context=sys.argv[1]):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    print("done")


if __name__ == "__main__":
    main()
