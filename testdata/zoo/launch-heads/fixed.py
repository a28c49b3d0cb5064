"""Teaches a small model to go on with notes."""

import torch
from torch import nn

PLACES = 64
WIDTH = 192
HEADS = 12
BLOCKS = 4
STEPS = 90
NOTES = 100


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ears = nn.Linear(WIDTH, 3 * WIDTH)
        self.joined = nn.Linear(WIDTH, WIDTH)
        self.thinks = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        heard = self.first(x)
        asks, offers, tells = self.ears(heard).view(len(x), PLACES, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        heard = nn.functional.scaled_dot_product_attention(asks, offers, tells, is_causal=True)
        x = x + self.joined(heard.transpose(1, 2).reshape(x.shape))
        return x + self.thinks(self.second(x))


def main():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Embedding(NOTES, WIDTH), *[Block() for _ in range(BLOCKS)], nn.Linear(WIDTH, NOTES))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        notes = torch.randint(NOTES, (8, PLACES + 1))
        loss = nn.functional.cross_entropy(model(notes[:, :-1]).flatten(0, 1), notes[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
