"""Repeat recorded operators: first as they were, then under each fix that applies. Reads a request, one line, from standard
input and writes JSON lines to standard output: one when PyTorch is there, from which the budget counts, and what is known of an
operator whenever more is known of it. What the request says of operators comes from a file that anybody may have written."""

import sys

sys.path[:] = [entry for entry in sys.path if entry]  # the working directory is the user's: no file there stands in for a module

import json  # noqa: E402
import os  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402

REQUEST = json.loads(sys.stdin.buffer.readline())
if REQUEST.get("all_cores"):  # before OpenMP is loaded, which counts its cores once
    os.sched_setaffinity(0, range(os.cpu_count()))

import torch  # noqa: E402
from inputs import DTYPES, Skip, arguments, callable_of, demand, is_shape, limit  # noqa: E402

MATRIX = ("mm", "bmm", "linear", "conv", "matmul", "addmv", "attention")
ROUNDS = 3  # in which an operator is repeated as it was and under each fix, so that what else the machine does meets all of them
SECONDS_PER_VALUE = 1e-8  # to draw a random number
COPIES = 4  # of an operator's inputs that are in memory at once: they themselves, those of fixes, and about as much that it gives


class Times:
    """An operator's times in seconds, by the clock on the wall and on a CPU."""

    def __init__(self, call, values, threads):
        self.call, self.values, self.threads = call, values, threads
        self.wall, self.cpu = [], []

    def sample(self, seconds):
        """Calls the operator for so long, at least once to warm up and once more. Skips what would take longer than the budget."""
        torch.set_num_threads(self.threads)
        start = time.perf_counter()
        self.call(self.values)
        once = time.perf_counter() - start
        if once > until() - time.perf_counter():
            raise Skip("it would take longer than the budget")
        end, most = time.perf_counter() + seconds, len(self.wall) + 1000
        while True:
            wall, cpu = time.perf_counter(), time.thread_time()
            self.call(self.values)
            self.cpu.append(time.thread_time() - cpu)
            self.wall.append(time.perf_counter() - wall)
            if time.perf_counter() >= end or len(self.wall) >= most:
                return

    def of(self, clock):
        """Median and mean in microseconds."""
        times = getattr(self, clock)
        return 1e6 * sorted(times)[len(times) // 2], 1e6 * sum(times) / len(times)


def lower(value):
    if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
        return value.to(torch.bfloat16)
    return value


def last(value):
    if isinstance(value, torch.Tensor) and value.dim() == 4:
        return value.contiguous(memory_format=torch.channels_last)
    return value


def same(value):
    return value


def fixes(op):
    """Fixes that may apply: their names, what they make of each input, and their number of threads."""
    threads, tensors = REQUEST["threads"], [name for name in op["types"] if name in DTYPES]
    if REQUEST.get("all_cores"):
        cores = min(len(os.sched_getaffinity(0)), REQUEST["all_cores"])
        return [("cores=%d" % cores, same, cores)]
    out = [("threads=%d" % n, same, n) for n in sorted({1, REQUEST["cores"]} - {threads}) if n > 0]
    if any(word in op["name"] for word in MATRIX) and "float" in tensors:
        out.append(("bf16", lower, threads))
    if "conv" in op["name"] and any(is_shape(shape) and len(shape) == 4 for shape in op["shapes"]):
        out.append(("channels-last", last, threads))
    return out


def needed(op):
    """The least time in seconds that repeating an operator takes, as long as it was recorded: to make its inputs, to find its overload,
    and then in each round once to warm up and once more, as it was and under each fix."""
    count, size = demand(op)
    spare = REQUEST["memory_bytes"]
    if spare > 0 and COPIES * size > spare:
        raise Skip("its inputs take %.3g MB, too much for the %.3g MB of memory that are free" % (size / 1e6, spare / 1e6))
    calls = 1 + 2 * ROUNDS * (1 + len(fixes(op)))
    return 1e-6 * op["recorded_us"] * calls + SECONDS_PER_VALUE * count


def variant(name, change, threads, base):
    """An operator under a fix, None where the fix does not change it, or cannot."""
    try:
        changed = [change(value) for value in base.values]
    except RuntimeError:
        return None
    tensors = [(one, other) for one, other in zip(base.values, changed) if isinstance(one, torch.Tensor)]
    if change is last and all(one.stride() == other.stride() for one, other in tensors):
        return None
    return name, Times(base.call, changed, threads)


def repeat(op, seconds, known):
    threads = REQUEST["threads"]
    torch.set_num_threads(threads)
    values, wanted = arguments(op), fixes(op)
    base = Times(callable_of(op, values), values, threads)
    share = seconds / ((1 + len(wanted)) * ROUNDS)
    clock = "cpu" if threads == 1 else "wall"  # with one thread it is time on a CPU, so that other programs do not lengthen it
    base.sample(share)
    known(row(base, clock, []))
    if not REQUEST["low"] * op["recorded_us"] <= base.of(clock)[0] <= REQUEST["high"] * op["recorded_us"]:
        return
    under = [one for one in (variant(name, change, n, base) for name, change, n in wanted) if one]
    for turn in range(ROUNDS):
        if turn > 0:
            try:
                base.sample(share)
            except Skip:
                return  # what is known so far stands
        for one in list(under):
            try:
                one[1].sample(share)
            except Exception:  # the operator does not exist in this form, or is slow in it
                if not one[1].wall:
                    under.remove(one)
        known(row(base, clock, under))


def row(base, clock, under):
    """What is known of an operator: its time, and under each fix the same, longer or shorter as it was by one clock. Other programs
    lengthen only what the wall shows, which is taken for both where one of them has several threads."""
    us, mean = base.of(clock)
    found = []
    for name, times in under:
        shared = clock if times.threads == 1 else "wall"
        (before, before_mean), (after, after_mean) = base.of(shared), times.of(shared)
        found.append({"fix": name, "us": us * after / before, "mean_us": mean * after_mean / before_mean})
    return {"base_us": us, "base_mean_us": mean, "fixes": found}


def tell(**row):
    print(json.dumps(row), flush=True)


def end_with_parent():
    """Ends this process when the one that asks is gone, which holds the other end of standard input."""
    while os.read(0, 1024):
        pass
    os._exit(1)


def until():
    return STARTED + REQUEST["budget_s"]


def main():
    ops = REQUEST["ops"]
    torch.set_flush_denormal(True)  # what changes its input in place may let it decay to nothing
    if REQUEST["memory_bytes"] > 0:
        limit(REQUEST["memory_bytes"], REQUEST["threads"])
    with torch.no_grad():
        for index, op in enumerate(ops):
            left = until() - time.perf_counter()
            try:
                least = needed(op)
                if least > left:
                    raise Skip("repeating it takes %.2g s, and %.2g s of the budget are left" % (least, max(left, 0)))
                tell(index=index, error="it did not end within the budget", under_way=True)
                repeat(op, max(least, left / (len(ops) - index)), lambda row, index=index: tell(index=index, **row))
            except Skip as reason:
                tell(index=index, error=str(reason))
            except Exception as error:
                tell(index=index, error=(str(error) or type(error).__name__).split("\n")[0][:200])


threading.Thread(target=end_with_parent, daemon=True).start()
STARTED = time.perf_counter()
tell(ready=True, torch=str(torch.__version__))
main()
