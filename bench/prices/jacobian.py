"""What a Jacobian saves that is computed forward, or for all rows at once, of one that is computed backward, or row by row.

Functions of few numbers with many results, by layers, by element-wise operators and by a recurrence, alone and for a batch by vmap, both
ways in turns. Prints for each what jacfwd saves of jacrev's time, and what it takes beyond the backward passes' time by the ratio of inputs
to outputs, in calls of the function; and what vectorize=True and jacfwd save of torch.autograd.functional.jacobian as it is. The prices
again/jacobian are read off it. The number of threads is an argument (2).
"""

import functools
import sys
import time

import torch
from torch.autograd.functional import jacobian
from torch.func import jacfwd, jacrev, vjp, vmap

SIZES = [(3, 12), (4, 64), (6, 600), (8, 2000), (16, 64), (32, 512), (64, 128)]
BATCHES = [0, 32]
ROUNDS = 4


def layers(inputs, outputs):
    first, second, last = torch.randn(inputs, 128), torch.randn(128, 128) / 11, torch.randn(128, outputs) / 11
    return lambda x: torch.tanh(torch.tanh(x @ first) @ second) @ last


def elements(inputs, outputs):
    grid, width = torch.linspace(-1, 1, outputs), torch.rand(inputs, 1) + 0.1
    return lambda x: torch.exp(-(((grid - x[:, None]) / width) ** 2)).sum(0)


def recurrence(inputs, outputs):
    step, out = torch.randn(inputs, inputs) / inputs**0.5, torch.randn(inputs, outputs)

    def run(x):
        for _ in range(20):
            x = x + 0.05 * torch.sin(x @ step)
        return x @ out

    return run


def called(function, x):
    return vjp(function, x)[0]


def took(function, x):
    start = time.perf_counter()
    function(x)
    return time.perf_counter() - start


def shortest(functions, x):
    times = [[] for _ in functions]
    for _ in range(ROUNDS):
        for side, function in enumerate(functions):
            times[side].append(took(function, x))
    return [min(t[1:]) for t in times]


def quantiles(values):
    values = sorted(values)
    return ", ".join("%.2f" % values[int(q * (len(values) - 1))] for q in (0, 0.1, 0.5, 0.9, 1))


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
    torch.manual_seed(1)
    calls, passes, ahead = [], [], []
    for inputs, outputs in SIZES:
        for kind in (layers, elements, recurrence):
            f = kind(inputs, outputs)
            for batch in BATCHES:
                x = torch.randn(batch, inputs) if batch else torch.randn(inputs)
                sides = [jacrev(f), jacfwd(f), functools.partial(called, f)]
                backward, forward, call = shortest([vmap(side) for side in sides] if batch else sides, x)
                calls.append((forward - (backward - call) * inputs / outputs) / call)
                said = "%2d to %4d %-10s batch %2d  jacfwd saves %4.0f %%, and takes %4.1f calls" % (
                    inputs, outputs, kind.__name__, batch, 100 * (1 - forward / backward), calls[-1])
                if not batch and outputs <= 600:
                    each = functools.partial(jacobian, f)
                    rows, once, first = shortest([each, functools.partial(each, vectorize=True), jacfwd(f)], x)
                    passes.append(1 - once / rows)
                    ahead.append(1 - first / rows)
                    said += "; at once %3.0f %%, forward %3.0f %%" % (100 * passes[-1], 100 * ahead[-1])
                print(said)
    print("calls of the function: %s of %d" % (quantiles(calls), len(calls)))
    print("at once for row by row: %s of %d; forward: %s" % (quantiles(passes), len(passes), quantiles(ahead)))


if __name__ == "__main__":
    main()
