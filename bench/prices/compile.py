"""What torch.compile saves of steps of small operators, and what it costs at the start, on one thread.

Each model is compiled in a process of its own, once with an empty cache and once with what the first left there. Prints the operators of a
step, its eager and its compiled time, the share that compiling saves, and the seconds until the first compiled steps have run: the prices
launch/spread and launch/compiling are read off it.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from models import CASES


def steps(model, x, learns, n):
    """The CPU seconds of n steps, and the operators that a step calls from Python or the backward pass."""
    times = []
    for _ in range(n):
        start = time.thread_time()
        if learns:
            model.zero_grad()
            model(x).square().mean().backward()
        else:
            with torch.no_grad():
                model(x)
        times.append(time.thread_time() - start)
    return times


def one(name):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    build, shape, learns = CASES[name]
    model, x = build(), torch.randn(shape)
    eager = statistics.median(steps(model, x, learns, 300)[20:])
    with torch.autograd.profiler.profile() as profile:
        steps(model, x, learns, 1)
    called = [e for e in profile.function_events if e.name.startswith("aten::")]
    operators = sum(e.cpu_parent is None or not e.cpu_parent.name.startswith("aten::") for e in called)
    start = time.perf_counter()
    compiled = torch.compile(model)
    steps(compiled, x, learns, 2)
    cost = time.perf_counter() - start
    after = statistics.median(steps(compiled, x, learns, 300)[20:])
    print(json.dumps({"operators": operators, "eager": eager, "compiled": after, "cost": cost}))


def main():
    for name in CASES:
        with tempfile.TemporaryDirectory() as cache:
            rows = []
            for _ in range(2):
                environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache, "CUDA_VISIBLE_DEVICES": ""}
                done = subprocess.run([sys.executable, __file__, name], env=environment, stdout=subprocess.PIPE, check=True)
                rows.append(json.loads(done.stdout))
            row, again = rows
            print(
                f"{name:18} {row['operators']:4} operators, {row['eager'] * 1e3:6.2f} ms, compiled {row['compiled'] * 1e3:6.2f} ms: "
                f"saves {1 - row['compiled'] / row['eager']:5.2f}; compiling {row['cost']:5.1f} s, from its cache {again['cost']:5.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    one(sys.argv[1]) if len(sys.argv) > 1 else main()
