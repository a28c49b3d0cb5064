"""Trains a compiled classifier whose steps are CUDA graphs."""

import torch
from torch import nn

BATCH, WIDTH = 512, 1024
STEPS = 2000
device = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 10)).to(device)
    compiled = torch.compile(model, mode="reduce-overhead")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    rows = torch.randn(16, BATCH, WIDTH, device=device)
    labels = torch.randint(10, (16, BATCH), device=device)
    for step in range(STEPS):
        loss = nn.functional.cross_entropy(compiled(rows[step % 16]), labels[step % 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
