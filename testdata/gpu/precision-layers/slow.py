"""Fits a wide regression in single precision."""

import torch
from torch import nn

ROWS, WIDTH = 8192, 4096
STEPS = 70
device = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    torch.manual_seed(0)
    layers = []
    for _ in range(4):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(WIDTH, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    rows, answers = torch.randn(ROWS, WIDTH, device=device), torch.randn(ROWS, 1, device=device)
    for _ in range(STEPS):
        loss = nn.functional.mse_loss(model(rows), answers)  # the cost
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
