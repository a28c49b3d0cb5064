"""A wide regression on a table that lies in memory, with a validation after each epoch."""

import torch
from torch import nn

ROWS = 23000
WIDTH = 760
EPOCHS = 4


def validate(model, x, y):
    model.eval()
    with torch.no_grad():
        error = (model(x) - y).pow(2).mean().item()
    model.train()
    return error


def main():
    x = torch.randn(ROWS, 96)
    y = x[:, :3].sum(1, keepdim=True)
    model = nn.Sequential(nn.Linear(96, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(EPOCHS):
        for part in torch.randperm(ROWS).split(512):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x[part]), y[part])
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: error {validate(model, x[:2000], y[:2000]):.4f}")


if __name__ == "__main__":
    main()
