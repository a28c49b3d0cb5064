"""200 steps of 10 ms, each of which keeps 100 kB and a hundred objects."""

import time

import torch  # noqa: F401

kept = []


def work():
    time.sleep(0.01)
    kept.append((bytearray(100_000), [object() for _ in range(100)]))


for _ in range(200):
    work()
