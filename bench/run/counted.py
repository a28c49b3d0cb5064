"""Runs a program as python would and writes down the time of each of its steps: counted.py MARKS KIND PROGRAM [ARGS...]

KIND says what a step is: "optimizer" (a step of any optimizer) or "queue" (something taken from a queue). MARKS becomes a file of
little-endian 64-bit numbers: how many steps there were so far, then a ring of their times, CLOCK_MONOTONIC nanoseconds.
Of several ranks only the first counts.
"""

import mmap
import os
import queue
import runpy
import sys
import time

RING = 1 << 16


def open_marks(path):
    """The file as a view of 64-bit integers, all zero at first."""
    with open(path, "w+b") as file:
        file.truncate(8 * (1 + RING))
        return memoryview(mmap.mmap(file.fileno(), 0)).cast("q")


def counter(path):
    """A function that notes one step; it takes and ignores any arguments."""
    marks = open_marks(path)

    def step(*_):
        number = marks[0]
        marks[1 + number % RING] = time.monotonic_ns()
        marks[0] = number + 1

    return step


def count_optimizers(step):
    from torch.optim.optimizer import register_optimizer_step_post_hook

    register_optimizer_step_post_hook(step)


def count_queues(step):
    get = queue.Queue.get

    def counted(*arguments, **keywords):
        item = get(*arguments, **keywords)
        step()
        return item

    queue.Queue.get = counted


def main():
    marks, kind, program = sys.argv[1:4]
    sys.argv[:] = sys.argv[3:]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    if os.environ.get("RANK", "0") == "0":
        {"optimizer": count_optimizers, "queue": count_queues}[kind](counter(marks))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
