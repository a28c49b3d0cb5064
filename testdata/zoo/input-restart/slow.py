"""Learns in many short epochs; each starts its workers anew."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ROWS = 384
EPOCHS = 64
KEEP = False


def main():
    points = torch.rand(ROWS, 64)
    rows = TensorDataset(points, (points.sum(1) > 32).long())
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(rows, batch_size=64, num_workers=2, persistent_workers=KEEP)  # the cost
    for _ in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
