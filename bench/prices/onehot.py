"""What looking rows up saves of multiplying one-hot vectors by a layer's weight, on a CPU.

The usual lines (one_hot, float, a linear layer) and nn.Embedding take turns: in inference, and in training with the gradient of the
weight. Prints for each size what the operators on one-hot vectors take and what the other saves of it: the price
memory-bound/one-hot is read off it. The number of threads is an argument (1).
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

# Rows, classes, width.
SIZES = [(64, 500, 64), (256, 2000, 128), (1024, 2000, 64), (256, 20000, 128), (64, 30000, 300), (2048, 5000, 100)]
ROUNDS = 10


def hot(words, layer):
    return layer(F.one_hot(words, layer.in_features).float())


def looked_up(words, table):
    return table(words)


def took(form, words, layer, train):
    layer.weight.grad = None
    start = time.perf_counter()
    with torch.set_grad_enabled(train):
        out = form(words, layer)
        if train:
            out.backward(torch.ones_like(out))
    return time.perf_counter() - start


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for train in False, True:
        saved = []
        for rows, classes, width in SIZES:
            words = torch.randint(classes, (rows,))
            layers = {hot: nn.Linear(classes, width, bias=False), looked_up: nn.Embedding(classes, width)}
            times = {hot: [], looked_up: []}
            for turn in range(ROUNDS + 2):
                for form, side in times.items():
                    t = took(form, words, layers[form], train)
                    if turn >= 2:
                        side.append(t)
            by_hot, by_row = (statistics.median(side) for side in times.values())
            saved.append(1 - by_row / by_hot)
            size = "%4d rows of %5d, %3d wide, %s" % (rows, classes, width, "training" if train else "inference")
            print("%s: %8.2f ms, saves %3.0f %%" % (size, 1e3 * by_hot, 100 * saved[-1]), flush=True)
        print("saved: %.2f to %.2f, median %.2f" % (min(saved), max(saved), statistics.median(saved)))


main()
