"""Runs recorded operators alone, with inputs of the recorded shapes, strides, types and values, and says how long they take.

Written by `bottleneck isolate`; it needs PyTorch only. Inputs are random numbers. Change what you like and run it again:

    python THIS_FILE                        # times as a table
    python THIS_FILE --seconds 5 --threads 1
    python THIS_FILE --json                 # one line for each operator
"""

import argparse
import ctypes
import json
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(
        f"This needs PyTorch, which {sys.executable} does not have. Run it with your program's Python "
        "(bottleneck isolate --run: --python INTERPRETER)."
    )

# RECORDED
OPERATORS = []
RECORDED_TORCH = ""
RECORDED_THREADS = 0
TOLERANCE = 0.15
# END OF RECORDED

# How an operator is run: whether its results take memory that the system must give anew, page by page, as in a program whose allocator
# gives memory back in between; and whether its inputs are out of the processor's caches. A program is somewhere between the first and the
# last.
CONDITIONS = [("warm", False, False), ("cold", False, True), ("new memory", True, False), ("cold, new memory", True, True)]
CACHE = 64 << 20  # bytes that push other data out of the caches
OVERWRITING = ("copy_", "fill_", "zero_", "normal_", "uniform_", "random_")  # what they write to is new in most programs
MOST = 4 << 30  # bytes of inputs
SPARE = 0.8  # of the machine's free memory that operators may take, where it is known

# How inputs are made again.

from inputs import DTYPES, Skip, arguments, at, callable_of, demand, limit, written  # noqa: E402

# How they are timed.


def tensors(value):
    """All tensors in a value."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in tensors(part)]
    return []


def traffic(value):
    """Bytes of all tensors in a value, each element once."""
    return sum(one.numel() * one.element_size() for one in tensors(value))


def prepare(op):
    """What calls an operator, and its inputs."""
    try:
        if demand(op)[1] > MOST:
            raise Skip("its inputs take %.3g GB" % (demand(op)[1] / 1e9))
        if op["device"] and not torch.cuda.is_available():
            raise Skip("it was recorded on a GPU, and PyTorch sees none here")
        values = placed(arguments(op), op["device"])
        return callable_of(op, values), values
    except Exception as reason:  # whatever a record can be wrong in
        said = (str(reason) or type(reason).__name__).split("\n")[0][:200]
        raise Skip(said + lacking(op)) from None


def placed(value, device):
    """A value with its tensors on a device, as they lie in memory."""
    if not device:
        return value
    if isinstance(value, torch.Tensor):
        flat = value.as_strided((1 + sum((n - 1) * step for n, step in zip(value.shape, value.stride())) if value.numel() else 0,), (1,))
        return flat.to(device).as_strided(value.shape, value.stride())
    return [placed(one, device) for one in value] if isinstance(value, list) else value


def lacking(op):
    """Which arguments have no record, or one that is no plain value."""
    known = list(DTYPES) + ["TensorList"]
    missing = [str(i) for i, name in enumerate(op["types"]) if name not in known and written(at(op["concrete"], i)) is None]
    return "; no value was recorded of argument %s" % ", ".join(missing) if missing else ""


def free():
    """Bytes of memory that are free, 0 where that is not known."""
    try:
        with open("/proc/meminfo") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return 0


def allocator():
    """What gives free memory back to the system: of glibc; elsewhere it does nothing."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
        trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
        return lambda: trim(0)
    except (OSError, AttributeError, TypeError):
        return lambda: None


def sample(op, call, values, times, seconds, new, cold):
    """Adds the operator's times in seconds."""
    other, give_back = torch.zeros(CACHE // 4) if cold else None, allocator()
    renewed = new and op["name"].split("::")[-1] in OVERWRITING and isinstance(values[0], torch.Tensor)
    form = (values[0].shape, values[0].stride(), values[0].dtype) if renewed else None
    call(values)
    end = time.perf_counter() + seconds
    while True:
        if cold:
            other.add_(1)
        if renewed:
            values = [None] + values[1:]
        if new:
            give_back()
        if renewed:
            values[0] = torch.empty_strided(form[0], form[1], dtype=form[2])
        start = time.perf_counter()
        result = call(values)
        times.append(time.perf_counter() - start)
        del result
        if time.perf_counter() >= end:
            return


def sample_device(op, call, values, times, seconds, cold):
    """The same on a GPU, by its own clock: it is kept busy until the operator is queued, so that launching is not part of the time."""
    other = torch.zeros(CACHE, device=op["device"])
    end = time.perf_counter() + seconds
    while True:
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        other.add_(1)
        if not cold:
            call(values)
        start.record()
        result = call(values)
        stop.record()
        stop.synchronize()
        times.append(1e-3 * start.elapsed_time(stop))
        del result
        if time.perf_counter() >= end:
            return


def median(times):
    """The median in microseconds with its 95 % interval, which assumes nothing about how times are distributed."""
    ordered, n = sorted(times), len(times)
    away = int(0.98 * n**0.5) + 1
    return tuple(1e6 * ordered[i] for i in (n // 2, max(n // 2 - away, 0), min(n // 2 + away, n - 1)))


def measure(op, seconds):
    """What is known of an operator alone."""
    call, values = prepare(op)
    moved = traffic(values) + traffic(call(values))
    conditions = [one for one in CONDITIONS if not op["device"] or not one[1]]  # PyTorch keeps a GPU's memory
    times = {name: [] for name, _, _ in conditions}
    rounds = 5  # in turns, so that what else the machine does meets all conditions
    for _ in range(rounds):
        for name, new, cold in conditions:
            each = seconds / rounds / len(conditions)
            if op["device"]:
                sample_device(op, call, list(values), times[name], each, cold)
            else:
                sample(op, call, list(values), times[name], each, new, cold)
    found = {name: median(of) for name, of in times.items()}
    near = min(found, key=lambda name: abs(found[name][0] - op["recorded_us"]))
    us = found[near][0]
    row = {"name": op["name"], "shapes": op["shapes"], "recorded_us": op["recorded_us"], "condition": near, "us": us}
    row["low_us"], row["high_us"] = found[near][1:]
    row["repeats"] = len(times[near])
    row["conditions"] = {name: {"us": of[0], "low_us": of[1], "high_us": of[2]} for name, of in found.items()}
    row["bytes"], row["gbytes_per_s"] = moved, moved / us / 1e3
    row["reproduced"] = bool(op["recorded_us"]) and abs(us / op["recorded_us"] - 1) <= TOLERANCE
    row["between"] = found["warm"][0] <= op["recorded_us"] <= max(of[0] for of in found.values())
    if op["flops"]:
        row["flops"], row["gflops_per_s"] = op["flops"], op["flops"] / us / 1e3
    if op["flops"] and op["peak_flops"]:
        row["of_peak_flops"] = op["flops"] / us * 1e6 / op["peak_flops"]
    if op["peak_bytes"]:
        row["of_peak_bytes"] = moved / us * 1e6 / op["peak_bytes"]
    return row


def describe(op, row):
    """The same in words."""
    print("%s %s" % (row["name"], json.dumps(row["shapes"])))
    print(
        "  alone     %.1f us, 95 %% interval %.1f to %.1f us, %d repeats (%s)"
        % tuple(row[key] for key in ("us", "low_us", "high_us", "repeats", "condition"))
    )
    for name, of in row["conditions"].items():
        print("            %-16s %.1f us (%.1f to %.1f)" % (name, of["us"], of["low_us"], of["high_us"]))
    off = 100 * (row["us"] / (row["recorded_us"] or row["us"]) - 1)
    verdict = "reproduced" if row["reproduced"] else "NOT reproduced: look for what differs (load, threads, memory, versions)"
    if not row["reproduced"] and row["between"]:
        verdict = "NOT reproduced, but between warm and cold: the program's memory is in neither state"
    print("  recorded  %.1f us; alone it takes %+.0f %% (tolerance %.0f %%): %s" % (row["recorded_us"], off, 100 * TOLERANCE, verdict))
    rate = "  memory    %.3g GB/s at least (%.3g MB: each input and result once)" % (row["gbytes_per_s"], row["bytes"] / 1e6)
    print(rate + share(row, "of_peak_bytes", op))
    if "flops" in row:
        print("  computing %.3g GFLOP/s (%s)" % (row["gflops_per_s"], op["formula"]) + share(row, "of_peak_flops", op))
    if not op["peak_flops"]:
        print("  peak      not known of %s" % ("this GPU" if op["device"] else "this processor"))


def share(row, key, op):
    return ", %.0f %% of %s's peak" % (100 * row[key], op["peak_of"]) if key in row else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3, help="how long to repeat each operator")
    parser.add_argument("--threads", type=int, default=RECORDED_THREADS, help="threads of an operator (default: as recorded)")
    parser.add_argument("--json", action="store_true", help="write one line of JSON for each operator")
    options = parser.parse_args()
    if options.threads > 0:
        torch.set_num_threads(options.threads)
    if free() and not any(op["device"] for op in OPERATORS):
        limit(int(SPARE * free()), torch.get_num_threads())
    torch.set_flush_denormal(True)  # what changes its input in place may let it decay to nothing
    here = str(torch.__version__)
    if RECORDED_TORCH and here.split("+")[0] != RECORDED_TORCH.split("+")[0]:
        print("recorded with PyTorch %s, this is %s" % (RECORDED_TORCH, here), file=sys.stderr)
    failed = False
    with torch.no_grad():
        for op in OPERATORS:
            try:
                row = measure(op, options.seconds)
            except Exception as reason:  # the next operator has its turn
                failed = True
                row = {"name": op["name"], "shapes": op["shapes"], "error": ascii(str(reason))[1:-1]}
            row["torch"] = here
            if options.json:
                print(json.dumps(row), flush=True)
            elif "error" in row:
                print("%s %s\n  cannot be made from its record: %s" % (row["name"], json.dumps(row["shapes"]), row["error"]))
            else:
                describe(op, row)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
