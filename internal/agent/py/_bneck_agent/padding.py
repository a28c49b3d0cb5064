"""How much of a batch is filling: looks at few batches of token numbers or masks as they arrive, in NumPy, which no profiler records.

Those on a device are copied while it has nothing to do: for a program that waits for each answer that is at its next call, for one that is
ahead of its device after a window, which has waited.
"""

import sys

from . import core
from .pieces import copied

LOOKS = 24  # of one loader
LARGEST = 1 << 20  # numbers in a batch that is looked at
NARROWEST = 8  # columns, under which a table is no sequence
LEAST = 0.05  # of the places, under which a number at the end of some rows is there by chance
STRAY = 0.01  # of the numbers before the filling that may be the filling's: a column of features has its values anywhere
MASK = "attention_mask"  # Hugging Face's: 1 is a token
TOKENS = "input_ids"
VAIN = 3  # calls of models that were given no sequences, more than that were, after which none is looked at
FIRST = 8  # calls of models that are looked at; then every one that doubles their number
PROBE = 8  # places on either side of where a sequence of fractions is said to end, that are compared
ROWS = 16  # of a batch, of which they are
LAST = 64  # calls of models for which a program is watched that needs no marks of them
SMALL = 1 << 18  # numbers in a table of a device that is copied
WAIT_S = 0.0002  # for a device that may have to do what was launched just now
WINDOW_S = 0.05  # for one that had nothing to do when a window ended
DUE = 3  # calls after a window's end that are looked at
DTYPES = {"torch.int64": "int64", "torch.int32": "int32", "torch.bool": "bool"}

looked = {}  # number of the loader -> how often
calls = looks = vain = 0  # of models, from outside all modules, while no DataLoader has given a batch of sequences
sequences = False  # some DataLoader has
due = 0  # calls that are looked at as a window has ended
busy = False  # a table was not copied, as its device had to do


def wants_calls():
    """Whether what models are called with may be sequences."""
    return not sequences and vain < VAIN + looks and looks < LOOKS


def window_ended():
    """What has been launched is done."""
    global due
    due = DUE


@core.hook("padding-call")
def called(arguments, keywords, caller):
    """Looks at what a frame of the program calls a model with."""
    global calls, looks, vain, due, busy
    calls += 1
    if due:
        due -= 1
    elif calls > FIRST and calls & (calls - 1):
        return
    mask, tokens = keywords.get(MASK), keywords.get(TOKENS)
    if mask is not None and tokens is not None and getattr(mask, "shape", None) != getattr(tokens, "shape", None):
        seen = False  # a text that grows: only its last place is computed
    else:
        seen = measure(None, keywords if mask is not None else arguments + (keywords,), caller.f_code.co_filename, caller.f_lineno)
    looks, vain = looks + seen, max(vain - 1, 0) if busy and not seen else vain + (not seen)
    busy = False


@core.hook("padding")
def look(number, data):
    """Emits the filling of a loader's batch, where it is one of sequences."""
    global sequences
    if looked.get(number, 0) < LOOKS:
        looked[number] = looked.get(number, 0) + 1
        sequences = measure(number, data) or sequences


def measure(number, data, *place):
    """Emits the filling of a batch of sequences; place is the file and the line that hands it over. Returns whether it is one."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is None or torch is None:
        return False
    signal = signals(torch, data)
    if signal is None:
        mask, table = found(torch, data)
        if mask is None and table is None:
            return False
        lengths = lengths_of(numpy, table) if mask is None else numpy.count_nonzero(mask, axis=1)
        rows, width = (table if mask is None else mask).shape
    else:
        rows, width, lengths = signal
    core.emit("padding", core.now(), number, rows, width, int(lengths.sum()), int(lengths.max()), *place)
    return True


def signals(torch, data):
    """(rows, places, lengths) of a batch that holds sequences of fractions (sound, sensors) and, beside them, how long each is; None for
    others. That one number stands from each row's end on, and another before it, is compared at a few places."""
    values = list(data.values()) if mapping(data) else list(data) if type(data) in (list, tuple) else []
    plain = [v for v in values if type(v) is torch.Tensor and v.device.type == "cpu" and v.layout == torch.strided]
    for lengths in plain:
        if lengths.dim() != 1 or lengths.dtype not in (torch.int64, torch.int32) or lengths.numel() < 2:
            continue
        for signal in plain:
            if signal.dim() in (2, 3) and signal.dtype in (torch.float32, torch.float64) and signal.shape[0] == lengths.numel():
                sizes = lengths.numpy()
                for dim in range(1, signal.dim()):
                    if ends_there(signal.detach().numpy(), dim, sizes):
                        return signal.shape[0], signal.shape[dim], sizes
    return None


def ends_there(signal, dim, sizes):
    """Whether rows of a batch are filling from these lengths on, in one of its dimensions."""
    places = signal.shape[dim]
    if places < NARROWEST or sizes.min() < 1 or sizes.max() > places or sizes.min() == sizes.max():
        return False
    ended = 0
    for i in range(0, len(sizes), max(len(sizes) // ROWS, 1)):
        row, size = signal[i] if dim == 1 else signal[i].T, int(sizes[i])
        if size < places:
            filling = row[-1].flat[0]
            behind = row[size : size + PROBE], row[max(size, places - PROBE) :]
            if any((part != filling).any() for part in behind) or (row[max(size - PROBE, 0) : size] == filling).all():
                return False
            ended += 1
    return ended > 0


def found(torch, data, depth=3):
    """(mask, None) or (None, table of token numbers) as NumPy arrays of rows and columns; (None, None) where a batch has neither."""
    if mapping(data):
        mask = array(torch, data[MASK]) if MASK in data else None
        if mask is not None:
            return mask, None
        values = [data[key] for key in sorted(data, key=lambda key: key != TOKENS)]
    else:
        values = data if type(data) in (list, tuple) else [data]
    for value in values:
        mask, table = found(torch, value, depth - 1) if depth and mapping(value) else (None, array(torch, value))
        if mask is not None or table is not None:
            return mask, table
    return None, None


def mapping(data):
    """Whether it is a dictionary, or Hugging Face's; no code of the program runs when one is asked."""
    kind = type(data)
    return kind is dict or kind.__name__ == "BatchEncoding" and kind.__module__.startswith("transformers.")


def array(torch, value):
    """A tensor of whole numbers in rows and columns, in this machine's memory as NumPy's array of the same memory, on an NVIDIA device as
    a copy; None for others."""
    global busy
    if type(value) is not torch.Tensor or value.dim() != 2 or value.layout != torch.strided:
        return None
    if str(value.dtype) not in DTYPES or value.shape[1] < NARROWEST or not 0 < value.numel() <= LARGEST:
        return None
    if value.device.type == "cpu":
        return value.numpy()
    if value.device.type != "cuda" or value.numel() > SMALL:
        return None
    read = copied(torch, value, WINDOW_S if due else WAIT_S)
    if read is None:
        busy = True
        return None
    return sys.modules["numpy"].frombuffer(read, DTYPES[str(value.dtype)]).reshape(tuple(value.shape))


def lengths_of(numpy, table):
    """What is left of each row without the number that fills its end, or its beginning; whole rows where none does."""
    whole = numpy.full(table.shape[0], table.shape[1])
    for turned in (table[:, ::-1], table):
        numbers, counts = numpy.unique(turned[:, 0], return_counts=True)
        other = turned != numbers[counts.argmax()]
        lengths = numpy.where(other.any(axis=1), table.shape[1] - other.argmax(axis=1), 0)
        left = int(lengths.sum())
        inside = left - int(numpy.count_nonzero(other))
        known = len(numpy.unique(lengths)) > 1 or table.dtype == bool and left  # a mask may be as long in all rows
        if left <= (1 - LEAST) * table.size and inside <= STRAY * left and known:
            return lengths
    return whole
