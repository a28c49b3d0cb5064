"""Recorded operators made again: tensors of the recorded shapes, strides and types, and the overload that takes them. Nothing that a
recording says is run: it is read as plain values, and only operators that compute on tensors are called."""

import ast
import os
import re

import torch

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
ALONG = ("index_select", "gather", "scatter", "scatter_add", "scatter_reduce", "index_add", "index_copy", "index_fill")
BY_LIST = ("index", "_index_put_impl_", "_unsafe_index")
POSITIVE = ("sqrt", "rsqrt", "log", "log2", "log10", "log1p")  # of others they give no number, which takes other time
NUMBERS = ("int", "float", "bool", "number", "complex", "SymInt", "SymFloat", "SymBool")
SETTINGS = NUMBERS + ("str", "Device", "Layout", "MemoryFormat", "ScalarType", "Generator")
FRESH = ("empty", "empty_strided", "zeros", "ones", "full")  # they take no tensor
PER_THREAD = 64 << 20  # bytes that a thread may take for its stack and its heap


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
    count = span(shape, strides)
    if not strides or len(strides) != len(shape):
        return values(count, DTYPES[name], below).reshape(shape)
    return values(count, DTYPES[name], below).as_strided(shape, strides)


def span(shape, strides):
    """How many values in a row a tensor lies in."""
    if any(size < 0 for size in shape):
        raise Skip("its shapes cannot be made again")
    if not strides or len(strides) != len(shape) or not product(shape):
        return product(shape)
    if not is_shape(strides) or any(step < 0 for step in strides):
        raise Skip("its strides cannot be made again")
    return 1 + sum((size - 1) * step for size, step in zip(shape, strides))


def demand(op):
    """How many values its inputs hold, and how many bytes they take."""
    counts = []
    for index, name in enumerate(op["types"]):
        shape, strides = at(op["shapes"], index), at(op["strides"], index)
        if name in DTYPES and is_shape(shape):
            counts.append((span(shape, strides), width(name)))
        elif name == "TensorList" and isinstance(shape, list):
            counts += [(product(one), width("float")) for one in shape if is_shape(one)]
    for call in op.get("inside") or []:  # what its indices are made from
        if call["name"] in ("aten::reshape", "aten::nonzero") and is_shape(at(call["shapes"], 0)):
            counts.append((span(call["shapes"][0], None), width("long")))
    return sum(count for count, _ in counts), sum(count * size for count, size in counts)


def width(name):
    return torch.empty(0, dtype=DTYPES[name]).element_size()  # 1.13 has no itemsize


def values(count, dtype, below):
    """So many random values in a row."""
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
        out[dim] = torch.randint(max(shape[dim], 1), tuple(call["shapes"][0]))
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
        return ast.literal_eval(text)  # of a literal: nothing in it is run
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
            value = tensor(shape, strides, name, bound(op, index, scalars))
            out.append(value.abs_() if bare(op).rstrip("_") in POSITIVE and DTYPES[name].is_floating_point else value)
        elif name == "TensorList" and isinstance(shape, list):
            if not shape:
                raise Skip("its list of tensors was not recorded")  # as PyTorch does of long ones
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


def element(kind):
    """A declared type without what says that it is optional or a list."""
    while kind.startswith(("Optional[", "List[")):
        kind = kind[kind.index("[") + 1 : -1]
    return kind


def computes(schema, fresh=False):
    """Whether an operator takes and gives tensors and numbers alone. Others read and write files, take objects, or set something. Those
    that make a fresh tensor take none."""
    takes = [element(str(argument.type)) for argument in schema.arguments]
    gives = [element(str(value.type)) for value in schema.returns]
    return (
        (fresh or "Tensor" in takes)
        and all(kind == "Tensor" or kind in SETTINGS for kind in takes)
        and all(kind == "Tensor" or kind in NUMBERS for kind in gives)
    )


def callable_of(op, args, new=False):
    """The overload of the operator that takes these arguments; one that writes into a given output where no other does. With new also an
    operator that makes a tensor from numbers alone."""
    packet = getattr(torch.ops.aten, bare(op), None) if re.match(r"[A-Za-z_]\w*$", bare(op)) else None
    if not hasattr(packet, "overloads"):
        raise Skip("PyTorch here has no such operator")
    refused, reason = "no overload takes its inputs", ""
    for name in sorted(packet.overloads(), key=lambda name: name.endswith("out")):
        overload = getattr(packet, name)
        declared = overload._schema.arguments
        if not computes(overload._schema, new and bare(op) in FRESH):
            refused = "it does more than to compute on tensors"
            continue
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
            reason = reason or str(error).split("\n")[0][:200]  # of the usual one, which comes first
            continue
        return lambda values: overload(*values[:plain], **named)
    raise Skip(reason or refused)


def limit(allowed, threads):
    """Lets this process take no more memory than that beyond what it has: what an operator gives can be far larger than what it takes.
    Should memory end all the same, it is this process that the system ends."""
    try:
        import resource

        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        with open("/proc/self/status") as file:
            taken = int(re.search(r"VmData:\s*(\d+) kB", file.read()).group(1)) << 10
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = taken + allowed + PER_THREAD * max(os.cpu_count() or 1, threads)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (ImportError, OSError, AttributeError, ValueError):
        return  # systems that know no such limit
