"""What a forward pass of one token takes beside passes of whole sequences, on two threads.

Passes of 1 to 256 tokens take turns. Prints for each model what one token takes, as a share of what a line through the longer passes says:
the price again/one-token-line is read off it. And what as many passes of one token take, as a share of writing a text of 64 or 256 tokens
with a pass over all tokens for each: the price again/writing is what they leave.
"""

import statistics
import time

import torch
from models import Block
from torch import nn

LENGTHS = (16, 32, 48, 64, 96, 128, 192, 256)
MODELS = ((6, 64), (6, 128), (6, 256), (12, 256), (6, 512), (4, 1024))  # blocks and their width


def slope(points):
    """The median of the slopes between all pairs of points."""
    return statistics.median((b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[i + 1 :])


def mean(took, longest):
    """What a pass takes on average over all lengths up to one, by lines between those that were measured."""
    area, points = 0.0, sorted((length, t) for length, t in took.items() if length <= longest)
    for (a, at), (b, bt) in zip(points, points[1:]):
        area += (b - a) * (at + bt) / 2
    return area / (longest - 1)


def main():
    torch.set_num_threads(2)
    for depth, width in MODELS:
        name = f"{depth} of {width}"
        for batch in (1, 4):
            torch.manual_seed(0)
            model = nn.Sequential(*[Block(width) for _ in range(depth)]).eval()
            inputs = {length: torch.randn(batch, length, width) for length in (1,) + LENGTHS}
            times, begun, turn = {length: [] for length in inputs}, time.perf_counter(), 0
            with torch.no_grad():
                while turn < 8 or turn < 200 and time.perf_counter() - begun < 4:
                    for length, x in inputs.items():
                        start = time.perf_counter()
                        model(x)
                        times[length].append(time.perf_counter() - start)
                    turn += 1
            took = {length: statistics.median(t[2:]) * 1e3 for length, t in times.items()}
            for written in (64, 256):
                share = took[1] / mean(took, written)
                print(f"{name:10} batch {batch}, {written:3} tokens written: one-token passes take {share:5.2f} of it")
            for first, last in ((0, 4), (2, 6), (0, 8)):
                points = [(length, took[length]) for length in LENGTHS[first:last]]
                steep = slope(points)
                at_one = statistics.median(ns - steep * (length - 1) for length, ns in points)
                print(
                    f"{name:10} batch {batch}, {points[0][0]} to {points[-1][0]} tokens of {points[0][1]:6.2f} to {points[-1][1]:6.2f} ms: "
                    f"one token {took[1]:5.2f} ms, by the line {at_one:6.2f}: {took[1] / max(at_one, 1e-9):5.2f}"
                )


if __name__ == "__main__":
    main()
