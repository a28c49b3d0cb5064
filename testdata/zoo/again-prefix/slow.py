"""Writes text with a small language model, a token at a time."""

import torch
from torch import nn

TOKENS = 240
WIDTH = 192
HEADS = 6
LAYERS = 4
LETTERS = 80


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, WIDTH)
        self.places = nn.Embedding(1024, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, LETTERS)

    def forward(self, tokens):
        x = self.letters(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, -1])


@torch.no_grad()
def write(model, tokens, count):
    for _ in range(count):
        logits = model(tokens)  # the cost
        nearest = torch.softmax(logits, -1).argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, nearest), 1)
    return tokens


def main():
    torch.manual_seed(1)
    model = Writer().eval()
    text = None
    for _ in range(2):
        text = write(model, torch.randint(LETTERS, (4, 32)), TOKENS)
    print(text.shape, int(text.sum()))


if __name__ == "__main__":
    main()
