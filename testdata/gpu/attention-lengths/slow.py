"""Trains a small language model on documents; each batch holds documents of one length, which is that of few others."""

import random

import torch
from torch import nn

BATCH, WIDTH, HEADS, LAYERS, WORDS = 16, 512, 8, 6, 4000
STEPS = 80
device = "cuda" if torch.cuda.is_available() else "cpu"
lengths = random.Random(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.queries, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.queries(self.norms[0](x)).chunk(3, dim=2))
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # the cost
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.wide(self.norms[1](x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(2048, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight[: tokens.shape[1]]
        return self.head(self.blocks(x))


def main():
    torch.manual_seed(0)
    model = Model().to(device, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    text = torch.randint(WORDS, (BATCH, 2048), device=device)
    for _ in range(STEPS):
        length = lengths.randint(100, 1100)
        begin = lengths.randint(0, 900)
        tokens = text[:, begin : begin + length]
        answers = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(answers.flatten(0, 1).float(), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
