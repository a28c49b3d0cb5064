"""What appending parts to a list, with one concatenation at the end, saves of concatenating all that there is with each part.

Parts of several sizes are gathered both ways, in turns, each made anew as a model's answer is. The price memory-bound/regrown is what is
saved over the time of the concatenations of a tensor of twice a part's rows and more, by the share of the rows that were there. Prints
that for each size and number of parts. The device is an argument (cpu), and the number of threads another (2).
"""

import statistics
import sys
import time

import torch

PARTS = [8, 24, 64]
SIZES = [(256, 10), (16, 4096), (64, 8192), (16, 96, 6003)]
ROUNDS = 5
MOST = 3 << 28  # numbers in all


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def grown(count, size, device):
    """Gathers by growing: the time of all, and that of concatenations by the share of rows that were there."""
    copies, rows, start = 0.0, None, time.perf_counter()
    for _ in range(count):
        part = torch.zeros(size, device=device)
        if rows is None:
            rows = part
            continue
        there = rows.shape[0]
        synchronize(device)
        began = time.perf_counter()
        rows = torch.cat((rows, part))
        synchronize(device)
        if there >= 2 * size[0]:
            copies += (time.perf_counter() - began) * there / rows.shape[0]
    return time.perf_counter() - start, copies


def listed(count, size, device):
    """The same by a list."""
    start, parts = time.perf_counter(), []
    for _ in range(count):
        parts.append(torch.zeros(size, device=device))
        synchronize(device)
    torch.cat(parts)
    synchronize(device)
    return time.perf_counter() - start


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    torch.set_num_threads(int(sys.argv[2]) if len(sys.argv) > 2 else 2)
    every = []
    for count in PARTS:
        for size in SIZES:
            if count * torch.Size(size).numel() > MOST:
                continue
            ratios = []
            for _ in range(ROUNDS):
                (whole, copies), once = grown(count, size, device), listed(count, size, device)
                ratios.append((whole - once) / copies)
            ratios.sort()
            every += ratios
            print("%3d parts of %-14s %5.2f times it (%5.2f to %5.2f)" % (count, size, statistics.median(ratios), ratios[0], ratios[-1]))
    every.sort()
    print("%d: %s" % (len(every), ", ".join("%.2f" % every[int(q * (len(every) - 1))] for q in (0, 0.1, 0.5, 0.9, 1))))


if __name__ == "__main__":
    main()
