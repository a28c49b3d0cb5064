"""How much less topk takes than sorting everything, on the CPU, by the share of places that are taken.

Prints, for each shape and number of places, the time of `sort` and of `topk` with its results in order, and the share of the sort that
goes: the price memory-bound/sorted and the limit SortedTaken are read off it. The number of threads is an argument (2).
"""

import statistics
import sys
import time

import torch

SHAPES = [(200, 20000), (64, 1000), (4096, 100), (1000000,), (16, 8, 2048), (20000,)]
PLACES = [1, 10, 100, 0.05, 0.1, 0.25, 0.5]  # as many, or as a share of a row
ROUNDS = 9


def seconds(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    print("PyTorch %s, threads: %d" % (torch.__version__, torch.get_num_threads()))
    torch.manual_seed(0)
    for shape in SHAPES:
        scores, width = torch.randn(shape), shape[-1]
        for places in PLACES:
            k = places if places >= 1 else int(places * width)
            if k > width // 2:
                continue
            both = [(seconds(torch.sort, scores, -1, True), seconds(torch.topk, scores, k, -1)) for _ in range(ROUNDS)]
            whole, few = (statistics.median(side) for side in zip(*both))
            row = (shape, k, 100 * k / width, 1e3 * whole, 1e3 * few, 100 * (1 - few / whole))
            print("%-16s %6d places (%5.2f %%): sort %8.3f ms, topk %8.3f ms, saves %3.0f %%" % row)


if __name__ == "__main__":
    main()
