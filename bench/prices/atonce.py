"""What doing all turns of a loop within a step at once saves of what they take one after another, on a CPU.

Loops as models have them take turns with the same on one tensor, forth and back: a convolution for each channel, networks of an ensemble,
answers that have a layer each, attention within windows, a loss for each place. Prints for each what the loop takes, the mean of a turn,
and what the other saves of it: the price launch/at-once is read off it. The number of threads is an argument (1).
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

ROUNDS = 10


def channels(count, batch, length):
    layers = [nn.Conv1d(1, 4, 9, padding=4) for _ in range(count)]
    whole = nn.Conv1d(count, 4 * count, 9, padding=4, groups=count)
    x = torch.randn(batch, count, length)
    return (lambda: torch.cat([torch.relu(one(x[:, i : i + 1])) for i, one in enumerate(layers)], 1)), (lambda: torch.relu(whole(x)))


def planes(count, batch, side):
    layers = [nn.Conv2d(1, 8, 3, padding=1) for _ in range(count)]
    whole = nn.Conv2d(count, 8 * count, 3, padding=1, groups=count)
    x = torch.randn(batch, count, side, side)
    return (lambda: torch.cat([torch.relu(one(x[:, i : i + 1])) for i, one in enumerate(layers)], 1)), (lambda: torch.relu(whole(x)))


def members(count, batch, width):
    nets = [nn.Sequential(nn.Linear(24, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 20)) for _ in range(count)]
    sizes = [(24, width), (width, width), (width, 20)]
    w = [nn.Parameter(torch.randn(count, a, b) / a) for a, b in sizes]
    bias = [nn.Parameter(torch.zeros(count, 1, b)) for _, b in sizes]
    x = torch.randn(count, batch, 24)

    def whole():
        h = x
        for i in range(3):
            h = torch.baddbmm(bias[i], h, w[i])
            h = F.silu(h) if i < 2 else h
        return h

    return (lambda: torch.stack([net(x[i]) for i, net in enumerate(nets)])), whole


def answers(count, batch, width):
    layers, whole = [nn.Linear(width, 8) for _ in range(count)], nn.Linear(width, 8 * count)
    x = torch.randn(batch, width, requires_grad=True)
    return (lambda: torch.cat([one(x) for one in layers], 1)), (lambda: whole(x))


def windows(count, batch, width):
    qkv, side = nn.Linear(width, 3 * width), int(count**0.5)
    x = torch.randn(batch, 4 * side, 4 * side, width, requires_grad=True)

    def attend(t):
        q, k, v = qkv(t).chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v)

    def loop():
        out = torch.zeros_like(x)
        for i in range(0, 4 * side, 4):
            for j in range(0, 4 * side, 4):
                t = x[:, i : i + 4, j : j + 4].reshape(batch, 16, width)
                out[:, i : i + 4, j : j + 4] = attend(t).view(batch, 4, 4, width)
        return out

    def whole():
        t = x.view(batch, side, 4, side, 4, width).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, width)
        return attend(t).view(batch, side, side, 4, 4, width).permute(0, 1, 3, 2, 4, 5).reshape(x.shape)

    return loop, whole


def losses(count, batch, width):
    x, y = torch.randn(batch, count, width, requires_grad=True), torch.randint(0, width, (batch, count))

    def loop():
        total = 0
        for t in range(count):
            total = total + F.cross_entropy(x[:, t], y[:, t])
        return total

    return loop, lambda: F.cross_entropy(x.flatten(0, 1), y.flatten()) * count


LOOPS = [
    (channels, 8, 16, 128),
    (channels, 48, 16, 128),
    (channels, 16, 64, 1024),
    (planes, 8, 16, 32),
    (planes, 32, 16, 32),
    (members, 8, 32, 64),
    (members, 8, 256, 256),
    (members, 32, 32, 64),
    (answers, 8, 64, 256),
    (answers, 40, 64, 256),
    (windows, 16, 8, 32),
    (windows, 64, 8, 32),
    (windows, 64, 2, 96),
    (losses, 50, 32, 100),
    (losses, 200, 16, 64),
    (losses, 20, 64, 5000),
]


def took(form):
    start = time.perf_counter()
    form().sum().backward()
    return time.perf_counter() - start


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    saved = []
    for build, count, batch, size in LOOPS:
        torch.manual_seed(0)
        forms = build(count, batch, size)
        times = [], []
        for turn in range(ROUNDS + 2):
            for side, form in enumerate(forms):
                t = took(form)
                if turn >= 2:
                    times[side].append(t)
        slow, fast = statistics.median(times[0]), statistics.median(times[1])
        saved.append(1 - fast / slow)
        name = "%-8s %3d turns, batch %3d, size %4d" % (build.__name__, count, batch, size)
        print("%s: %7.2f ms, %7.1f us a turn, saves %4.0f %%" % (name, 1e3 * slow, 1e6 * slow / count, 100 * saved[-1]), flush=True)
    print("saved: %.2f to %.2f, median %.2f" % (min(saved), max(saved), statistics.median(saved)))


main()
