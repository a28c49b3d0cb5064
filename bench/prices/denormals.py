"""How much longer operators take on the CPU for denormal numbers, by the share of these among what they read.

Each operator takes turns with numbers of usual size and with numbers of which a drawn share is 1e-40. Prints how many times as long it
takes, and that less one by the share: the price precision/denormal and the limit DenormalNumbers are read off it. The number of threads is
an argument (2).
"""

import statistics
import sys
import time

import torch

SHARES = [0.001, 0.003, 0.01, 0.1, 0.5, 1.0]
ROUNDS = 9


def drawn(shape, share):
    numbers = torch.randn(shape)
    return torch.where(torch.rand(shape) < share, torch.full((), 1e-40), numbers)


def operators():
    """Of each operator: its name, the shape that it reads and the function."""
    conv, linear = torch.nn.Conv2d(8, 32, 3, padding=1), torch.nn.Linear(512, 512)
    down = torch.randn(16, 32, 64, 64)
    back = torch.ops.aten.convolution_backward
    return [
        ("convolution", (16, 8, 64, 64), conv),
        (
            "its weights' gradient",
            (16, 8, 64, 64),
            lambda x: back(down, x, conv.weight, [32], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [False, True, False]),
        ),
        ("linear", (512, 512), linear),
        ("mul", (4, 256, 1024), lambda x: x * 0.9),
        ("add", (4, 256, 1024), lambda x: x + 1.0),
        ("exp", (4, 256, 1024), torch.exp),
        ("relu", (4, 256, 1024), torch.relu),
    ]


def timed(function, x):
    begin = time.perf_counter()
    function(x)
    return time.perf_counter() - begin


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    torch.manual_seed(1)
    with torch.no_grad():
        for name, shape, function in operators():
            usual, row = drawn(shape, 0.0), []
            for share in SHARES:
                x, ratios = drawn(shape, share), []
                for _ in range(ROUNDS):
                    before = timed(function, usual)
                    ratios.append(timed(function, x) / before)
                times = statistics.median(ratios)
                row.append(f"{100 * share:g} %: {times:.2f} ({(times - 1) / share:.0f})")
            print(f"{name:22s}", "  ".join(row))


if __name__ == "__main__":
    main()
