"""Segments point clouds; points that are missing are left out."""

import torch
from torch import nn

BATCH, POINTS, WIDTH = 32, 1024, 128
STEPS = 300
device = "cuda" if torch.cuda.is_available() else "cpu"


class Points(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, WIDTH)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.ReLU()) for _ in range(12)])
        self.last = nn.Linear(WIDTH, 8)

    def forward(self, points, there):
        x = self.first(points)
        for layer in self.layers:
            x = x + torch.where(there[..., None], layer(x), 0)
        return self.last(x)


def main():
    torch.manual_seed(0)
    model = Points().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    points = torch.randn(8, BATCH, POINTS, 6, device=device)
    there = torch.rand(8, BATCH, POINTS, device=device) > 0.2
    targets = torch.randint(8, (8, BATCH, POINTS), device=device)
    for step in range(STEPS):
        i = step % 8
        answers = model(points[i], there[i])
        loss = nn.functional.cross_entropy(answers.flatten(0, 1), targets[i].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
