"""Trains with a scale of losses that is far too large at first."""

import torch
from torch import nn

BATCH, WIDTH = 4096, 2048
STEPS = 250
device = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler(device, init_scale=2.0**100)
    rows = torch.randn(BATCH, WIDTH, device=device)
    labels = torch.randint(10, (BATCH,), device=device)
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(rows), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(f"loss {loss.item():.3f}, scale {scaler.get_scale():.0f}")


if __name__ == "__main__":
    main()
