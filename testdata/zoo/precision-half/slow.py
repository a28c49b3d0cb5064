"""Fine-tunes a small language model, loaded in the format that its card names."""

import torch
from torch import nn
from torch.nn import functional

WORDS = 1500
WIDTH = 160
DEPTH = 2
LENGTH = 48
BATCH = 8
STEPS = 60


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.Sequential(*(block() for _ in range(DEPTH)))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        return self.head(self.blocks(self.words(words)))


def block():
    return nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))


def main():
    torch.manual_seed(8)
    writer = Writer().to(torch.bfloat16)  # the cost
    optimizer = torch.optim.SGD(writer.parameters(), lr=0.05)
    for _ in range(STEPS):
        words = torch.randint(WORDS, (BATCH, LENGTH))
        scores = writer(words).flatten(0, 1).float()
        loss = functional.cross_entropy(scores, words.roll(-1, 1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.1f}")


if __name__ == "__main__":
    main()
