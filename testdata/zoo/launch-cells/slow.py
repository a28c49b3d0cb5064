"""Learns to name each word's kind; the cell of a recurrent layer is called for one word after the other."""

import torch
from torch import nn

WORDS = 48
WIDTH = 96
STEPS = 300
KINDS = 12


class Names(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.cell, self.kind = nn.Embedding(400, WIDTH), nn.LSTMCell(WIDTH, WIDTH), nn.Linear(WIDTH, KINDS)

    def forward(self, words):
        seen, memory = torch.zeros(2, len(words), WIDTH)
        kinds = []
        for word in self.table(words).unbind(1):
            seen, memory = self.cell(word, (seen, memory))  # the cost
            kinds.append(self.kind(seen))
        return torch.stack(kinds, 1)


def main():
    torch.manual_seed(4)
    names = Names()
    optimizer = torch.optim.SGD(names.parameters(), lr=0.1)
    for _ in range(STEPS):
        words = torch.randint(400, (24, WORDS))
        loss = nn.functional.cross_entropy(names(words).flatten(0, 1), (words % KINDS).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
