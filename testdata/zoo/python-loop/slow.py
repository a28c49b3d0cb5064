"""Tags words and counts after each step how often each pair of tags was right, one pair at a time."""

import torch
from torch import nn

STEPS = 440
WORDS = 22000
TAGS = 11


def count(guesses, tags, table):
    for guess, tag in zip(guesses.tolist(), tags.tolist()):
        key = f"{guess} for {tag}"
        table[key] = table.get(key, 0) + 1  # the cost


def main():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, TAGS))
    optimizer = torch.optim.Adam(model.parameters())
    table = {}
    x, tags = torch.rand(WORDS, 8), torch.randint(TAGS, (WORDS,))
    for _ in range(STEPS):
        optimizer.zero_grad()
        out = model(x)
        loss = nn.functional.cross_entropy(out, tags)
        loss.backward()
        optimizer.step()
        count(out.argmax(1), tags, table)
    print(f"loss {loss.item():.3f}, {len(table)} pairs")


if __name__ == "__main__":
    main()
