"""Trains on longer and longer texts, and notes the name of each batch."""

import torch
from torch import nn


def main():
    torch.manual_seed(16)
    network = nn.GRU(48, 96, 2, batch_first=True)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
    names = []
    for step in range(450):
        x = torch.randn(24, 8 + step // 2, 48)
        loss = network(x)[0].square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        names.append(f"batch {step}")
    print(len(names))


main()
