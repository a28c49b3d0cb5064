"""Takes steps until one of them is traced, then does for a second, from deep within functions, what its argument says: calls small
functions, or small operators; with "there" on another thread than the main one; with "steps" in each step, and none is traced to its end.
Prints its resident memory in KiB, now and at its peak, as memory.py does."""

import sys
import threading
import time

import torch


def small(i):
    return i


def deep(n, work, seconds=1.0):
    if n:
        return deep(n - 1, work, seconds)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for i in range(100):
            work(i)


def work():
    model = torch.nn.Linear(16, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.zeros(3)
    for _ in range(4 if sys.argv[2:] == ["steps"] else 13):
        if sys.argv[2:] == ["steps"]:
            deep(60, x.add_, 0.25)
        model(torch.ones(4, 16)).sum().backward()
        optimizer.step()
    deep(60, small if sys.argv[1] == "functions" else x.add_)


if sys.argv[2:] == ["there"]:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
else:
    work()
with open("/proc/self/status") as status:
    numbers = dict(line.split()[:2] for line in status if line.startswith(("VmRSS", "VmHWM")))
print(13, numbers["VmRSS:"], numbers["VmHWM:"], flush=True)
