"""Whether torch.save writes more than it is given: a tensor that is a part of a larger one is written with all of that.

What is looked at is what the program's call has handed to torch.save: plain dictionaries, lists, tuples and tensors, by their exact types,
so that none of the program's code is run. No tensor is kept, and no byte of one is read.
"""

import contextlib
import itertools
import sys
from collections import OrderedDict

from . import core

ROWS = 1024  # calls that are told
LONG_ENOUGH = 60_000_000  # nanoseconds that all looks may take
VALUES = 20_000  # in one call, of which at most so many are tensors
TENSORS = 1000
DEPTH = 6
EXCESS = 1 << 20  # bytes that are written and not needed, and at least as many as are needed

told = took = 0


@core.hook("save-views")
def excess():
    """(bytes that its tensors use, bytes of their storages) of the torch.save that has called the caller's hook; None where these are
    about as many, or where not all is seen."""
    global took
    frame = sys._getframe(5)  # behind this and the caller's hook, each in its guard, and the opener that was wrapped
    if frame.f_code.co_name != "save" or "obj" not in frame.f_code.co_varnames:
        return None
    if told >= ROWS or took >= LONG_ENOUGH:
        core.count("saves_unseen")
        return None
    began = core.now()
    try:
        with plainly(sys.modules["torch"]):
            return more(sys.modules["torch"], frame.f_locals["obj"])
    finally:
        took += core.now() - began


def plainly(torch):
    """Within it no mode of the program's sees what is asked of tensors; before 2.0 modes are not kept from it."""
    off = getattr(torch._C, "DisableTorchFunction", None)
    return contextlib.nullcontext() if off is None else off()


def more(torch, value):
    """As excess, of a value."""
    mode = getattr(torch._C, "_is_torch_function_mode_enabled", None)
    tensors = []
    if mode is not None and mode() or not gathered(torch, value, tensors):
        return None
    storages = {}  # where one begins -> [bytes that are used, its bytes]
    for tensor in tensors:
        if tensor.layout is not torch.strided or tensor.device.type == "meta":
            continue
        begins, size = storage_of(tensor)
        known = storages.setdefault((str(tensor.device), begins), [0, size])
        known[0] = min(known[0] + tensor.numel() * tensor.element_size(), size)
    used = sum(known[0] for known in storages.values())
    stored = sum(known[1] for known in storages.values())
    return (used, stored) if stored - used >= max(used, EXCESS) else None


def storage_of(tensor):
    """Where a tensor's storage begins, and how many bytes it has."""
    if hasattr(tensor, "untyped_storage"):  # 2.0 and later
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    storage = tensor.storage()
    return storage.data_ptr(), len(storage) * tensor.element_size()


def gathered(torch, value, tensors):
    """Adds the tensors in a value; False where it holds too much: what is not seen may use the rest of a storage."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        one, depth = waiting.pop()
        kind = type(one)
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            tensors.append(one)
            continue
        if kind is dict or kind is OrderedDict:
            held = dict.values(one)
        elif kind is list or kind is tuple:
            held = one
        else:
            continue
        seen += len(held)
        if depth >= DEPTH or seen > VALUES:
            return False
        waiting += [(inner, depth + 1) for inner in itertools.islice(held, VALUES)]
    return len(tensors) <= TENSORS


def tell(t0, t1, thread, sizes, file, line):
    """A call of torch.save is over, of which excess gave the sizes."""
    global told
    told += 1
    core.emit("saved", t0, t1, thread, sizes[0], sizes[1], file, line)
