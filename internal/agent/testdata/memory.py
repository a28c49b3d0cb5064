"""Prints its resident memory in KiB, now (free memory given back) and at its peak, after the steps that its arguments name; the first
argument is the number of layers, each of which makes some 45 profiler events a step."""

import ctypes
import gc
import sys

import torch

model = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(int(sys.argv[1]))])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
give_back = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)
done = 0
for until in map(int, sys.argv[2:]):
    for _ in range(done, until):
        model(torch.ones(4, 16)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    done = until
    gc.collect()
    give_back(0)
    with open("/proc/self/status") as status:
        numbers = dict(line.split()[:2] for line in status if line.startswith(("VmRSS", "VmHWM")))
    print(until, numbers["VmRSS:"], numbers["VmHWM:"], flush=True)
