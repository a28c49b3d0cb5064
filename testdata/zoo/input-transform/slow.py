"""Learns leaves; every picture is brightened value by value."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PICTURES = 3600
SIDE = 44
EPOCHS = 3


class Leaves(Dataset):
    def __init__(self):
        self.pictures = torch.rand(PICTURES, SIDE * SIDE)

    def __len__(self):
        return PICTURES

    def brighten(self, row):
        values = row.tolist()
        for i, value in enumerate(values):
            values[i] = min(1.0, value * 1.2 + 0.01)  # the cost
        return torch.tensor(values)

    def __getitem__(self, i):
        return self.brighten(self.pictures[i]), i % 7


def main():
    model = nn.Sequential(nn.Linear(SIDE * SIDE, 1024), nn.ReLU(), nn.Linear(1024, 7))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Leaves(), batch_size=16, shuffle=True)
    for _ in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
