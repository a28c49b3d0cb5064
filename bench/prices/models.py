"""Small models whose steps are mostly calls of operators, which compile.py and inference.py measure."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, 4, -1).transpose(1, 2) for t in self.qkv(self.first(x)).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.second(x))


class Graph(nn.Module):
    """Two rounds of messages along edges."""

    def __init__(self):
        super().__init__()
        self.edges = torch.randint(0, 300, (2, 1200))
        self.layers = nn.ModuleList([nn.Linear(16, 16) for _ in range(4)])

    def forward(self, x):
        for layer in self.layers:
            sent = layer(x)[self.edges[0]]
            x = F.relu(x + torch.zeros_like(x).index_add(0, self.edges[1], sent))
        return x


class Physics(nn.Module):
    """A chain of elementwise operators on small tensors."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(64))

    def forward(self, x):
        for _ in range(12):
            x = torch.tanh(x * self.scale + 0.1) - 0.5 * x.pow(2).mean(dim=-1, keepdim=True)
        return x


def mlp(*widths):
    layers = []
    for left, right in zip(widths, widths[1:]):
        layers += [nn.Linear(left, right), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), mlp(256, 120, 84, 10)
    )


CASES = {  # model, input, whether it learns
    "policy, one state": (lambda: mlp(4, 64, 64, 2), (1, 4), False),
    "policy, 64 states": (lambda: mlp(4, 64, 64, 2), (64, 4), True),
    "deep perceptron": (lambda: mlp(*[64] * 13), (32, 64), True),
    "2 blocks of 32": (lambda: nn.Sequential(*[Block(32) for _ in range(2)]), (8, 16, 32), True),
    "4 blocks of 64": (lambda: nn.Sequential(*[Block(64) for _ in range(4)]), (8, 16, 64), True),
    "6 blocks of 48": (lambda: nn.Sequential(*[Block(48) for _ in range(6)]), (16, 8, 48), True),
    "LeNet": (lenet, (8, 1, 28, 28), True),
    "graph": (Graph, (300, 16), True),
    "elementwise": (Physics, (32, 64), True),
}
