"""Trains and asks models by hand, without a DataLoader that hands out sequences: filled ones, a text that grows, pictures."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
LENGTHS = torch.arange(800) % 7 + 3  # 3 to 9 of 16 places
TOKENS = torch.randint(5, 50, (800, 16)).masked_fill(torch.arange(16) >= LENGTHS.unsqueeze(1), 0)
MASK = (TOKENS != 0).long()


class Reader(nn.Module):
    """Reads token numbers as its first argument, or by Hugging Face's names."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, input_ids, attention_mask=None):
        """Two numbers of each sequence."""
        return self.out(self.table(input_ids).mean(1))


def train(model, batches):
    """Trains by hand."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        loss = model(*batch).square().mean()
        loss.backward()
        optimizer.step()
    print(loss.item() < 10, "__call__" in vars(type(model)), type(model).__call__.__qualname__)


def batches_of(table):
    """A hundred batches of eight."""
    return [(table[i : i + 8],) for i in range(0, 800, 8)]


def asked():
    """Answers by names, with a mask."""
    model = Reader()
    with torch.no_grad():
        for i in range(0, 800, 8):
            out = model(input_ids=TOKENS[i : i + 8], attention_mask=MASK[i : i + 8])
    print(out.shape)


def texts():
    """Answers about numbers of texts, which a DataLoader hands out."""
    model = Reader()
    with torch.no_grad():
        for numbers in DataLoader(range(800), batch_size=8, collate_fn=list):
            out = model(TOKENS[numbers])
    print(out.shape)


def writes():
    """A text that grows: one place is computed, the mask is as long as the text."""
    model = Reader()
    with torch.no_grad():
        for n in range(20, 60):
            out = model(input_ids=torch.ones(2, 1, dtype=torch.long), attention_mask=torch.tensor([[1] * n, [0] * 15 + [1] * (n - 15)]))
    print(out.shape)


{
    "trained": lambda: train(Reader(), batches_of(TOKENS)),
    "asked": asked,
    "texts": texts,
    "writes": writes,
    "pictures": lambda: train(nn.Sequential(nn.Flatten(), nn.Linear(48, 2)), [(torch.rand(4, 3, 4, 4),)] * 100),
}[sys.argv[1]]()
