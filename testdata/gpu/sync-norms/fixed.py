"""Trains a mixer and writes the norm of each gradient down."""

import torch
from torch import nn

BATCH, WIDTH, DEPTH = 256, 512, 24
STEPS = 300
device = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    torch.manual_seed(0)
    blocks = [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.GELU()) for _ in range(DEPTH)]
    model = nn.Sequential(*blocks, nn.Linear(WIDTH, 10)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    rows = torch.randn(16, BATCH, WIDTH, device=device)
    labels = torch.randint(10, (16, BATCH), device=device)
    history = []
    for step in range(STEPS):
        loss = nn.functional.cross_entropy(model(rows[step % 16]), labels[step % 16])
        optimizer.zero_grad()
        loss.backward()
        names = [name for name, _ in model.named_parameters()]
        norms = torch.stack(torch._foreach_norm([p.grad for p in model.parameters()]))
        norms = dict(zip(names, norms.tolist())) if step % 50 == 49 else {}
        history.append(norms)
        optimizer.step()
    print(f"loss {loss.item():.3f}, {len(history)} rows")


if __name__ == "__main__":
    main()
