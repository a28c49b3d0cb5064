"""What optimizers' steps take one parameter at a time, by lists (foreach) and fused, in turn, in CPU time of one thread.

Prints for each optimizer, number of parameters and their size what the two other forms save: the price launch/optimizer is read off it.
"""

import itertools
import statistics
import time

import torch

FORMS = {"single": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}
SHAPES = [(6, 64), (12, 4096), (60, 1000), (60, 16384), (12, 250_000)]


def optimizer(kind, count, size, form):
    parameters = [torch.nn.Parameter(torch.randn(size)) for _ in range(count)]
    for parameter in parameters:
        parameter.grad = torch.randn(size)
    more = {"momentum": 0.9} if kind is torch.optim.SGD else {}
    return kind(parameters, lr=1e-3, **more, **FORMS[form])


def main():
    torch.set_num_threads(1)
    for kind, (count, size) in itertools.product((torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD), SHAPES):
        forms = {form: optimizer(kind, count, size, form) for form in FORMS}
        times = {form: [] for form in FORMS}
        for turn in range(43 if count * size < 1_000_000 else 15):
            for form, built in forms.items():
                start = time.thread_time()
                built.step()
                if turn >= 3:
                    times[form].append(time.thread_time() - start)
        took = {form: statistics.median(t) for form, t in times.items()}
        saves = {form: f"{1 - took[form] / took['single']:.2f}" for form in ("foreach", "fused")}
        print(f"{kind.__name__:6} {count:3} of {size:7}: {took['single'] * 1e6:6.0f} µs, saves {saves}")


if __name__ == "__main__":
    main()
