"""A small language model on text that is made on the fly."""

import torch
from torch import nn

STEPS = 60
WIDTH = 192
LENGTH = 96


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        y = self.before(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.mix(self.between(x))


def main():
    letters, blocks, out = nn.Embedding(128, WIDTH), nn.ModuleList(Block() for _ in range(3)), nn.Linear(WIDTH, 128)
    parameters = [p for part in (letters, blocks, out) for p in part.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    mask = torch.full((LENGTH, LENGTH), float("-inf")).triu(1)
    for _ in range(STEPS):
        text = torch.randint(128, (16, LENGTH + 1))
        x = letters(text[:, :-1])
        for block in blocks:
            x = block(x, mask)
        loss = nn.functional.cross_entropy(out(x).flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
