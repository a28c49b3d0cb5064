"""Spends its time in known ways, and counts it itself: prints {function: [seconds, CPU seconds]} as JSON."""
import gc
import json
import threading
import time

try:
    from zlib import compress
except ImportError:  # an interpreter that was built without it: something else that works without the GIL
    from hashlib import sha256 as compress

PHASE = 0.5
held = threading.Lock()
spent = {}


def account(name, wall, cpu):
    old = spent.get(name, [0.0, 0.0])
    spent[name] = [old[0] + wall, old[1] + cpu]


def measured(function):
    wall, cpu = time.perf_counter(), time.thread_time()
    function()
    account(function.__name__, time.perf_counter() - wall, time.thread_time() - cpu)


def heavy():
    t = 0
    for i in range(30000):
        t += i


def light():
    t = 0
    for i in range(10000):
        t += i


def sleeping():
    time.sleep(PHASE)


def locked():
    held.acquire()


def compressing():
    data = bytes(range(256)) * 4096
    end = time.perf_counter() + PHASE
    while time.perf_counter() < end:
        compress(data)


def collecting():
    nodes = [[] for _ in range(200000)]
    for n in nodes:
        n.append(n)
    end = time.perf_counter() + PHASE
    while time.perf_counter() < end:
        gc.collect()


def contending():
    end = time.perf_counter() + PHASE
    while time.perf_counter() < end:
        pass


def main():
    end = time.perf_counter() + 3 * PHASE
    while time.perf_counter() < end:
        measured(heavy)
        measured(light)
    measured(sleeping)
    held.acquire()
    threading.Timer(PHASE, held.release).start()
    measured(locked)
    measured(compressing)
    measured(collecting)
    threads = [threading.Thread(target=contending) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


print("ready", flush=True)
main()
print(json.dumps(spent), flush=True)
