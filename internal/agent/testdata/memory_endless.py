"""Takes steps until one of them is traced, then does for a second, from deep within functions, what its argument says: calls small
functions, or small operators; with a second argument on another thread than the main one. Prints its resident memory in KiB, now and at
its peak, as memory.py does."""

import sys
import threading
import time

import torch


def small(i):
    return i


def deep(n, work):
    if n:
        return deep(n - 1, work)
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        for i in range(100):
            work(i)


def work():
    model = torch.nn.Linear(16, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(13):
        model(torch.ones(4, 16)).sum().backward()
        optimizer.step()
    deep(60, small if sys.argv[1] == "functions" else torch.zeros(3).add_)


if sys.argv[2:]:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
else:
    work()
with open("/proc/self/status") as status:
    numbers = dict(line.split()[:2] for line in status if line.startswith(("VmRSS", "VmHWM")))
print(13, numbers["VmRSS:"], numbers["VmHWM:"], flush=True)
