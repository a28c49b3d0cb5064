"""What counting lines costs: three loops plain, under line_profiler (both of its ways) and under --lines, in nanoseconds per round.

Usage: compare.py [PYTHON], whose environment has line_profiler. The four alternate, each in a process of its own; the shortest of all
counts. The agent is loaded from this checkout.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 50_000
TURNS = 3


def loop(n):
    total = 0
    for i in range(n):
        total += i
        total ^= 3
        x = total & 7
        total -= x
    return total


def calls(n):
    total = 0
    for i in range(n):
        total += leaf(i)
    return total


def leaf(i):
    a = i + 1
    b = a * 2
    return b


def comprehensions(n):
    for i in range(n // 10):
        items = [j * i for j in range(10)]
        table = {j: i + j for j in range(5)}
    return len(items) + len(table)


def measure(kind, name):
    functions = [loop, calls, leaf, comprehensions]
    if kind in ("ctrace", "sysmon"):
        import line_profiler

        profile = line_profiler.LineProfiler()
        for function in functions:
            globals()[function.__name__] = profile(function)
    best = float("inf")
    for _ in range(7):
        t0 = time.perf_counter()
        globals()[name](ROUNDS)
        best = min(best, time.perf_counter() - t0)
    print(best / ROUNDS * 1e9)


def one(python, kind, name):
    environment = dict(os.environ, LINE_PROFILER_CORE=kind if kind in ("ctrace", "sysmon") else "")
    if not environment["LINE_PROFILER_CORE"]:
        del environment["LINE_PROFILER_CORE"]
    with tempfile.TemporaryDirectory() as session:
        if kind == "--lines":
            environment["PYTHONPATH"] = os.path.join(HERE, "..", "..", "internal", "agent", "py")
            environment["BNECK_AGENT_CONFIG"] = json.dumps({"session": session, "lines": ["loop", "calls", "leaf", "comprehensions"]})
        command = [python, os.path.join(HERE, "compare.py"), kind, name]
        return float(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)


def main(python):
    kinds = ["plain", "ctrace", "sysmon", "--lines"]
    for name in ("loop", "calls", "comprehensions"):
        best = dict.fromkeys(kinds, float("inf"))
        for _ in range(TURNS):
            for kind in kinds:
                best[kind] = min(best[kind], one(python, kind, name))
        slower = {kind: best[kind] / best["plain"] for kind in kinds}
        print("%-14s plain %5.1f ns" % (name, best["plain"]), *("%s %.1f x" % (kind, slower[kind]) for kind in kinds[1:]), end="  ")
        print(
            "of line_profiler's: %.2f, with sys.monitoring %.2f" % tuple(slower["--lines"] / slower[kind] for kind in kinds[1:3])
        )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(*sys.argv[1:])
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
