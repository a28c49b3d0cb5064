"""Trains a small model of letters."""

import torch
from torch import nn

STEPS = 36
LAYERS = 5
WIDTH = 192
BATCH = 12
LENGTH = 128
LETTERS = 64


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.heads = nn.Linear(WIDTH, 3 * WIDTH)
        self.joined = nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (part.view(n, length, 4, -1).transpose(1, 2) for part in self.heads(self.before(x)).chunk(3, dim=-1))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.joined(mixed.transpose(1, 2).reshape(n, length, width))
        return x + self.wide(self.after(x))


class Letters(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(LETTERS, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.out = nn.Linear(WIDTH, LETTERS)

    def forward(self, text):
        x = self.table(text)
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


def main():
    torch.manual_seed(5)
    model = Letters()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    texts = torch.randint(LETTERS, (STEPS, BATCH, LENGTH + 1))
    for text in texts:
        scores = model(text[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
