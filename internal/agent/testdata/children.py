"""multiprocessing by every start method, pools and subprocesses."""

import multiprocessing
import subprocess
import sys

import torch


def work(number):
    w = torch.zeros(4, requires_grad=True)
    for _ in range(30):
        (w * 2).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
    return round(w.sum().item() + number, 3)


def run(number, queue):
    queue.put(work(number))


if __name__ == "__main__":
    print("here", work(0))
    for method in ("spawn", "forkserver", "fork"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        child = context.Process(target=run, args=(1, queue))
        child.start()
        print(method, queue.get(timeout=120), flush=True)
        child.join(60)
        print("exit code", child.exitcode, flush=True)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print("pool", pool.map(work, [1, 2]), flush=True)
    print("sub", subprocess.run([sys.executable, "-c", "print(1 + 1)"], stdout=subprocess.PIPE).stdout)
