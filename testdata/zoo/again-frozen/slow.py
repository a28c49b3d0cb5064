"""Teaches a new head for a picture model whose other layers stay as they are."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PICTURES = 512
EPOCHS = 20
SIZE = 48
KINDS = 5


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 24, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(48, 64, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
        )

    def forward(self, x):
        return self.layers(x)


def main():
    torch.manual_seed(4)
    pictures, kinds = torch.rand(PICTURES, 3, SIZE, SIZE), torch.randint(KINDS, (PICTURES,))
    trunk, head = Trunk(), nn.Linear(1024, KINDS)
    for weights in trunk.parameters():
        weights.requires_grad = False
    optimizer = torch.optim.Adam(head.parameters())
    loader = DataLoader(TensorDataset(pictures, kinds), batch_size=32, shuffle=True)
    for _ in range(EPOCHS):
        for x, y in loader:
            features = trunk(x)  # the cost
            loss = nn.functional.cross_entropy(head(features), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
