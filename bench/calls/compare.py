"""What counting calls costs: a program of Python and C calls plain, under cProfile and under --calls, in CPU time of the calling thread.

Usage: compare.py [SECONDS]. The three alternate; medians of nanoseconds per call. The agent is loaded from this checkout. The last
line is --calls after a second thread was started, from when on each call looks up its thread's counts.
"""

import cProfile
import os
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "internal", "agent", "py"))
from _bneck_agent import calls, core  # noqa: E402

CALLS = 0


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def program():
    fib(17)
    items = []
    for i in range(5000):
        items.append(len(items) + i)


def measure():
    before = time.thread_time()
    program()
    return (time.thread_time() - before) / CALLS * 1e9


def under_cprofile():
    profile = cProfile.Profile()
    profile.enable()
    took = measure()
    profile.disable()
    return took


def under_calls(of_threads=False):
    calls.count()
    if of_threads:
        calls.thread_wanted(program)  # as before a second thread starts
    took = measure()
    if calls.tool is not None:
        calls.stop()
        calls.spread = False
    else:
        calls.profiler_here().disable()
    return took


def main():
    global CALLS
    profile = cProfile.Profile()
    profile.runcall(program)
    CALLS = sum(entry.callcount for entry in profile.getstats())
    core.config = {"session": tempfile.gettempdir()}
    ways = {"plain": measure, "cProfile": under_cprofile, "--calls": under_calls, "--calls, several threads": lambda: under_calls(True)}
    times = {name: [] for name in ways}
    end = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 3)
    while time.monotonic() < end:
        for name, way in ways.items():
            times[name].append(way())
    print("Python %s, %d calls, %d runs, ns of CPU per call" % (sys.version.split()[0], CALLS, len(times["plain"])))
    for name, values in times.items():
        print("%-26s %6.0f" % (name, statistics.median(values)))
    assert threading.active_count() == 1


main()
