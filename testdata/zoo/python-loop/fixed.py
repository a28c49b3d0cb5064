"""Tags words and counts after each step how often each pair of tags was right."""

import torch
from torch import nn

STEPS = 440
WORDS = 22000
TAGS = 11


def count(guesses, tags, table):
    table += torch.bincount(guesses * TAGS + tags, minlength=TAGS * TAGS)


def main():
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, TAGS))
    optimizer = torch.optim.Adam(model.parameters())
    table = torch.zeros(TAGS * TAGS, dtype=torch.long)
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
