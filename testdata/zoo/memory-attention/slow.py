"""Guesses how long passages go on by a small transformer that writes its attention out."""

import math

import torch
from torch import nn

PLACES = 1024
HEADS = 4
WIDTH = 128
PASSAGES = 10
ROWS = 2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("later", torch.ones(PLACES, PLACES, dtype=torch.bool).triu(1))

    def forward(self, x):
        rows, places, _ = x.shape
        queries, keys, values = (part.view(rows, places, HEADS, -1).transpose(1, 2) for part in self.project(x).chunk(3, dim=-1))
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))  # the cost
        weights = torch.softmax(scores.masked_fill(self.later[:places, :places], float("-inf")), dim=-1)
        seen = weights @ values
        return self.mix(seen.transpose(1, 2).reshape(rows, places, WIDTH))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.widen = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.widen(self.second(x))


class Rater(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(2000, WIDTH)
        self.places = nn.Parameter(torch.randn(PLACES, WIDTH) * 0.02)
        self.layers = nn.ModuleList(Layer() for _ in range(3))
        self.rate = nn.Linear(WIDTH, 5)

    def forward(self, words):
        x = self.words(words) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.rate(x.mean(dim=1))


def main():
    torch.manual_seed(4)
    model = Rater()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    passages = torch.randint(0, 2000, (PASSAGES * ROWS, PLACES))
    ratings = passages[:, 0] % 5
    for epoch in range(2):
        total = 0.0
        for batch in torch.randperm(len(passages)).split(ROWS):
            loss = nn.functional.cross_entropy(model(passages[batch]), ratings[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / PASSAGES:.3f}")


if __name__ == "__main__":
    main()
