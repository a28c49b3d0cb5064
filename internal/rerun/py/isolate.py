"""Runs recorded operators alone, with inputs of the recorded shapes, strides, types and values, and says how long they take.

Written by `bottleneck isolate`; it needs PyTorch only. Inputs are random numbers. Change what you like and run it again:

    python THIS_FILE                        # times as a table
    python THIS_FILE --seconds 5 --threads 1
    python THIS_FILE --alone                # without what ran before them
    python THIS_FILE --json                 # one line for each operator
"""

import argparse
import contextlib
import ctypes
import json
import os
import subprocess
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
OPERATORS = []  # each with what ran before it: which of CALLS, and how long its thread ran other code and slept until then, in us
CALLS = []
RECORDED_TORCH = ""
RECORDED_THREADS = 0
RECORDED_OTHERS = 0.0
TOLERANCE = 0.15
# END OF RECORDED

# How an operator is run: whether its results take memory that the system must give anew, page by page, as in a program whose allocator
# gives memory back in between; and whether its inputs are out of the processor's caches. A program is somewhere between the first and the
# last.
CONDITIONS = [("warm", False, False), ("cold", False, True), ("new memory", True, False), ("cold, new memory", True, True)]
# The same in its place: right after the operators that ran before it in the program, which leave caches, threads and allocator behind.
IN_PLACE = [("in its place", False), ("in its place, new memory", True)]
RECENT = 3  # calls before, of which one gave what an operator writes into, as where a result is worked on in place
ALIKE = 4  # latest results of one form that a call can take
AWHILE = 20e-6  # seconds of other code that are worth waiting for
MANY = 0.2  # cores that other programs keep busy, above which it is said
LONG = 20  # seconds that one run of what ran before may take
NEIGHBOUR = """
import os, sys, time
parent, share, period = int(sys.argv[1]), float(sys.argv[2]), 0.1
print(flush=True)
while os.getppid() == parent:
    until = time.monotonic() + share * period
    while time.monotonic() < until:
        sum(range(1000))
    time.sleep((1 - share) * period)
"""
CACHE = 64 << 20  # bytes that push other data out of the caches
OVERWRITING = ("copy_", "fill_", "zero_", "normal_", "uniform_", "random_")  # what they write to is new in most programs
MOST = 4 << 30  # bytes of inputs
SPARE = 0.8  # of the machine's free memory that operators may take, where it is known

# How inputs are made again.

from inputs import DTYPES, POSITIVE, Skip, arguments, at, bare, callable_of, demand, limit, written  # noqa: E402

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
    renewed = new and bare(op) in OVERWRITING and isinstance(values[0], torch.Tensor)
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


class Others:
    """How many cores other programs keep busy while this one measures: threads that share a core wait for each other."""

    def __init__(self):
        self.wall, self.all, self.own = time.perf_counter(), used(), own()

    def cores(self):
        """None where the system does not tell."""
        if self.all is None:
            return None
        return max(used() - self.all - (own() - self.own), 0) / max(time.perf_counter() - self.wall, 1e-3)


def used():
    """Seconds that all programs have used of the processor's cores, and others of its machine that took them away."""
    try:
        with open("/proc/stat") as file:
            ticks = [int(field) for field in file.readline().split()[1:9]]
        return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")  # but for those in which it was idle
    except (OSError, ValueError, IndexError):
        return None


def own():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


# In its place.


class Result:
    """Stands for a tensor that an earlier call gives."""

    def __init__(self, step, index):
        self.step, self.index = step, index


class Step:
    """One call of those before an operator, or the operator itself: what it is given, and how long the program took until then."""

    def __init__(self, call, values, busy_us, asleep_us):
        self.call, self.values = call, values
        self.busy, self.asleep = 1e-6 * busy_us, 1e-6 * asleep_us
        self.last = None  # number of the last step that takes what it gives; None: none does
        self.done_with = []  # numbers of the steps whose results nobody takes after it


class Place:
    """The operators before another, one after the other as recorded, with that one at the end.

    A recording does not say which tensor was given. Of those that earlier calls gave, it is taken to be the latest of the same form: that
    is how a program's layers follow each other. What no call gave stays from one run to the next, as weights do, each call's own. Results
    are let go of after the last call that takes them."""

    def __init__(self, op):
        self.steps, self.left_out, self.alive = [], 0, []
        self.room, self.end = MOST, time.perf_counter() + LONG
        late = [0.0, 0.0]  # what passed before calls that are left out
        for number, busy, asleep in op["before"]:
            try:
                self.add(CALLS[number], busy + late[0], asleep + late[1])
                late = [0.0, 0.0]
            except Exception:  # whatever a record can be wrong in
                self.left_out += 1
                late = [late[0] + busy, late[1] + asleep]
            if time.perf_counter() > self.end:
                raise Skip("what ran before it takes more than %d s" % LONG)
        self.add(op, op["gap"][0] + late[0], op["gap"][1] + late[1])
        # What called it made what it writes into, for which there need not be an operator.
        self.renews = op["caller"] != "" and bare(op) in OVERWRITING and isinstance(self.steps[-1].values[0], torch.Tensor)
        self.alive = []
        for number, step in enumerate(self.steps):
            for result in results_in(step.values):
                self.steps[result.step].last = number
        for number, step in enumerate(self.steps):
            if step.last is not None:
                self.steps[step.last].done_with.append(number)

    def add(self, call, busy, asleep):
        """One more step, which is run once to see what it gives."""
        if demand(call)[1] > self.room:
            raise Skip("its inputs and those of what ran before it take more than %.3g GB" % (MOST / 1e9))
        self.room -= demand(call)[1]
        values, taken = arguments(call), []
        if bare(call).rstrip("_") not in POSITIVE:
            writes = bare(call).endswith("_")
            values = [self.source(value, taken, writes and index == 0) for index, value in enumerate(values)]
        given = self.filled(values)
        run = callable_of(call, given, new=True)
        gives = tensors(run(given))
        for index, tensor in enumerate(gives):
            self.alive = [one for one in self.alive if one[1] is not tensor]
            alike = [result for result, other in self.alive if form(other) == form(tensor)]
            if len(alike) >= ALIKE:
                self.alive = [one for one in self.alive if one[0] is not alike[0]]
            self.alive.append((Result(len(self.steps), index), tensor))
        self.steps.append(Step(run, values, busy, asleep))

    def source(self, value, taken, written_to):
        """What a call is given in place of a value: an earlier result of its form, where there is one."""
        if isinstance(value, list):
            return [self.source(one, taken, False) for one in value]
        if not isinstance(value, torch.Tensor) or not value.dtype.is_floating_point or value.numel() < 2:
            return value
        for result, tensor in reversed(self.alive):
            if written_to and result.step < len(self.steps) - RECENT:
                break
            if form(tensor) == form(value) and not any(tensor is one for one in taken):
                taken.append(tensor)
                return result
        return value

    def filled(self, value):
        """A value with the tensors that results stand for, while steps are added."""
        if isinstance(value, Result):
            return next(tensor for result, tensor in self.alive if result is value)
        return [self.filled(one) for one in value] if isinstance(value, list) else value

    def run(self, new, give_back):
        """Seconds that the operator takes after all the others."""
        results, last = {}, len(self.steps) - 1
        before = time.perf_counter()
        for number, step in enumerate(self.steps):
            values = given(step.values, results)
            if number == last and new:
                give_back()
            if number == last and self.renews:
                values[0] = torch.empty_strided(values[0].shape, values[0].stride(), dtype=values[0].dtype)
            pause(step, before)
            start = time.perf_counter()
            result = step.call(values)
            before = time.perf_counter()
            if step.last is not None:
                results[number] = tensors(result)
            del result, values
            for done in step.done_with:
                del results[done]
        return before - start


def form(one):
    return one.dtype, one.shape, one.stride()


def results_in(value):
    if isinstance(value, Result):
        return [value]
    return [one for part in value for one in results_in(part)] if isinstance(value, list) else []


def given(value, results):
    """A value with the tensors that results stand for."""
    if isinstance(value, Result):
        return results[value.step][value.index]
    return [given(one, results) for one in value] if isinstance(value, list) else value


def pause(step, since):
    """Lets as much time pass as the program took for other code: awake where its thread was."""
    if step.asleep > 0:
        time.sleep(step.asleep)
    until = since + step.asleep + step.busy
    while step.busy > AWHILE and time.perf_counter() < until:
        pass


@contextlib.contextmanager
def neighbours(shares):
    """Other processes, each of which computes for a share of the time, as the program's own did meanwhile. They end with this one."""
    others = []
    try:
        for share in shares[: 2 * (os.cpu_count() or 1)]:
            command = [sys.executable, "-S", "-c", NEIGHBOUR, str(os.getpid()), str(share)]
            others.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        for other in others:
            other.stdout.readline()  # it has begun
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
            other.stdout.close()


def beside(shares):
    return ", beside %d busy process%s" % (len(shares), "" if len(shares) == 1 else "es") if shares else ""


def in_place(op, seconds, times):
    """Adds the operator's times in its place, in seconds: with and without the program's other processes. Returns the place."""
    place = Place(op)
    companies = [[], op["neighbours"]] if op["neighbours"] else [[]]
    for name, _ in IN_PLACE:
        times.update((name + beside(shares), []) for shares in companies)
    rounds = 3
    for _ in range(rounds):
        for shares in companies:
            with neighbours(shares):
                for name, new in IN_PLACE:
                    end, give_back = time.perf_counter() + seconds / rounds / len(companies) / len(IN_PLACE), allocator()
                    place.run(new, give_back)
                    while True:
                        times[name + beside(shares)].append(place.run(new, give_back))
                        if time.perf_counter() >= end:
                            break
    return place


def median(times):
    """The median in microseconds with its 95 % interval, which assumes nothing about how times are distributed."""
    ordered, n = sorted(times), len(times)
    away = int(0.98 * n**0.5) + 1
    return tuple(1e6 * ordered[i] for i in (n // 2, max(n // 2 - away, 0), min(n // 2 + away, n - 1)))


def measure(op, seconds, with_place):
    """What is known of an operator alone."""
    others = Others()
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
    place, trouble = None, ""
    if with_place and not op["device"] and op["before"]:
        try:
            place = in_place(op, seconds, times)
        except Exception as reason:  # it has its times alone
            times = {name: of for name, of in times.items() if name in [one[0] for one in conditions]}
            trouble = ascii(str(reason).split("\n")[0][:200])[1:-1]
    found = {name: median(of) for name, of in times.items()}
    alone = [found[name][0] for name, _, _ in conditions]
    near = min(found, key=lambda name: abs(found[name][0] - op["recorded_us"]))
    us = found[near][0]
    row = {"name": op["name"], "shapes": op["shapes"], "recorded_us": op["recorded_us"], "condition": near, "us": us}
    row["low_us"], row["high_us"] = found[near][1:]
    row["repeats"] = len(times[near])
    row["conditions"] = {name: {"us": of[0], "low_us": of[1], "high_us": of[2]} for name, of in found.items()}
    row["bytes"], row["gbytes_per_s"] = moved, moved / us / 1e3
    row["reproduced"] = within(us, op)
    row["between"] = alone[0] <= op["recorded_us"] <= max(alone)
    row["recorded_low_us"], row["recorded_high_us"] = op["recorded_low_us"], op["recorded_high_us"]
    row["recorded_calls"], row["others"] = op["recorded_calls"], others.cores()
    if place:
        row["before"], row["left_out"] = len(op["before"]), place.left_out
        row["as_recorded"] = as_recorded(op)  # no choice among states: the one that the recording tells of
        row["reproduced_as_recorded"] = within(found[row["as_recorded"]][0], op)
    elif trouble:
        row["no_place"] = trouble
    if op["flops"]:
        row["flops"], row["gflops_per_s"] = op["flops"], op["flops"] / us / 1e3
    if op["flops"] and op["peak_flops"]:
        row["of_peak_flops"] = op["flops"] / us * 1e6 / op["peak_flops"]
    if op["peak_bytes"]:
        row["of_peak_bytes"] = moved / us * 1e6 / op["peak_bytes"]
    return row


def as_recorded(op):
    """The state that the recording tells of: in its place, beside what the program ran meanwhile."""
    return IN_PLACE[0][0] + beside(op["neighbours"])


def within(us, op):
    return bool(op["recorded_us"]) and abs(us / op["recorded_us"] - 1) <= TOLERANCE


def describe(op, row):
    """The same in words."""
    print("%s %s" % (row["name"], json.dumps(row["shapes"])))
    print(
        "  alone     %.1f us, 95 %% interval %.1f to %.1f us, %d repeats (%s)"
        % tuple(row[key] for key in ("us", "low_us", "high_us", "repeats", "condition"))
    )
    width = max(map(len, row["conditions"]))
    for name, of in row["conditions"].items():
        print("            %-*s %.1f us (%.1f to %.1f)" % (width, name, of["us"], of["low_us"], of["high_us"]))
    if "before" in row:
        calls = "calls: %d; not made again: %d" % (row["before"], row["left_out"])
        print("            in its place: after what ran before it (%s), where it took %.1f us" % (calls, op["place_us"]))
    for part in op["neighbours"] if "before" in row else []:
        print("            beside it ran a process that computed %.0f %% of the time" % (100 * part))
    if "no_place" in row:
        print("            what ran before it could not be made again: %s" % row["no_place"])
    off = 100 * (row["us"] / (row["recorded_us"] or row["us"]) - 1)
    verdict = "reproduced" if row["reproduced"] else "NOT reproduced: look for what differs (load, threads, memory, versions)"
    if not row["reproduced"] and row["between"]:
        verdict = "NOT reproduced, but between warm and cold: the program's memory is in none of these states"
    print("  recorded  %.1f us; alone it takes %+.0f %% (tolerance %.0f %%): %s" % (row["recorded_us"], off, 100 * TOLERANCE, verdict))
    if (row["others"] or 0) > MANY or RECORDED_OTHERS > MANY:
        print("            other programs kept %.1f cores busy, and %.1f while it was recorded" % (row["others"] or 0, RECORDED_OTHERS))
    if row["recorded_calls"] > 1:
        spread = (row["recorded_calls"], row["recorded_low_us"], row["recorded_high_us"])
        print("            recorded is the median of %d calls, whose 95 %% interval is %.1f to %.1f us" % spread)
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
    parser.add_argument("--seconds", type=float, default=3, help="how long to repeat each operator, alone and again in its place")
    parser.add_argument("--threads", type=int, default=RECORDED_THREADS, help="threads of an operator (default: as recorded)")
    parser.add_argument("--alone", action="store_true", help="leave out what ran before an operator in the program")
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
                row = measure(op, options.seconds, not options.alone)
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
