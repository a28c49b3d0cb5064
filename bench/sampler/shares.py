"""Programs that know where their own time went: shares.py NAME SECONDS.

Each has lanes (threads) of cells (functions) that are called in random order and timed one by one with the same clock
that samples carry. "ready LANES" is said at the start. After the work each line "FROM TO" (Unix ns) on standard input
is answered with JSON: the cells' shares of that time, by lane.
"""
import asyncio
import hashlib
import json
import random
import sys
import threading
import time
import zlib

now = time.time_ns
END = 0
LOG = {}


def lane(name, cells, weights):
    """Calls cells until the end; each takes the seconds that it should work for, roughly."""
    rng = random.Random(name)
    log = LOG[name] = []
    while now() < END:
        cell = rng.choices(cells, weights)[0]
        begin = now()
        cell(rng.uniform(0.002, 0.006))
        log.append((begin, now(), cell.__name__))


def until(seconds):
    return time.perf_counter() + seconds


# loops


def loop_plain(seconds):
    end, t = until(seconds), 0
    while time.perf_counter() < end:
        for i in range(200):
            t += i * i
    return t


def loop_text(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        parts = []
        for i in range(100):
            parts.append(str(i))
        "".join(parts)


def loop_nested(seconds):
    end, t = until(seconds), 0
    while time.perf_counter() < end:
        for i in range(10):
            for k in range(20):
                t ^= i * k
    return t


# recursion


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def deep(n):
    return deep(n - 1) + 1 if n else 0


def recurse_wide(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        fib(9)


def recurse_deep(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        deep(150)


def recurse_both(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        deep(40)
        fib(7)


# cells of microseconds: one in which frames change all the time, entered from C, and two that stand still in C


class Layer:
    """Calls another one by C, as modules of PyTorch call each other."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, n):
        return self.forward(n)

    def forward(self, n):
        return self.inner(n) if self.inner else n


def quick_calls(_):
    for n in range(10):
        LAYERS(n)


def quick_hash(_):
    hashlib.sha256(QUICK).digest()


def quick_sum(_):
    sum(QUICK[:2000])


QUICK = bytes(6000)
LAYERS = Layer(Layer(Layer(Layer(Layer(None)))))


# generators: what they do between two values takes nearly all of the time


def make_squares(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        yield sum(i * i for i in range(400))


def make_nested(seconds):
    yield from make_inner(seconds)


def make_inner(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        t = 0
        for i in range(800):
            t += i
        yield t


def take_squares(seconds):
    for _ in make_squares(seconds):
        pass


def take_nested(seconds):
    for _ in make_nested(seconds):
        pass


# asyncio


async def crunch_short(seconds):
    loop_plain(seconds / 2)


async def crunch_long(seconds):
    await crunch_inner(seconds)


async def crunch_inner(seconds):
    loop_text(seconds)


async def timed(cell, rng, log):
    while now() < END:
        begin = now()
        await cell(rng.uniform(0.002, 0.006))
        log.append((begin, now(), cell.__name__))
        await asyncio.sleep(0)


def lane_async():
    rng, log = random.Random(1), LOG.setdefault("lane_async", [])

    async def both():
        await asyncio.gather(timed(crunch_short, rng, log), timed(crunch_long, rng, log))

    asyncio.run(both())


# C calls

DATA = bytes(range(256)) * 64
NUMBERS = [random.Random(3).random() for _ in range(3000)]


def call_hash(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        hashlib.sha256(DATA).digest()


def call_zlib(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        zlib.compress(DATA, 6)


def call_sort(seconds):
    end = until(seconds)
    while time.perf_counter() < end:
        sorted(NUMBERS)


# sleeping


def sleep_short(seconds):
    time.sleep(seconds / 2)


def sleep_long(seconds):
    time.sleep(2 * seconds)


def sleep_never(seconds):
    loop_plain(seconds)


# many small functions

SMALL = []
for _n in range(24):
    exec(
        f"def leaf_{_n}(x):\n    return x * {_n} + 1\n"
        f"def small_{_n}(seconds):\n    end = until(seconds / 2)\n    while time.perf_counter() < end:\n"
        f"        for i in range(30):\n            leaf_{_n}(i)\nSMALL.append(small_{_n})\n"
    )


def numpy_cells():
    import numpy as np

    rng = np.random.default_rng(0)
    matrix, row = rng.random((160, 160)), rng.random(60_000)

    def array_matmul(seconds):
        end = until(seconds)
        while time.perf_counter() < end:
            matrix @ matrix

    def array_sort(seconds):
        end = until(seconds)
        while time.perf_counter() < end:
            np.sort(row[:8000])

    def array_elements(seconds):
        end = until(seconds)
        while time.perf_counter() < end:
            np.sqrt(row * row + 1.0).sum()

    return [array_matmul, array_sort, array_elements]


def torch_cells():
    import torch

    torch.manual_seed(0)
    x, w = torch.randn(64, 128), torch.randn(128, 128, requires_grad=True)

    def tensor_matmul(seconds):
        end = until(seconds)
        with torch.no_grad():
            while time.perf_counter() < end:
                x @ w

    def tensor_backward(seconds):
        end = until(seconds)
        while time.perf_counter() < end:
            w.grad = None
            (x @ w).relu().sum().backward()

    def tensor_small(seconds):
        end, a = until(seconds), torch.zeros(8)
        while time.perf_counter() < end:
            a.add(1).mul(2).sum().item()

    return [tensor_matmul, tensor_backward, tensor_small]


# Lanes: the function that a lane's samples are known by, its cells and how often each is called.


def lane_main(cells=None, weights=None):
    lane("lane_main", cells, weights)


def lane_second():
    lane("lane_second", [loop_plain, sleep_long], [3, 1])


def lane_third():
    lane("lane_third", [call_hash, sleep_short, loop_text], [2, 2, 1])


def threads():
    started = [threading.Thread(target=f) for f in (lane_second, lane_third)]
    for t in started:
        t.start()
    lane_main([loop_nested, call_zlib, sleep_short], [1, 1, 1])
    for t in started:
        t.join()


PROGRAMS = {
    "loops": lambda: lane_main([loop_plain, loop_text, loop_nested], [5, 2, 1]),
    "recursion": lambda: lane_main([recurse_wide, recurse_deep, recurse_both], [1, 3, 2]),
    "generators": lambda: lane_main([take_squares, take_nested], [2, 1]),
    "async": lane_async,
    "threads": threads,
    "quick": lambda: lane_main([quick_calls, quick_hash, quick_sum], [2, 1, 1]),
    "calls": lambda: lane_main([call_hash, call_zlib, call_sort], [1, 2, 4]),
    "sleeping": lambda: lane_main([sleep_short, sleep_long, sleep_never], [4, 1, 2]),
    "small": lambda: lane_main(SMALL, [1 + n % 6 for n in range(len(SMALL))]),
    "numpy": lambda cells=None: lane_main(cells, [3, 2, 1]),
    "torch": lambda cells=None: lane_main(cells, [1, 3, 2]),
}


def shares(begin, end):
    out = {}
    for name, log in LOG.items():
        cells = out.setdefault(name, {})
        for a, b, cell in log:
            if b > begin and a < end:
                cells[cell] = cells.get(cell, 0) + (min(b, end) - max(a, begin)) / (end - begin)
    return out


def main():
    global END
    name, seconds = sys.argv[1], float(sys.argv[2])
    extra = {"numpy": numpy_cells, "torch": torch_cells}.get(name)
    args = [extra()] if extra else []
    END = now() + int(seconds * 1e9)
    print("ready", flush=True)
    PROGRAMS[name](*args)
    print("done", flush=True)
    for line in sys.stdin:
        begin, end = map(int, line.split())
        print("shares", json.dumps(shares(begin, end)), flush=True)


if __name__ == "__main__":
    main()
