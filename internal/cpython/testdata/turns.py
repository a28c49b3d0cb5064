"""Two functions that sleep in turns; their frames may lie at the same place."""

import time


def first():
    time.sleep(0.3)


def second():
    time.sleep(0.3)


print("ready", flush=True)
while True:
    first()
    second()
