"""Keeps a profiler of its own open from the beginning to the end, which its argument names."""

import sys

import torch
from torch.profiler import ProfilerActivity, profile

how = sys.argv[1]
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def steps(count):
    for _ in range(count):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()


def count(prof):
    return sum(row.count for row in prof.key_averages() if row.key == "aten::linear")


prof = profile(activities=[ProfilerActivity.CPU])
prof.start()
steps(60)
if how == "stopped":
    prof.stop()
    print("linear", count(prof), flush=True)
elif how == "exited":
    print("left open", flush=True)
elif how == "legacy":
    prof.stop()
    with torch.autograd.profiler.profile() as prof:
        steps(60)
    print("linear", count(prof), flush=True)
elif how == "itt":
    prof.stop()
    try:
        with torch.autograd.profiler.emit_itt():
            steps(30)
        print("itt", flush=True)
    except (AttributeError, AssertionError, RuntimeError) as error:
        print("itt", type(error).__name__, flush=True)
