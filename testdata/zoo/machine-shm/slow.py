"""Learns shells from pictures that grow from epoch to epoch; the workers hand them over as floats."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PICTURES = 480
SIDE = 64
GROWTH = 64


class Shells(Dataset):
    def __init__(self):
        self.side = SIDE
        self.pictures = torch.randint(256, (PICTURES, 3, 32, 32), dtype=torch.uint8)

    def __len__(self):
        return PICTURES

    def __getitem__(self, i):
        picture = self.pictures[i].repeat_interleave(self.side // 32, 1).repeat_interleave(self.side // 32, 2)
        return picture.float() / 255, i % 5


def main():
    data = Shells()
    loader = DataLoader(data, batch_size=32, shuffle=True, num_workers=2)  # the cost
    model = nn.Sequential(nn.Conv2d(3, 16, 5, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(4):
        data.side = SIDE + epoch * GROWTH
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: side {data.side}, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
