"""A program with a forked child, a spawned one, and one that becomes another program."""
import multiprocessing
import os
import sys
import time

BUSY = 0.8


def spin():
    end = time.monotonic() + BUSY
    while time.monotonic() < end:
        pass


def in_fork():
    end = time.monotonic() + BUSY
    while time.monotonic() < end:
        pass


def in_spawn():
    end = time.monotonic() + BUSY
    while time.monotonic() < end:
        pass


def in_parent():
    end = time.monotonic() + BUSY
    while time.monotonic() < end:
        pass


EXEC = """
import time
def in_exec():
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        pass
in_exec()
"""

if __name__ == "__main__":
    children = [
        multiprocessing.get_context("fork").Process(target=in_fork),
        multiprocessing.get_context("spawn").Process(target=in_spawn),
    ]
    for c in children:
        c.start()
    pid = os.fork()
    if pid == 0:
        os.execv("/bin/sh", ["sh", "-c", "exec '%s' -c '%s'" % (sys.executable, EXEC)])
    in_parent()
    for c in children:
        c.join()
    os.waitpid(pid, 0)
    print("done", flush=True)
