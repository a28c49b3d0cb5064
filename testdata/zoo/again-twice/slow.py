"""Teaches a network to tell sounds apart, and says how often it is right."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SOUNDS = 6000
EPOCHS = 4
LENGTH = 512
KINDS = 8


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, 32, 9, padding=4),
            nn.ReLU(),
            nn.MaxPool1d(4),
            nn.Conv1d(32, 64, 9, padding=4),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(8),
            nn.Flatten(),
            nn.Linear(512, KINDS),
        )

    def forward(self, x):
        return self.layers(x)


def hits(listener, x, y):
    return (listener(x).argmax(1) == y).sum().item()  # the cost


def main():
    torch.manual_seed(4)
    sounds, kinds = torch.randn(SOUNDS, 1, LENGTH), torch.randint(KINDS, (SOUNDS,))
    listener = Listener()
    optimizer = torch.optim.SGD(listener.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(sounds, kinds), batch_size=50, shuffle=True)
    for _ in range(EPOCHS):
        right = 0
        for x, y in loader:
            loss = nn.functional.cross_entropy(listener(x), y)
            right += hits(listener, x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"loss {loss.item():.3f}, right {right / SOUNDS:.2f}")


if __name__ == "__main__":
    main()
