"""What penalties on a model's parameters take that are computed one parameter after another, and what their gradients in one call save.

Each training step takes turns, in CPU time: with the penalty in the loss, with its gradient added by one call for lists after the backward
pass, and without one, which is what weight_decay of a fused optimizer costs. Prints what the loop takes, what its nodes take in the
backward pass (the difference of the passes), and what share of both the two save: the price launch/penalty is read off it.
"""

import statistics
import time

import torch
from models import Block, mlp
from torch import nn

MODELS = {
    "perceptron of 64": (lambda: mlp(64, 64, 64, 64), 64),
    "perceptron of 256": (lambda: mlp(256, 256, 256, 256), 256),
    "6 blocks of 64": (lambda: nn.Sequential(*[Block(64) for _ in range(6)]), 64),
    "6 blocks of 256": (lambda: nn.Sequential(*[Block(256) for _ in range(6)]), 256),
}
FACTOR = 1e-4


def powers(model):
    total = 0.0
    for p in model.parameters():
        total = total + torch.sum(p**2)
    return FACTOR * total


def squares(model):
    return FACTOR * sum(p.pow(2.0).sum() for p in model.parameters())


def absolute(model):
    return FACTOR * sum(p.abs().sum() for p in model.parameters())


def norms(model):
    total = torch.tensor(0.0)
    for p in model.parameters():
        total += torch.norm(p)
    return FACTOR * total


def add_parameters(parameters):
    torch._foreach_add_([p.grad for p in parameters], parameters, alpha=2 * FACTOR)


def add_signs(parameters):
    torch._foreach_add_([p.grad for p in parameters], torch._foreach_sign(parameters), alpha=FACTOR)


def add_directions(parameters):
    inverse = [FACTOR / n for n in torch._foreach_norm(parameters)]
    torch._foreach_add_([p.grad for p in parameters], torch._foreach_mul(parameters, inverse))


FORMS = [(powers, add_parameters), (squares, add_parameters), (absolute, add_signs), (norms, add_directions)]


def step(model, x, penalty=None, after=None):
    """One pass forth and back: the seconds of the penalty, of the pass back, and of what is done after it."""
    for p in model.parameters():
        p.grad = None
    loss = model(x).square().mean()
    start = time.thread_time()
    if penalty is not None:
        loss = loss + penalty(model)
    computed = time.thread_time()
    loss.backward()
    back = time.thread_time()
    if after is not None:
        with torch.no_grad():
            after(list(model.parameters()))
    return computed - start, back - computed, time.thread_time() - back


def main():
    torch.set_num_threads(1)
    for name, (build, width) in MODELS.items():
        torch.manual_seed(0)
        model, x = build(), torch.randn(4, 8, width)
        for penalty, after in FORMS:
            taken, back, plain, added = [], [], [], []
            for turn in range(120):
                a, b, _ = step(model, x, penalty)
                _, c, _ = step(model, x)
                _, _, d = step(model, x, None, after)
                if turn >= 20:
                    taken.append(a), back.append(b), plain.append(c), added.append(d)
            loop = statistics.median(taken)
            nodes = statistics.median(back) - statistics.median(plain)
            print(
                f"{name:18} {len(list(model.parameters())):4} parameters, {penalty.__name__:8} {loop * 1e3:7.3f} ms, "
                f"{nodes * 1e3:7.3f} ms of the backward pass: one call saves {1 - statistics.median(added) / (loop + nodes):5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
