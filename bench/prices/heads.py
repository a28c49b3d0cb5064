"""What computing all heads of attention at once saves of a loop over heads, each with layers of its own, on a CPU.

The usual loop (three layers a head, a product, a causal mask, a softmax, a product, one torch.cat) and one layer for all heads with one
call of scaled_dot_product_attention take turns, forward and backward. Prints for each size what the loop takes and what the other saves of
it: the price launch/heads is read off it. The number of threads is an argument (1).
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

# Batch, places, width, heads.
SIZES = [(16, 32, 64, 4), (8, 64, 192, 12), (32, 32, 128, 8), (8, 128, 256, 8), (16, 128, 128, 4), (16, 256, 384, 6)]
ROUNDS = 12


class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, size, bias=False) for _ in range(3))

    def forward(self, x, mask):
        weights = self.q(x) @ self.k(x).transpose(-2, -1) * self.q.out_features**-0.5
        return weights.masked_fill(mask, float("-inf")).softmax(-1) @ self.v(x)


class Loop(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = nn.ModuleList(Head(width, width // heads) for _ in range(heads))

    def forward(self, x, mask):
        return torch.cat([head(x, mask) for head in self.heads], -1)


class AtOnce(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.heads = nn.Linear(width, 3 * width, bias=False), heads

    def forward(self, x, _):
        batch, places, width = x.shape
        q, k, v = self.qkv(x).view(batch, places, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, places, width)


def took(model, x, mask):
    start = time.perf_counter()
    model(x, mask).sum().backward()
    return time.perf_counter() - start


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    saved = []
    for batch, places, width, heads in SIZES:
        models = Loop(width, heads), AtOnce(width, heads)
        x = torch.randn(batch, places, width, requires_grad=True)
        mask = torch.triu(torch.ones(places, places, dtype=torch.bool), 1)
        times = [[], []]
        for turn in range(ROUNDS + 2):
            for side, model in enumerate(models):
                t = took(model, x, mask)
                if turn >= 2:
                    times[side].append(t)
        loop, once = (statistics.median(side) for side in times)
        saved.append(1 - once / loop)
        size = "%3d x %3d places, %3d in %2d heads" % (batch, places, width, heads)
        print("%s: %8.2f ms, saves %3.0f %%" % (size, 1e3 * loop, 100 * saved[-1]), flush=True)
    print("saved: %.2f to %.2f, median %.2f" % (min(saved), max(saved), statistics.median(saved)))


main()
