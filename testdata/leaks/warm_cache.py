"""Looks codes up in a cache without bound that has one entry a length; all are there after a while."""

import functools

import torch
from torch import nn


@functools.lru_cache(maxsize=None)
def codes(length, width=96):
    at = torch.arange(length)[:, None] / 10 ** (torch.arange(width)[None] / width * 4)
    return at.sin()


def main():
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(96, 4, 128, batch_first=True)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-4)
    for _ in range(2200):
        length = int(torch.randint(96, 160, ()))
        x = torch.randn(8, length, 96) + codes(length)
        loss = layer(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
