"""What several rows in one product with a layer's weights save of products with one row each, on as many threads as are given (1).

Products with 1 row, and with 8 and 32, take turns, over layers that together do not fit into a processor's nearest caches. Prints for each
size what a row takes and what rows together save of it: the price launch/rows is read off it.
"""

import statistics
import sys
import time

import torch
from torch import nn

SIZES = [(256, 8), (512, 4), (512, 16), (1024, 4), (2048, 3), (4096, 2)]  # width, layers
ROUNDS = 60


def took(model, x):
    start = time.perf_counter()
    model(x)
    return time.perf_counter() - start


@torch.no_grad()
def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    print("width layers   one row ms   8 save  32 save")
    saved = {8: [], 32: []}
    for width, layers in SIZES:
        model = nn.Sequential(*[layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.ReLU())])
        times = {rows: [] for rows in (1, 8, 32)}
        inputs = {rows: torch.randn(rows, width) for rows in times}
        for turn in range(ROUNDS + 5):
            for rows, x in inputs.items():
                t = took(model, x)
                if turn >= 5:
                    times[rows].append(t)
        one, eight, more = (statistics.median(t) for t in times.values())
        saved[8].append(1 - eight / 8 / one)
        saved[32].append(1 - more / 32 / one)
        print("%5d %6d %12.3f %6.0f %% %6.0f %%" % (width, layers, 1e3 * one, 100 * saved[8][-1], 100 * saved[32][-1]))
    for rows, list_of in saved.items():
        print("%d rows: %.2f to %.2f, median %.2f" % (rows, min(list_of), max(list_of), statistics.median(list_of)))


main()
