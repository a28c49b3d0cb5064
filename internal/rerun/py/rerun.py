"""Repeat recorded operators: first as they were, then under each fix that applies. Reads a request from standard input and
writes one JSON line per operator to standard output."""

import ast
import json
import sys
import time

import torch

DTYPES = {
    "float": torch.float32,
    "double": torch.float64,
    "c10::Half": torch.float16,
    "c10::BFloat16": torch.bfloat16,
    "long int": torch.int64,
    "long": torch.int64,
    "int": torch.int32,
    "unsigned char": torch.uint8,
    "signed char": torch.int8,
    "bool": torch.bool,
}
MATRIX = ("mm", "bmm", "linear", "conv", "matmul", "addmv", "attention")
MAX_BYTES = 1 << 30


class Skip(Exception):
    """The operator's inputs cannot be made again."""


def at(values, index):
    return values[index] if index < len(values) else None


def tensor(shape, strides, name):
    dtype = DTYPES[name]
    count = 1
    for size in shape:
        count *= size
    if count * dtype.itemsize > MAX_BYTES:
        raise Skip("its inputs are too large to be made again")
    if dtype.is_floating_point:
        value = torch.randn(shape).to(dtype)
    else:
        value = torch.zeros(shape, dtype=dtype)
    if strides and len(strides) == len(shape) and list(value.stride()) != list(strides):
        if any(step < 0 for step in strides):
            raise Skip("its strides cannot be made again")
        span = 1 + sum((size - 1) * step for size, step in zip(shape, strides)) if count else 0
        if span * dtype.itemsize > MAX_BYTES:
            raise Skip("its inputs are too large to be made again")
        copy = torch.empty_strided(shape, strides, dtype=dtype)
        if span >= count:  # else the recorded tensor was expanded
            copy.copy_(value)
        value = copy
    return value


def is_shape(value):
    return isinstance(value, list) and all(isinstance(size, int) for size in value)


def arguments(op):
    shapes, types = op["shapes"], op["types"]
    out = []
    for index, name in enumerate(types):
        shape, strides = at(shapes, index), at(op["strides"], index)
        text = at(op["concrete"], index)
        if name in DTYPES and is_shape(shape):
            out.append(tensor(shape, strides, name))
        elif name == "TensorList" and isinstance(shape, list):
            raise Skip("it takes a list of tensors")
        elif isinstance(text, str) and text:
            try:
                out.append(ast.literal_eval(text))
            except (ValueError, SyntaxError):
                out.append(None)
        else:
            out.append(None)
    return out


def callable_of(op, args):
    """The overload of the operator that takes these arguments."""
    packet = getattr(torch.ops.aten, op["name"].split("::", 1)[1], None)
    if packet is None:
        raise Skip("PyTorch here has no such operator")
    reason = "no overload takes its inputs"
    for name in packet.overloads():
        overload = getattr(packet, name)
        if len(overload._schema.arguments) < len(args) or name.endswith("out"):
            continue
        plain = [arg for arg in overload._schema.arguments if not arg.kwarg_only]
        given = args[: len(plain)]
        named = {}
        for value, arg in zip(args, overload._schema.arguments):
            if arg.kwarg_only and value is not None:
                named[arg.name] = value
        try:
            overload(*given, **named)
            return lambda values: overload(*values[: len(plain)], **named)
        except Exception as error:  # another overload may fit
            reason = str(error).split("\n")[0][:200]
    raise Skip(reason)


def measure(call, values, seconds):
    """Median time of a call in microseconds, over at least 5 calls. With one thread it is time on a CPU, so that other programs
    do not lengthen it."""
    call(values)
    times = []
    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
    until = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < until and len(times) < 1000:
        start = clock()
        call(values)
        times.append(clock() - start)
        if len(times) >= 3 and time.perf_counter() > until + seconds:
            break
    times.sort()
    return 1e6 * times[len(times) // 2]


def lower(value):
    if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
        return value.to(torch.bfloat16)
    return value


def last(value):
    if isinstance(value, torch.Tensor) and value.dim() == 4:
        return value.contiguous(memory_format=torch.channels_last)
    return value


def fixes(op, values, request):
    """Names of the fixes that apply, with their inputs and number of threads."""
    threads = request["threads"]
    others = {1, request["cores"]} - {threads}
    for n in sorted(others):
        if n > 0:
            yield "threads=%d" % n, values, n
    matrix = any(word in op["name"] for word in MATRIX)
    if matrix and any(isinstance(v, torch.Tensor) and v.dtype == torch.float32 for v in values):
        yield "bf16", [lower(v) for v in values], threads
    if "conv" in op["name"] and any(isinstance(v, torch.Tensor) and v.dim() == 4 for v in values):
        changed = [last(v) for v in values]
        if any(isinstance(v, torch.Tensor) and v.stride() != w.stride() for v, w in zip(values, changed)):
            yield "channels-last", changed, threads


def repeat(op, request, seconds):
    result = {"base_us": None, "fixes": []}
    threads = request["threads"]
    torch.set_num_threads(threads)
    values = arguments(op)
    call = callable_of(op, values)
    wanted = list(fixes(op, values, request))
    share = seconds / (1 + len(wanted))
    result["base_us"] = measure(call, values, share)
    low, high = request["low"] * op["recorded_us"], request["high"] * op["recorded_us"]
    if not low <= result["base_us"] <= high:
        return result
    for name, changed, n in wanted:
        torch.set_num_threads(n)
        try:
            result["fixes"].append({"fix": name, "us": measure(call, changed, share)})
        except Exception:  # the operator does not exist in this form
            continue
        finally:
            torch.set_num_threads(threads)
    return result


def main():
    request = json.load(sys.stdin)
    ops = request["ops"]
    until = time.perf_counter() + request["budget_s"]
    with torch.no_grad():
        for index, op in enumerate(ops):
            seconds = (until - time.perf_counter()) / (len(ops) - index)
            if seconds <= 0:
                break
            try:
                result = repeat(op, request, seconds)
            except Skip as reason:
                result = {"base_us": None, "fixes": [], "error": str(reason)}
            except Exception as error:
                result = {"base_us": None, "fixes": [], "error": str(error).split("\n")[0][:200]}
            result["index"] = index
            print(json.dumps(result), flush=True)


main()
