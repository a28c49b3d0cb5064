"""What training steps save where activations are kept, and not computed again by torch.utils.checkpoint, on two threads.

Steps with and without it take turns, and what runs again is timed by checkpoint's own context for it. Prints for each model what a step
takes with it, what computing again takes of that, and what is saved for each second of it: the price again/activations is read off it.
"""

import contextlib
import statistics
import time

import torch
from models import Block
from torch import nn
from torch.utils.checkpoint import checkpoint


class Training:
    """Steps of layers one after the other, of which none keeps its activations, or each does."""

    def __init__(self, layers, x):
        self.layers, self.x = nn.ModuleList(layers), x
        self.optimizer = torch.optim.SGD(self.layers.parameters(), lr=1e-4)
        self.again = 0.0  # seconds in which layers were computed again

    @contextlib.contextmanager
    def timed(self):
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.again += time.perf_counter() - begun

    def contexts(self):
        return contextlib.nullcontext(), self.timed()

    def step(self, recompute):
        """Seconds of a step, and those of computing again in it."""
        self.again, begun = 0.0, time.perf_counter()
        y = self.x
        for layer in self.layers:
            y = checkpoint(layer, y, use_reentrant=False, context_fn=self.contexts) if recompute else layer(y)
        y.square().mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return time.perf_counter() - begun, self.again


class Pictures(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())

    def forward(self, x):
        return x + self.layers(x)


class Perceptron(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        return x + self.layers(x)


CASES = {
    "6 blocks of 64": (lambda: [Block(64) for _ in range(6)], (8, 64, 64)),
    "6 blocks of 256": (lambda: [Block(256) for _ in range(6)], (8, 128, 256)),
    "2 blocks of 512": (lambda: [Block(512) for _ in range(2)], (8, 256, 512)),
    "4 convolutions of 16": (lambda: [Pictures(16) for _ in range(4)], (8, 16, 32, 32)),
    "4 convolutions of 64": (lambda: [Pictures(64) for _ in range(4)], (16, 64, 56, 56)),
    "8 perceptrons of 128": (lambda: [Perceptron(128) for _ in range(8)], (64, 128)),
    "4 perceptrons of 1024": (lambda: [Perceptron(1024) for _ in range(4)], (256, 1024)),
}


def main():
    torch.set_num_threads(2)
    for name, (build, shape) in CASES.items():
        torch.manual_seed(0)
        training = Training(build(), torch.randn(shape))
        times, begun, turn = {True: [], False: []}, time.perf_counter(), 0
        while turn < 20 or turn < 400 and time.perf_counter() - begun < 12:
            for recompute in (True, False) if turn % 2 else (False, True):
                took = training.step(recompute)
                if turn >= 5:
                    times[recompute].append(took)
            turn += 1
        step, again = (statistics.median(column) for column in zip(*times[True]))
        plain, _ = (statistics.median(column) for column in zip(*times[False]))
        print(
            f"{name:22} {step * 1e3:8.2f} ms a step, {again / step:4.0%} computed again; "
            f"saves {(step - plain) / step:4.0%}, {(step - plain) / again:5.2f} of what that takes"
        )


if __name__ == "__main__":
    main()
