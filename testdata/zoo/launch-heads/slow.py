"""Teaches a small model to go on with notes; each head of its attention has layers of its own."""

import torch
from torch import nn

PLACES = 64
WIDTH = 192
HEADS = 12
BLOCKS = 4
STEPS = 90
NOTES = 100


class Ear(nn.Module):
    def __init__(self):
        super().__init__()
        size = WIDTH // HEADS
        self.asks, self.offers, self.tells = nn.Linear(WIDTH, size), nn.Linear(WIDTH, size), nn.Linear(WIDTH, size)
        self.register_buffer("later", torch.triu(torch.ones(PLACES, PLACES, dtype=torch.bool), 1))

    def forward(self, x):
        heed = self.asks(x) @ self.offers(x).transpose(-2, -1) * self.asks.out_features**-0.5  # the cost
        heed = heed.masked_fill(self.later, float("-inf")).softmax(-1)
        return heed @ self.tells(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ears = nn.ModuleList(Ear() for _ in range(HEADS))
        self.joined = nn.Linear(WIDTH, WIDTH)
        self.thinks = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        heard = self.first(x)
        x = x + self.joined(torch.cat([ear(heard) for ear in self.ears], -1))
        return x + self.thinks(self.second(x))


def main():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Embedding(NOTES, WIDTH), *[Block() for _ in range(BLOCKS)], nn.Linear(WIDTH, NOTES))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        notes = torch.randint(NOTES, (8, PLACES + 1))
        loss = nn.functional.cross_entropy(model(notes[:, :-1]).flatten(0, 1), notes[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
