"""A torch whose profiler refuses to start or to stop, as a broken or busy Kineto does; its argument says which."""

import sys

import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def steps(count):
    for _ in range(count):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()


steps(1)
how = sys.argv[1]
originals = torch.autograd._prepare_profiler, torch.autograd._enable_profiler, torch.autograd._disable_profiler


def refuse(*_):
    if how == "stop":
        originals[2]()
    raise RuntimeError("Kineto is busy")


if how == "prepare":
    torch.autograd._prepare_profiler = refuse
elif how == "start":
    torch.autograd._enable_profiler = refuse
elif how == "stop":
    torch.autograd._disable_profiler = refuse
steps(40)
print("end")
