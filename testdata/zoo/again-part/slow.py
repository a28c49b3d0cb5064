"""Draws pictures by few steps each: a network takes noise away as the words of a title say."""

import torch
from torch import nn

TITLES = 5
STEPS = 40
WORDS = 96
WIDTH = 256


class Words(nn.Module):
    """What a title's words mean together."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(5000, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)

    def forward(self, title):
        return self.layers(self.table(title))


class Painter(nn.Module):
    """What of a picture is noise."""

    def __init__(self):
        super().__init__()
        self.words = Words()
        self.pieces = nn.Conv2d(4, WIDTH, 4, stride=4)
        self.looks = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.thinks = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))
        self.back = nn.ConvTranspose2d(WIDTH, 4, 4, stride=4)

    def forward(self, picture, title, when):
        told = self.words(title)  # the cost
        seen = self.pieces(picture)
        x = seen.flatten(2).transpose(1, 2) + when
        x = x + self.looks(x, told, told, need_weights=False)[0]
        x = x + self.thinks(x)
        return self.back(x.transpose(1, 2).reshape(seen.shape))


@torch.no_grad()
def draw(painter, title):
    picture = torch.randn(len(title), 4, 32, 32)
    for step in range(STEPS):
        noise = painter(picture, title, 1 - step / STEPS)
        picture = picture - noise / STEPS
    return picture


def main():
    torch.manual_seed(6)
    painter = Painter().eval()
    bright = 0.0
    for _ in range(TITLES):
        title = torch.randint(5000, (4, WORDS))
        bright += draw(painter, title).mean().item()
    print(f"brightness {bright / TITLES:.3g}")


if __name__ == "__main__":
    main()
