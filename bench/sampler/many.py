"""Twenty processes with eight threads each, of which one runs: python many.py SECONDS."""
import multiprocessing
import sys
import threading
import time


def busy(end):
    t = 0
    while time.monotonic() < end:
        for i in range(2000):
            t += i
        time.sleep(0.01)
    return t


def one(end, up):
    for _ in range(7):
        threading.Thread(target=time.sleep, args=(max(end - time.monotonic(), 0),), daemon=True).start()
    up.release()
    busy(end)


if __name__ == "__main__":
    end = time.monotonic() + float(sys.argv[1])
    context = multiprocessing.get_context("fork")
    up = context.Semaphore(0)
    children = [context.Process(target=one, args=(end, up)) for _ in range(20)]
    for c in children:
        c.start()
    for _ in children:
        up.acquire()
    print("ready", flush=True)
    for c in children:
        c.join()
