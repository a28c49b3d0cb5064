"""Whether models, or parts of them, are asked for the same again, or for one row at a time: which tensors the first calls of models are
given, and whether weights moved in between; and which weights get gradients that no optimizer uses.

No tensor is kept: a small one in this machine's memory is known by what stands in it. Of others a weak reference tells whether one is still
the same object, its version whether something was written into it. Fused optimizers, what writes by way of .data, arrays that share a
tensor's memory and replayed graphs of a device change no version. So an optimizer's steps count as writes into its parameters, and of
tensors in this machine's memory a few bytes are compared. On a device none are read, as that would wait for it: which calls these are is
told. What inference_mode makes has no version: that nothing in place writes into tensors of its kind is for traces to tell.

A part is a module that a model calls with some of what it was given itself, and not with all of it: as the encoder of a text that stays
while a picture is drawn step by step. What a part has answered again stands for its question: modules that are given it are parts, too.
"""

import sys
import threading
import weakref

from . import core, denormals
from .pieces import PIECE, bytes_of

CALLS = 96  # of models from outside all modules, that are looked at
LONG_ENOUGH = 60_000_000  # nanoseconds that all looks may take: a model of thousands of layers takes milliseconds each
KEPT = 1024  # tensors and modules that are told apart
LARGEST = 2000  # modules in a model, of which the weights are looked at
MASK = (1 << 64) - 1
PLAIN = (bool, int, float, str)
LONGEST = 32  # characters of a plain argument
PIECES, PIECES_OF_WEIGHTS = 32, 4  # of a tensor in this machine's memory, that are compared
WHOLE = 1024  # pieces of one that is read whole: it is known by its bytes
PARTS = 512  # calls of parts, that are told
MATRIX = 1 << 18  # numbers in a matrix, from which it is told that most of it is zeros
FEW = 0.1  # of the numbers of it that are read, up to which they are few
MORE_PIECES = 4096  # of one that looks as if nothing stood in it
SIZES = 64  # of weights, of which it is told that nobody uses their gradients
ANSWERED = b"@"  # in place of a tensor's bytes: it is the answer to a question that was asked before

GRADIENTS, TRAINED, RANDOM, TRAINING = 1, 2, 4, 8  # they are recorded; some weight wants them; a dropout draws numbers; train() was called
UNREAD = 16  # of some tensor no bytes were compared
LOOSE_INTEGERS, LOOSE_FLOATS = 32, 64  # some tensor that was not read whole has no version, as inference_mode made it
OF_ANSWERS = RANDOM | TRAINING | UNREAD | LOOSE_INTEGERS | LOOSE_FLOATS  # also told of what is asked about an answer

looked = took = 0
numbers = {}  # id of a tensor or a module -> (weak reference, its number)
given = 0  # the last of these numbers
states = {}  # number of a tensor or a module -> [what is known of it at the last look, how often that has changed]
moved = {}  # id of an optimizer that has stepped since the last look -> [weak reference, its steps since]
moves = {}  # id of a parameter -> the steps of optimizers that own it
stepped = 0  # steps of all optimizers, and backward passes before the first one
parts = 0  # calls of parts that were told
questions = set()  # that parts were asked: (number of the module, key, changes of its weights)
answers = {}  # id of an answer to one of them -> [weak reference, its version, what stands for it in a key, what is told of it]
unused = {}  # number of a module -> what was told last of its weights whose gradients no optimizer uses


class Running(threading.local):
    """A thread's call of a model that is being looked at."""

    given = ()  # ids of the tensors that it was given, or holds as buffers of its own; none while no parts are looked for


running = Running()


def wanted():
    """Whether more calls are looked at."""
    return looked < CALLS and took < LONG_ENOUGH


@core.hook("asked")
def called(torch, module, arguments, keywords, caller):
    """Looks at what a frame of the program calls a model with: what ended() tells, if anything."""
    global looked, took
    if torch.jit.is_tracing():
        return None  # sizes are tensors there, and what is done with them is recorded
    began = core.now()
    looked += 1
    settle()
    if not moves:  # without an optimizer, after whose steps it is looked at
        denormals.look()
    if denormals.due():
        denormals.count(module, arguments, caller)
    versions, how, sizes = weights(torch, module)
    key, tensors, before = [], [], given
    known = named(torch, key, tensors, (arguments, keywords)) and tensors
    rows = max(rows_of(tensor) for tensor, _ in tensors) if known else None
    # What keeps its keys and values may be given these, or a mask of all tokens, beside the newest token: the fewest rows tell it.
    fewest = min([rows_of(tensor) for tensor, _ in tensors if tensor.dim()] or [rows]) if known else None
    how |= told(tensors)
    place = caller.f_code.co_filename, caller.f_lineno
    key = " ".join(key) if known else ""
    stay = [one for one in tensors if one[1] and is_matrix(one[0]) and number(one[0]) <= before]  # not made for this call
    zeros = mostly_zeros(torch, stay + buffers(torch, module))
    row = (began, number(module), key, versions, how, *place, rows, fewest, *zeros)
    tell_unused(number(module), type(module).__name__, place, sizes)
    if known and tensors and parts < PARTS:
        held = [one for one in (getattr(module, "__dict__", {}).get("_buffers") or {}).values() if type(one) is torch.Tensor]
        running.given = {id(one) for one in held}.union(id(one) for one, _ in tensors)
    took += core.now() - began
    return row


@core.hook("asked-part")
def part(torch, module, arguments, keywords, caller):
    """What part_ended() tells of a part that a model's own code calls; None where it is given something else, or all of it."""
    global took, parts
    began, key, tensors = core.now(), [], []
    if not named(torch, key, tensors, (arguments, keywords)) or not {id(one) for one, _ in tensors} < running.given:
        return None
    parts += 1
    versions, how, _ = weights(torch, module)
    how |= told(tensors)
    question = number(module), " ".join(key), versions
    again = question in questions
    if not again and len(questions) < KEPT:
        questions.add(question)
    took += core.now() - began
    # Parts of a part are told where that is asked something new, and some of them not all of it.
    inside = () if again or len(tensors) < 2 else {id(one) for one, _ in tensors}
    return (began, *question, how, caller.f_code.co_filename, caller.f_lineno), again, inside


@core.hook("asked-ended")
def ended(row):
    """A call of a model is over: tells of it."""
    core.emit("asked", *row, core.now())


@core.hook("asked-part-ended")
def part_ended(row, again, answer):
    """The same of a part's. Where it was asked before, its answer stands for the question from now on."""
    core.emit("part", *row, core.now())
    if again and answer is not None and type(answer) is sys.modules["torch"].Tensor:
        if len(answers) >= KEPT:
            answers.clear()
        name = "@%x" % (hash(row[1:4]) & MASK)
        answers[id(answer)] = [weakref.ref(answer), version_of(answer), name, row[4] & OF_ANSWERS]
        running.given = running.given.union((id(answer),))


def told(tensors):
    """What cannot be told of tensors, of which some bytes were read."""
    how = 0
    for tensor, some in tensors:
        if some is ANSWERED:
            how |= answers.get(id(tensor), (UNREAD,))[-1]  # another thread may have cleared them
        elif tensor.numel() and not some:
            how |= UNREAD
        if tensor.is_inference() and len(some) < tensor.numel() * tensor.element_size():
            how |= LOOSE_FLOATS if tensor.is_floating_point() else LOOSE_INTEGERS
    return how


def rows_of(tensor):
    """How many rows a layer would multiply with its weights: numbers of tokens are one each."""
    size = tensor.shape[-1] if tensor.is_floating_point() and tensor.dim() else 1
    return tensor.numel() // max(size, 1)


def is_matrix(tensor):
    """Whether this is a large matrix of numbers in 32 bits."""
    return tensor.dim() == 2 and tensor.numel() >= MATRIX and tensor.is_floating_point() and tensor.element_size() == 4


def modules_in(torch, module):
    """What the modules of a model hold, by their own dictionaries, and the modules; no code of the program's is run."""
    met, waiting = set(), [module]
    while waiting and len(met) < LARGEST:
        one = waiting.pop()
        held = getattr(one, "__dict__", {})
        if id(one) in met or not isinstance(one, torch.nn.Module):
            continue
        met.add(id(one))
        yield one, held
        waiting += list((held.get("_modules") or {}).values())


def buffers(torch, module):
    """The large matrices that a model's modules hold beside their weights, with some of their bytes."""
    held = [one for _, held in modules_in(torch, module) for one in list((held.get("_buffers") or {}).values())]
    large = [one for one in held if type(one) is torch.Tensor and is_matrix(one)]
    return [(one, bytes_of(torch, one, PIECES)) for one in large[:PIECES]]


def mostly_zeros(torch, tensors):
    """Rows and columns of the largest matrix of which nearly all that is read is zero, and not all; Nones for none."""
    best = None
    for tensor, some in tensors:  # no bytes of one on a device, or not in one piece
        if some and is_matrix(tensor) and (best is None or tensor.numel() > best.numel()):
            read = memoryview(some).cast("i")
            few = sum(1 for one in read if one) <= FEW * len(read)
            if few and (some.strip(b"\0") or bytes_of(torch, tensor, MORE_PIECES).strip(b"\0")):
                best = tensor
    return (None, None) if best is None else tuple(best.shape)


def version_of(tensor):
    """How often something was written into a tensor; 0 of one that does not count."""
    return 0 if tensor.is_inference() else tensor._version


def number(value):
    """What an object is called among those that are alive."""
    global given
    known = numbers.get(id(value))
    if known is not None and known[0]() is value:
        return known[1]
    if len(numbers) >= KEPT:
        numbers.clear()  # the counting goes on: what comes again is another one
        states.clear()
    given += 1
    numbers[id(value)] = weakref.ref(value), given
    return given


def named(torch, key, tensors, value, depth=4):
    """Adds to a key what stands for a value, and to tensors those in it with some of their bytes; False where nothing can. A tensor that is
    read whole stands for its bytes, another one for its number and how often it has changed."""
    kind = type(value)
    answer = answers.get(id(value))
    if answer is not None and answer[0]() is value and answer[1] == version_of(value):
        tensors.append((value, ANSWERED))
        key.append(answer[2])
    elif kind is torch.Tensor or kind is torch.nn.Parameter:
        size = value.numel() * value.element_size()
        some = bytes_of(torch, value, WHOLE if size <= WHOLE * PIECE else PIECES)
        tensors.append((value, some))
        if some and len(some) == size:
            key.append("=%x" % (hash((value.dtype, tuple(value.shape), some)) & MASK))
        else:
            name, version = number(value), version_of(value)
            key.append("#%d.%d" % (name, changes(name, (version, moves.get(id(value), 0), some))))
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
    """How often a model's weights were others than at the look before, what is told of them, and how many of each size have gradients that
    no optimizer has used so far; no code of the program's is run."""
    versions = steps = 0
    how = GRADIENTS if torch.is_grad_enabled() else 0
    if getattr(module, "__dict__", {}).get("training"):
        how |= TRAINING
    read, sizes = [], {}
    for one, held in modules_in(torch, module):
        if "Dropout" in type(one).__name__ and held.get("training") and held.get("p"):
            how |= RANDOM
        for weight in list((held.get("_parameters") or {}).values()):
            if weight is None or weight.is_inference():
                continue
            own = moves.get(id(weight), 0)
            versions, steps = versions + weight._version, steps + own
            how |= TRAINED if weight.requires_grad else 0
            if not own and type(weight) is torch.nn.Parameter and weight.requires_grad and weight.is_leaf and weight.grad is not None:
                sizes[weight.numel()] = sizes.get(weight.numel(), 0) + 1
            some = b"" if own else bytes_of(torch, weight, PIECES_OF_WEIGHTS)
            read.append(some)
            how |= 0 if own or some else UNREAD
    alone = stepped if how & TRAINED and how & UNREAD and not steps else -1  # who updates it may own copies of its weights
    return changes(number(module), (versions, steps, b"".join(read), alone)), how, sizes


def tell_unused(name, kind, place, sizes):
    """Tells of a model's weights that have gradients and were changed by no optimizer, where some have changed others, by their numbers of
    elements; again where these change, as by an optimizer that steps later than the others."""
    if moves and unused.get(name, {}) != sizes and len(unused) < KEPT:
        unused[name] = sizes
        core.emit("unused", core.now(), name, kind, *place, sorted(sizes.items(), reverse=True)[:SIZES])


def changes(name, state):
    """How often what has this number was in another state than at the look before."""
    known = states.get(name)
    if known is None:
        known = states[name] = [state, 0]
    elif known[0] != state:
        known[:] = state, known[1] + 1
    return known[1]


def updated(optimizer):
    """An optimizer has stepped."""
    global stepped
    if not wanted():
        return
    stepped += 1
    known = moved.get(id(optimizer))
    if known is None or known[0]() is not optimizer:
        known = moved[id(optimizer)] = [weakref.ref(optimizer), 0]
    known[1] += 1


def backward():
    """A backward pass of a program without an optimizer is over: it may update its weights by hand."""
    global stepped
    stepped += 1


def settle():
    """Notes the steps of optimizers at their parameters."""
    for reference, steps in moved.values():
        optimizer = reference()
        for group in () if optimizer is None else optimizer.param_groups:
            for weight in group["params"]:
                moves[id(weight)] = moves.get(id(weight), 0) + steps
    moved.clear()
