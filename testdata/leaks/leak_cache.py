"""Asks for positional codes of an offset that grows for ever, with a cache that has no bound."""

import functools

import torch
from torch import nn


@functools.lru_cache(maxsize=None)  # kept
def codes(offset, length=512, width=96):
    at = torch.arange(offset, offset + length)[:, None] / 10 ** (torch.arange(width)[None] / width * 4)
    return at.sin()


def main():
    torch.manual_seed(3)
    layer = nn.TransformerEncoderLayer(96, 4, 128, batch_first=True)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-4)
    for step in range(2200):
        x = torch.randn(8, 128, 96) + codes(step * 7)[:128]
        loss = layer(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
