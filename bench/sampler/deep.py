"""Pure Python below 23 frames; says how long its fixed work took.

usage: deep.py LOOPS [--wait] [--native N] [--processes N]  |  deep.py --calibrate SECONDS

--wait: begins half a second after SIGUSR1, so that a sampler has attached. --native: so many threads of the C library
stand beside it. --processes: the work is done in so many processes at once.
"""
import argparse
import ctypes
import multiprocessing
import signal
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
    best = min(timed(n) for _ in range(3))
    return max(1, round(seconds * n / best))


def timed(n):
    t = time.perf_counter()
    down(17, n)
    return time.perf_counter() - t


def native_threads(count):
    libc = ctypes.CDLL(None)
    for _ in range(count):
        libc.pthread_create(ctypes.byref(ctypes.c_ulong()), None, ctypes.cast(libc.pause, ctypes.c_void_p), None)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("loops", nargs="?", type=int, default=0)
    p.add_argument("--calibrate", type=float)
    p.add_argument("--wait", action="store_true")
    p.add_argument("--native", type=int, default=0)
    p.add_argument("--processes", type=int, default=1)
    args = p.parse_args()
    if args.calibrate:
        print("ready", calibrate(args.calibrate), flush=True)
        return
    if args.wait:  # before there are other threads, which inherit it
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    native_threads(args.native)
    pool = multiprocessing.get_context("fork").Pool(args.processes) if args.processes > 1 else None
    print("ready", args.loops, flush=True)
    if args.wait:
        signal.sigwait([signal.SIGUSR1])
        time.sleep(0.6)
    if pool:
        seconds = max(pool.map(timed, [args.loops] * args.processes, chunksize=1))
        pool.close()
        pool.join()
    else:
        seconds = timed(args.loops)
    print(f"wall {seconds:.4f}", flush=True)


if __name__ == "__main__":
    main()
