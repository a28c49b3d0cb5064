"""Learns for a short time with a compiled model, and says whether its code was made by an earlier start."""

import torch
from torch import nn
from torch._dynamo.utils import counters

STEPS = 60
WIDTH = 96


def main():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1))
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(STEPS):
        x = torch.rand(64, WIDTH)
        optimizer.zero_grad()
        loss = compiled(x).pow(2).mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")
    print("code was made" if counters["aot_autograd"]["autograd_cache_hit"] == 0 else "code was there")


if __name__ == "__main__":
    main()
