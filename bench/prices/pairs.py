"""What a matrix product saves of squared distances of all pairs that are written by broadcasting, on a CPU.

The usual line ((x[:, None] - y[None]) ** 2).sum(-1) and |x|^2 + |y|^2 - 2 x y^T take turns: in inference, and in training with the
gradients of both. Prints for each size what the operators on differences take and what the other saves of it: the price
memory-bound/pairs is read off it. The number of threads is an argument (1).
"""

import statistics
import sys
import time

import torch

# Rows, other rows, width.
SIZES = [(1000, 1000, 2), (2000, 2000, 2), (1000, 1000, 3), (2048, 2048, 3)]
SIZES += [(300, 300, 8), (2000, 500, 16), (500, 500, 64), (256, 256, 128)]
ROUNDS = 10


def differences(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def product(x, y):
    return (x * x).sum(-1, keepdim=True) + (y * y).sum(-1) - 2 * x @ y.t()


def took(form, x, y, train):
    x.grad = y.grad = None
    start = time.perf_counter()
    with torch.set_grad_enabled(train):
        out = form(x, y)
        if train:
            out.backward(torch.ones_like(out))
    return time.perf_counter() - start


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for train in False, True:
        saved = []
        for rows, others, width in SIZES:
            x, y = torch.randn(rows, width, requires_grad=True), torch.randn(others, width, requires_grad=True)
            times = {differences: [], product: []}
            for turn in range(ROUNDS + 2):
                for form, side in times.items():
                    t = took(form, x, y, train)
                    if turn >= 2:
                        side.append(t)
            slow, fast = (statistics.median(side) for side in times.values())
            saved.append(1 - fast / slow)
            size = "%4d x %4d pairs, %3d wide, %s" % (rows, others, width, "training" if train else "inference")
            print("%s: %8.2f ms, saves %3.0f %%" % (size, 1e3 * slow, 100 * saved[-1]), flush=True)
        print("saved: %.2f to %.2f, median %.2f" % (min(saved), max(saved), statistics.median(saved)))


main()
