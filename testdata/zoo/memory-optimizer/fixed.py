"""Learns vectors of words; a batch uses few of them, the optimizer goes over all at once."""

import torch
from torch import nn

STEPS = 40
WORDS = 300000
FUSED = True


def main():
    vectors = nn.Embedding(WORDS, 32)
    out = nn.Linear(32, 8)
    optimizers = [
        torch.optim.Adam(vectors.parameters(), lr=0.5, fused=FUSED),
        torch.optim.Adam(out.parameters()),
    ]
    for _ in range(STEPS):
        x, y = torch.randint(WORDS, (512, 12)), torch.randint(8, (512,))
        loss = nn.functional.cross_entropy(out(vectors(x).mean(1)), y)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()  # the cost
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
