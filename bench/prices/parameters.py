"""What calls for lists of tensors save of loops that go through a model's parameters, on one thread.

Forms of a loop and the call in its place take turns, in CPU time: with the lists made anew each time, and with lists that are kept.
Prints for each model and form what the loop takes and what the two save of it: the price launch/per-parameter is read off it.
"""

import copy
import statistics
import time

import torch
from models import Block, mlp
from torch import nn

MODELS = {
    "perceptron of 64": lambda: mlp(64, 64, 64, 64),
    "perceptron of 256": lambda: mlp(256, 256, 256, 256),
    "6 blocks of 64": lambda: nn.Sequential(*[Block(64) for _ in range(6)]),
    "6 blocks of 256": lambda: nn.Sequential(*[Block(256) for _ in range(6)]),
    "40 layers of 16": lambda: nn.Sequential(*[nn.Sequential(nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16)) for _ in range(40)]),
}


def in_place(averaged, model):
    for a, p in zip(averaged.parameters(), model.parameters()):
        a.mul_(0.99).add_(p, alpha=0.01)


def copies(averaged, model):
    for a, p in zip(averaged.parameters(), model.parameters()):
        a.data.copy_(0.01 * p.data + 0.99 * a.data)


def by_names(averaged, model):
    old, new = averaged.state_dict(), model.state_dict()
    for name in old:
        if old[name].dtype.is_floating_point:
            old[name].mul_(0.99).add_(new[name], alpha=0.01)


def norms(_, model):
    total = 0.0
    for p in model.parameters():
        total += p.grad.norm().item() ** 2
    return total**0.5


def descends(_, model):
    for p in model.parameters():
        p.data -= 1e-6 * p.grad


def lerp(averaged, model):
    torch._foreach_lerp_(averaged, model, 0.01)


def norm(_, model):
    torch.linalg.vector_norm(torch.stack(torch._foreach_norm([p.grad for p in model]))).item()


def add(_, model):
    torch._foreach_add_(model, [p.grad for p in model], alpha=-1e-6)


FORMS = [(in_place, lerp), (copies, lerp), (by_names, lerp), (norms, norm), (descends, add)]


def anew(call, averaged, model):
    call(list(averaged.parameters()), list(model.parameters()))


def took(function, *arguments):
    start = time.thread_time()
    function(*arguments)
    return time.thread_time() - start


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    for name, build in MODELS.items():
        torch.manual_seed(0)
        model = build()
        averaged = copy.deepcopy(model)
        for p in model.parameters():
            p.grad = torch.randn_like(p)
        kept = list(averaged.parameters()), list(model.parameters())
        for loop, call in FORMS:
            times = {"loop": [], "anew": [], "kept": []}
            for turn in range(120):
                each = {
                    "loop": took(loop, averaged, model),
                    "anew": took(anew, call, averaged, model),
                    "kept": took(call, *kept),
                }
                for form, t in each.items():
                    if turn >= 20:
                        times[form].append(t)
            of, made, lists = (statistics.median(times[form]) for form in ("loop", "anew", "kept"))
            print(
                f"{name:18} {len(kept[0]):4} parameters, {loop.__name__:9} {of * 1e3:7.3f} ms: "
                f"saves {1 - made / of:5.2f}, {1 - lists / of:5.2f} with lists that are kept",
                flush=True,
            )


if __name__ == "__main__":
    main()
