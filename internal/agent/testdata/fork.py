"""Forks after torch has worked; the children exit normally, which hangs after a session of Kineto."""

import os
import sys

import torch


def work(count):
    """Steps by hand, so that windows come and go."""
    w = torch.zeros(4, requires_grad=True)
    for _ in range(count):
        (w * 2).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
    return w.sum().item()


print("before %.3f" % work(30), flush=True)
for status in (0, 7):
    child = os.fork()
    if child == 0:
        print("child %.3f" % work(3))
        sys.exit(status)
    _, ended = os.waitpid(child, 0)
    print("status", os.WEXITSTATUS(ended), os.WIFSIGNALED(ended), flush=True)
print("after %.3f" % work(10))
