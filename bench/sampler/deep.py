"""One thread of pure Python, stacks of 23 frames; says how long its fixed work took."""
import sys
import time


def work(n):
    t = 0
    for i in range(n):
        t += step(i)
    return t


def step(i):
    return i * i % 7


def down(depth, n):
    return down(depth - 1, n) if depth else work(n)


def calibrate(seconds):
    n = 200_000
    t = time.perf_counter()
    down(19, n)
    return max(1, round(seconds * n / (time.perf_counter() - t)))


if __name__ == "__main__":
    loops = int(sys.argv[1]) if len(sys.argv) > 1 else calibrate(3.0)
    print("ready", loops, flush=True)
    t = time.perf_counter()
    down(19, loops)
    print(f"wall {time.perf_counter() - t:.4f}", flush=True)
