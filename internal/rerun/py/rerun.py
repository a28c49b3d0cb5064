"""Repeat recorded operators: first as they were, then under each fix that applies. Reads a request from standard input and
writes one JSON line per operator to standard output."""

import ast
import json
import os
import sys
import time

REQUEST = json.load(sys.stdin)
if REQUEST.get("all_cores"):  # before OpenMP is loaded, which counts its cores once
    os.sched_setaffinity(0, range(os.cpu_count()))

import torch  # noqa: E402

DTYPES = {
    "float": torch.float32,
    "double": torch.float64,
    "c10::Half": torch.float16,
    "c10::BFloat16": torch.bfloat16,
    "c10::complex<float>": torch.complex64,
    "c10::complex<double>": torch.complex128,
    "long int": torch.int64,
    "long": torch.int64,
    "int": torch.int32,
    "short int": torch.int16,
    "short": torch.int16,
    "unsigned char": torch.uint8,
    "signed char": torch.int8,
    "bool": torch.bool,
}
MATRIX = ("mm", "bmm", "linear", "conv", "matmul", "addmv", "attention")
ALONG = ("index_select", "gather", "scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy", "index_fill")
BY_LIST = ("index", "_index_put_impl_", "_unsafe_index")
MAX_BYTES = 1 << 30


class Skip(Exception):
    """The operator's inputs cannot be made again."""


def at(values, index):
    return values[index] if index < len(values) else None


def bare(op):
    """The operator's name without its namespace."""
    return op["name"].split("::", 1)[1]


def is_shape(value):
    return isinstance(value, list) and all(isinstance(size, int) for size in value)


def product(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


def tensor(shape, strides, name, below=0):
    """A tensor as recorded; whole numbers are drawn from 0 to below, or are 0 where nothing is known of them."""
    if not strides or len(strides) != len(shape):
        return values(product(shape), DTYPES[name], below).reshape(shape)
    if any(step < 0 for step in strides):
        raise Skip("its strides cannot be made again")
    span = 1 + sum((size - 1) * step for size, step in zip(shape, strides)) if product(shape) else 0
    return values(span, DTYPES[name], below).as_strided(shape, strides)


def values(count, dtype, below):
    """So many random values in a row."""
    if count * torch.empty(0, dtype=dtype).element_size() > MAX_BYTES:  # 1.13 has no itemsize
        raise Skip("its inputs are too large to be made again")
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(count, dtype=dtype if dtype.is_complex else torch.float32).to(dtype)
    if dtype is torch.bool:
        return torch.rand(count) < 0.5
    return torch.randint(below, (count,), dtype=dtype) if below > 1 else torch.zeros(count, dtype=dtype)


def bound(op, index, scalars):
    """How many values an integer tensor can index, 0 where it is not known to index anything."""
    name, shapes = bare(op).rstrip("_"), op["shapes"]
    if name in ALONG and index == 2 and isinstance(at(scalars, 1), int):
        return size(shapes, 0, scalars[1])
    if name in ("embedding", "embedding_renorm", "_embedding_bag", "_embedding_bag_forward_only"):
        return size(shapes, 0, 0) if index == 1 else 0
    if name == "embedding_dense_backward" and index == 1:
        return at(scalars, 2) or 0
    if name == "take" and index == 1:
        return product(shapes[0])
    if name.startswith("nll_loss"):
        scores = 1 if "backward" in name else 0
        if index == scores + 1 and shapes[scores]:
            return size(shapes, scores, 1 if len(shapes[scores]) > 1 else 0)
    return 0


def size(shapes, index, dim):
    shape = at(shapes, index)
    return shape[dim] if is_shape(shape) and -len(shape) <= dim < len(shape) else 0


def indices(op):
    """The list of indices of operators like aten::index, which PyTorch does not record: what they call inside tells it. Each index
    is given the dimensions before and behind it, and a mask is turned into indices first."""
    shape, inside = op["shapes"][0], op.get("inside") or []
    given = [call for call in inside if call["name"] == "aten::reshape" and at(call["types"], 0) in ("long int", "long", "int")]
    spread = [call for call in inside if call["name"] == "aten::as_strided" and at(call["shapes"], 0) is not None]
    masks = [call["shapes"][0] for call in inside if call["name"] == "aten::nonzero"]
    moved = [ast.literal_eval(at(call["concrete"], 1) or "[]") for call in inside if call["name"] == "aten::permute"]
    if not given or not spread:
        raise Skip("its indices were not recorded")
    before = leading(spread[0], len(given[0]["shapes"][0]))
    dims = list(range(before, before + len(given)))
    if moved and moved[0]:
        dims = moved[0][: len(given)]  # indices that are apart come to the front
    if not is_shape(shape) or max(dims) >= len(shape):
        raise Skip("its indices do not fit its input")
    if masks:
        if len(masks) != 1 or len(masks[0]) != len(given):
            raise Skip("it takes masks beside indices")
        return [None] * before + [mask_of(masks[0], product(given[0]["shapes"][0]))]
    out = [None] * (max(dims) + 1)
    for dim, call in zip(dims, given):
        out[dim] = torch.randint(max(shape[dim], 1), call["shapes"][0])
    return out


def leading(call, width):
    """How many dimensions are before the indexed ones, which a view spreads with steps of 0."""
    steps = ast.literal_eval(at(call["concrete"], 2) or "[]")
    for before in range(len(steps) - width + 1):
        if all(step == 0 for step in steps[before : before + width]):
            return before
    raise Skip("its indices were not recorded")


def mask_of(shape, count):
    """A mask that holds as many trues as the recorded one."""
    mask = torch.zeros(product(shape), dtype=torch.bool)
    mask[torch.randperm(len(mask))[:count]] = True
    return mask.reshape(shape)


def written(text):
    """The value of an argument that is no tensor; None where there was none."""
    if not isinstance(text, str) or not text:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return float(text) if text.lstrip("-") in ("inf", "nan") else None


def arguments(op):
    shapes, types = op["shapes"], op["types"]
    scalars = [None if name in DTYPES else written(at(op["concrete"], index)) for index, name in enumerate(types)]
    floats = [name for name in types if name in DTYPES and DTYPES[name].is_floating_point]
    out = []
    for index, name in enumerate(types):
        shape, strides = at(shapes, index), at(op["strides"], index)
        if name in DTYPES and is_shape(shape):
            out.append(tensor(shape, strides, name, bound(op, index, scalars)))
        elif name == "TensorList" and isinstance(shape, list):
            # Types of their elements are not recorded: that of the other inputs is the likely one.
            steps = strides if isinstance(strides, list) and len(strides) == len(shape) else [None] * len(shape)
            out.append([tensor(one, step, floats[0] if floats else "float") for one, step in zip(shape, steps)])
        elif index == 1 and bare(op) in BY_LIST:
            out.append(indices(op))
        else:
            out.append(scalars[index])
    if bare(op).startswith("_embedding_bag") and len(out) > 2 and isinstance(out[2], torch.Tensor):
        out[2] = torch.arange(len(out[2]), dtype=out[2].dtype) * (len(out[1]) // max(len(out[2]), 1))
    return out


def fits(kind, name):
    """Whether an argument of a declared type can have been recorded under a name."""
    bare_kind = kind[9:-1] if kind.startswith("Optional[") else kind
    if name in DTYPES:
        return bare_kind == "Tensor"
    if name == "TensorList":
        return bare_kind.startswith("List[") and "Tensor" in bare_kind
    if name == "ScalarList":
        return bare_kind.startswith("List[") and "Tensor" not in bare_kind
    if name == "Scalar":
        return "Tensor" not in kind and not bare_kind.startswith("List[")
    return True


def callable_of(op, args):
    """The overload of the operator that takes these arguments; one that writes into a given output where no other does."""
    packet = getattr(torch.ops.aten, bare(op), None)
    if packet is None:
        raise Skip("PyTorch here has no such operator")
    reason = "no overload takes its inputs"
    for name in sorted(packet.overloads(), key=lambda name: name.endswith("out")):
        overload = getattr(packet, name)
        declared = overload._schema.arguments
        if len(declared) < len(args):
            continue
        if not all(fits(str(arg.type), kind) for arg, kind in zip(declared, op["types"])):
            continue
        plain = sum(not arg.kwarg_only for arg in declared)
        named = {arg.name: value for value, arg in zip(args, declared) if arg.kwarg_only and value is not None}
        left = [
            value is None and not str(arg.type).startswith("Optional[") and arg.has_default_value() for value, arg in zip(args, declared)
        ]
        while plain > 0 and plain <= len(left) and left[plain - 1]:
            plain -= 1  # PyTorch before 2.1 records no values: what a call may leave out has its usual one
        try:
            overload(*args[:plain], **named)
        except Exception as error:  # another overload may fit
            reason = str(error).split("\n")[0][:200]
            continue
        return lambda values: overload(*values[:plain], **named)
    raise Skip(reason)


def measure(call, values, seconds):
    """Median and mean time of a call in microseconds, over at least 5 calls. With one thread it is time on a CPU, so that other
    programs do not lengthen it."""
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
    return 1e6 * times[len(times) // 2], 1e6 * sum(times) / len(times)


def lower(value):
    if isinstance(value, torch.Tensor) and value.dtype == torch.float32:
        return value.to(torch.bfloat16)
    return value


def last(value):
    if isinstance(value, torch.Tensor) and value.dim() == 4:
        return value.contiguous(memory_format=torch.channels_last)
    return value


def fixes(op, values):
    """Names of the fixes that apply, with their inputs and number of threads."""
    threads = REQUEST["threads"]
    if REQUEST.get("all_cores"):
        yield "cores=%d" % len(os.sched_getaffinity(0)), values, len(os.sched_getaffinity(0))
        return
    others = {1, REQUEST["cores"]} - {threads}
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


def repeat(op, seconds):
    result = {"base_us": None, "fixes": []}
    threads = REQUEST["threads"]
    torch.set_num_threads(threads)
    values = arguments(op)
    call = callable_of(op, values)
    wanted = list(fixes(op, values))
    share = seconds / (1 + len(wanted))
    result["base_us"], result["base_mean_us"] = measure(call, values, share)
    low, high = REQUEST["low"] * op["recorded_us"], REQUEST["high"] * op["recorded_us"]
    if not low <= result["base_us"] <= high:
        return result
    for name, changed, n in wanted:
        torch.set_num_threads(n)
        try:
            median, mean = measure(call, changed, share)
            result["fixes"].append({"fix": name, "us": median, "mean_us": mean})
        except Exception:  # the operator does not exist in this form
            continue
        finally:
            torch.set_num_threads(threads)
    return result


def main():
    ops = REQUEST["ops"]
    torch.set_flush_denormal(True)  # what changes its input in place may let it decay to nothing
    until = time.perf_counter() + REQUEST["budget_s"]
    with torch.no_grad():
        for index, op in enumerate(ops):
            seconds = (until - time.perf_counter()) / (len(ops) - index)
            if seconds <= 0:
                break
            try:
                result = repeat(op, seconds)
            except Skip as reason:
                result = {"base_us": None, "fixes": [], "error": str(reason)}
            except Exception as error:
                result = {"base_us": None, "fixes": [], "error": str(error).split("\n")[0][:200]}
            result["index"] = index
            print(json.dumps(result), flush=True)


main()
