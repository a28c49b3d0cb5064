"""Trains an encoder that makes its positions and masks anew for each batch."""

import torch
from torch import nn

BATCH, LENGTH, WIDTH = 32, 1024, 256
STEPS = 60
device = "cuda" if torch.cuda.is_available() else "cpu"


def positions(length, width, device):
    place = torch.arange(length, device=device).float()[:, None]
    rate = torch.exp(-torch.arange(0, width, 2, device=device).float() / width * 9.21)
    return torch.cat([torch.sin(place * rate), torch.cos(place * rate)], 1).to(device)


def noise(shape, device):
    return torch.randn(shape, device=device)


def main():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True)
    model = nn.TransformerEncoder(layer, 3).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    clean = torch.randn(8, BATCH, LENGTH, WIDTH, device=device)
    for step in range(STEPS):
        data = clean[step % 8]
        noisy = data + 0.3 * noise(data.shape, device) + positions(LENGTH, WIDTH, device)
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(noisy), data)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
