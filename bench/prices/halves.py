"""How fast matrix products of half formats are on the CPU beside float32, of the layouts that a linear layer's passes have.

Prints, for each shape and layout, operations per nanosecond (GFLOP/s) and thread in float32, bfloat16 and float16, and how much of the
time float32 saves: the price precision/slow-products and the limit SlowProduct are read off it, on a processor without instructions for
these formats. The number of threads is an argument (2).
"""

import sys
import time

import torch

SHAPES = [(512, 192, 768), (64, 4096, 256), (16, 1024, 1024), (2048, 512, 512), (128, 128, 128)]  # rows in, numbers in, numbers out
SECONDS = 0.3  # each


def rate(call, operations):
    """Operations per ns."""
    call()
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        call()
        calls += 1
    return operations * calls / (time.perf_counter() - start) / 1e9


def layouts(rows, inner, outer, dtype):
    """The three products of a linear layer's passes, by their names."""
    given, weight, gradient = (torch.randn(shape).to(dtype) for shape in ((rows, inner), (outer, inner), (rows, outer)))
    return [
        ("forward", lambda: torch.nn.functional.linear(given, weight)),
        ("to the input", lambda: gradient @ weight),
        ("to the weight", lambda: gradient.t() @ given),
    ]


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    torch.set_num_threads(threads)
    print("PyTorch %s, threads: %d" % (torch.__version__, threads))
    for shape in SHAPES:
        operations = 2 * shape[0] * shape[1] * shape[2]
        full = {name: rate(call, operations) for name, call in layouts(*shape, torch.float32)}
        for dtype in (torch.bfloat16, torch.float16):
            for name, call in layouts(*shape, dtype):
                try:
                    half = rate(call, operations)
                except RuntimeError as reason:  # of versions that have no code for it
                    print("%-18s %-14s %-15s %s" % (shape, name, dtype, str(reason).split("\n")[0]))
                    continue
                saved = 100 * (1 - half / full[name])
                row = (shape, name, dtype, full[name] / threads, half / threads, saved)
                print("%-18s %-14s %-15s float32 %5.1f, half %5.2f, saves %3.0f %%" % row)


if __name__ == "__main__":
    main()
