"""Trains an encoder with an optimizer."""

import torch
from torch import nn

BATCH, LENGTH, WIDTH = 8, 64, 256
STEPS = 250
device = "cuda" if torch.cuda.is_available() else "cpu"


def main():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 8), nn.Linear(WIDTH, 16)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    signals = torch.randn(64, BATCH, LENGTH, WIDTH, device=device)
    targets = torch.randint(16, (64, BATCH, LENGTH), device=device)
    for step in range(STEPS):
        optimizer.zero_grad()
        answers = model(signals[step % 64])
        loss = nn.functional.cross_entropy(answers.flatten(0, 1), targets[step % 64].flatten())
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
