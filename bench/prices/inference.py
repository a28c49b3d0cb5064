"""What forward passes save under torch.inference_mode, where autograd keeps no graph, on one thread.

Forward passes with a graph, under no_grad and under inference_mode take turns, in CPU time. Prints for each model the nodes of its graph,
what a pass takes with it, and what the two others save of that, also for each node: the price unused-gradients/graph is read off it.
"""

import statistics
import time

import torch
from models import CASES, Block, mlp
from torch import nn

MODES = {"graph": torch.enable_grad, "no_grad": torch.no_grad, "inference": torch.inference_mode}


def convolutions(width):
    layers = [nn.Conv2d(3, width, 3, padding=1)]
    for _ in range(4):
        layers += [nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)]
    return nn.Sequential(*layers).eval()


LARGER = {
    "wide perceptron": (lambda: mlp(512, 1024, 1024, 512), (64, 512), True),
    "4 blocks of 256": (lambda: nn.Sequential(*[Block(256) for _ in range(4)]), (8, 64, 256), True),
    "convolutions of 16": (lambda: convolutions(16), (4, 3, 32, 32), True),
    "convolutions of 64": (lambda: convolutions(64), (8, 3, 64, 64), True),
}


def nodes(output):
    """The number of a graph's nodes, without those that only hold parameters."""
    seen, left = set(), [output.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in seen and type(node).__name__ != "AccumulateGrad":
            seen.add(node)
            left += [after for after, _ in node.next_functions]
    return len(seen)


def main():
    torch.set_num_threads(1)
    for name, (build, shape, _) in {**CASES, **LARGER}.items():
        torch.manual_seed(0)
        model, x = build(), torch.randn(shape)
        count = nodes(model(x))
        times = {mode: [] for mode in MODES}
        for turn in range(120):
            for mode, context in MODES.items():
                start = time.thread_time()
                with context():
                    model(x)
                if turn >= 20:
                    times[mode].append(time.thread_time() - start)
        took = {mode: statistics.median(t) for mode, t in times.items()}
        saved = {mode: took["graph"] - t for mode, t in took.items() if mode != "graph"}
        print(
            f"{name:18} {count:4} nodes, {took['graph'] * 1e3:7.3f} ms: "
            + ", ".join(f"{mode} saves {s / took['graph']:5.2f}, {s / count * 1e6:5.2f} µs a node" for mode, s in saved.items()),
            flush=True,
        )


if __name__ == "__main__":
    main()
