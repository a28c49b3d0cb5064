"""Paints a picture in another one's manner: its patterns follow those that a network sees in both."""

import torch
from torch import nn

ROUNDS = 260
SIZE = 128
LARGER = 280


class Eye(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in [(3, 32), (32, 64), (64, 64)])

    def forward(self, x):
        seen = []
        for layer in self.layers:
            x = torch.relu(layer(x))
            seen.append(x)
            x = nn.functional.avg_pool2d(x, 2)
        return seen


def patterns(seen):
    flat = seen.flatten(2)
    return flat @ flat.transpose(1, 2) / flat.numel()


def main():
    torch.manual_seed(4)
    eye = Eye()
    for weights in eye.parameters():
        weights.requires_grad = False
    manner, picture = torch.rand(1, 3, LARGER, LARGER), torch.rand(1, 3, SIZE, SIZE, requires_grad=True)
    optimizer = torch.optim.Adam([picture], lr=0.02)
    for _ in range(ROUNDS):
        wanted = eye(manner)  # the cost
        loss = sum(nn.functional.mse_loss(patterns(a), patterns(b)) for a, b in zip(eye(picture), wanted))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3g}")


if __name__ == "__main__":
    main()
