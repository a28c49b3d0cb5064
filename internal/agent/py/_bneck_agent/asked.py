"""Whether models are asked for the same again, or for one row at a time: which tensors the first calls of models are given, and whether
weights moved in between.

No tensor is read or kept: a weak reference tells whether one is still the same object, its version whether something was written into it.
"""

import weakref

from . import core

CALLS = 96  # of models from outside all modules, that are looked at
LONG_ENOUGH = 60_000_000  # nanoseconds that all looks may take: a model of thousands of layers takes milliseconds each
KEPT = 1024  # tensors and modules that are told apart
LARGEST = 2000  # modules in a model, of which the weights are looked at
PLAIN = (bool, int, float, str)
LONGEST = 32  # characters of a plain argument

GRADIENTS, TRAINED, RANDOM, TRAINING = 1, 2, 4, 8  # they are recorded; some weight wants them; a dropout draws numbers; train() was called

looked = took = 0
numbers = {}  # id of a tensor or a module -> (weak reference, its number)
given = 0  # the last of these numbers


def wanted():
    """Whether more calls are looked at."""
    return looked < CALLS and took < LONG_ENOUGH


@core.hook("asked")
def called(torch, module, arguments, keywords, caller):
    """Looks at what a frame of the program calls a model with."""
    global looked, took
    if torch.jit.is_tracing():
        return  # sizes are tensors there, and what is done with them is recorded
    began = core.now()
    looked += 1
    versions, how = weights(torch, module)
    if torch.is_grad_enabled():
        how |= GRADIENTS
    if getattr(module, "__dict__", {}).get("training"):
        how |= TRAINING
    key, tensors = [], []
    known = named(torch, key, tensors, (arguments, keywords)) and tensors
    rows = max(rows_of(tensor) for tensor in tensors) if known else None
    place = caller.f_code.co_filename, caller.f_lineno
    core.emit("asked", began, number(module), " ".join(key) if known else "", versions, how, *place, rows)
    took += core.now() - began


def rows_of(tensor):
    """How many rows a layer would multiply with its weights: numbers of tokens are one each."""
    size = tensor.shape[-1] if tensor.is_floating_point() and tensor.dim() else 1
    return tensor.numel() // max(size, 1)


def number(value):
    """What an object is called among those that are alive."""
    global given
    known = numbers.get(id(value))
    if known is not None and known[0]() is value:
        return known[1]
    if len(numbers) >= KEPT:
        numbers.clear()  # the counting goes on: what comes again is another one
    given += 1
    numbers[id(value)] = weakref.ref(value), given
    return given


def named(torch, key, tensors, value, depth=4):
    """Adds to a key what stands for a value, tensors by their numbers and versions, and these to tensors; False where nothing can."""
    kind = type(value)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        if value.is_inference():
            return False
        tensors.append(value)
        key.append("#%d.%d" % (number(value), value._version))
    elif value is None or kind in PLAIN:
        text = repr(value)
        key.append(text)
        return len(text) <= LONGEST
    elif kind in (tuple, list) and depth:
        return all(named(torch, key, tensors, one, depth - 1) for one in value)
    elif kind is dict and depth:
        return all(named(torch, key, tensors, one, depth - 1) for pair in value.items() for one in pair)
    else:
        return False
    return True


def weights(torch, module):
    """The sum of the versions of a model's weights, and what is told of them; no code of the program's is run."""
    versions, how, met, waiting = 0, 0, set(), [module]
    while waiting and len(met) < LARGEST:
        one = waiting.pop()
        held = getattr(one, "__dict__", {})
        if id(one) in met or not isinstance(one, torch.nn.Module):
            continue
        met.add(id(one))
        if "Dropout" in type(one).__name__ and held.get("training") and held.get("p"):
            how |= RANDOM
        for weight in list((held.get("_parameters") or {}).values()):
            if weight is not None and not weight.is_inference():
                versions += weight._version
                how |= TRAINED if weight.requires_grad else 0
        waiting += list((held.get("_modules") or {}).values())
    return versions, how
