"""What a loop that asks a model saves under torch.no_grad, beside what the kernel takes to give the memory that autograd's graph holds.

Each loop runs in processes of its own, with a graph and without one: what is asked is fed back (a sampler, a recurrence), kept (answers in
a list), or dropped. Prints the seconds that each takes, those that the kernel has of the former (on the thread that runs it), and what is
saved by the latter: the price unused-gradients/after is read off it. The number of threads is an argument (2).
"""

import resource
import subprocess
import sys
import time

import torch
from torch import nn


def blocks(width, layers):
    def block():
        return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    return nn.Sequential(*(block() for _ in range(layers)))


def fed_back(rows, width, layers, turns):
    model = blocks(width, layers)

    def run():
        x = torch.randn(rows, width)
        for _ in range(turns):
            x = x - 0.01 * model(x)
        return x

    return run


def recurrence(rows, width, turns):
    cell = nn.LSTMCell(width, width)

    def run():
        state = torch.zeros(rows, width), torch.zeros(rows, width)
        for _ in range(turns):
            state = cell(torch.randn(rows, width), state)
        return state

    return run


def convolutions():
    layers = [nn.Conv2d(3, 32, 3, padding=1)]
    for _ in range(4):
        layers += [nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1)]
    return nn.Sequential(*layers)


def kept(turns):
    model = convolutions()

    def run():
        return [model(torch.randn(8, 3, 32, 32)).mean((2, 3)) for _ in range(turns)]

    return run


def dropped(turns):
    model = convolutions()

    def run():
        for _ in range(turns):
            model(torch.randn(8, 3, 32, 32)).mean()

    return run


LOOPS = {
    "sampler, 512 x 128, 6 blocks": lambda: fed_back(512, 128, 6, 150),
    "sampler, 64 x 256, 4 blocks": lambda: fed_back(64, 256, 4, 400),
    "sampler, 16 x 64, 4 blocks": lambda: fed_back(16, 64, 4, 2000),
    "recurrence, 256 x 512": lambda: recurrence(256, 512, 200),
    "recurrence, 16 x 128": lambda: recurrence(16, 128, 4000),
    "convolutions, answers kept": lambda: kept(200),
    "convolutions, answers dropped": lambda: dropped(300),
}
TIMES = 3


def one(name, graph):
    run = LOOPS[name]()
    with torch.set_grad_enabled(graph):
        began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_THREAD)
        for _ in range(TIMES):
            run()
        took, then = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_THREAD)
    print(took, then.ru_stime - used.ru_stime)


def main():
    threads = sys.argv[1] if len(sys.argv) > 1 else "2"
    if len(sys.argv) > 2:
        torch.set_num_threads(int(threads))
        return one(sys.argv[2], sys.argv[3] == "graph")
    for name in LOOPS:
        got = []
        for way in ("graph", "none"):
            out = subprocess.run([sys.executable, __file__, threads, name, way], check=True, capture_output=True, text=True).stdout
            got.append([float(n) for n in out.split()])
        (took, system), (less, _) = got
        by = f"{(took - less) / system:.2f} of it" if system > 0.05 * took else "little"
        print(f"{name}: {took:.2f} s with a graph, {less:.2f} without; {system:.2f} s of the kernel's: {by}; "
              f"{100 * (took - less - system) / max(took - system, 1e-9):.0f} % of the rest", flush=True)


if __name__ == "__main__":
    main()
