"""Jacobians that torch computes backward: how many numbers a function gives and takes, and how long that lasts.

No function of torch's is replaced. The interpreter tells of calls of the few that compute them (sys.monitoring, Python 3.12 and later), and
what these hold then is read: numbers of elements, no tensor.
"""

import sys
import types

from . import core, toolids

CALLS = 512  # that are told
KEPT = 64  # calls that go on, of functions that may have raised
AT_ONCE, BY_ROW = 0, 1

begun = {}  # id of a frame that goes on -> when it began
passing = {}  # id of a frame that goes backward for the rows -> (when its function was called, when it began, results, inputs)
told = 0
listener = None
starts, whole, backward = set(), set(), set()  # code of jacrev's calls, of torch.autograd.functional.jacobian, and of what goes backward


def install(torch):
    """Listens to these functions alone; all other code runs as before."""
    global listener
    if toolids.monitoring is None:
        return
    find(torch)
    if not starts | whole:
        return
    listener = toolids.listen({"PY_START": start, "PY_RETURN": end}, ended, everywhere=(), local=("PY_START", "PY_RETURN"))
    for code in starts | whole | backward if listener else ():
        toolids.choose(listener, code)


def find(torch):
    """Looks up the code of the functions that this torch has."""
    transforms = sys.modules.get("torch._functorch.eager_transforms")
    outer = getattr(getattr(transforms, "jacrev", None), "__code__", None)
    for called in nested(outer, "wrapper_fn"):
        passes = nested(called, "compute_jacobian_stacked") + nested(called, "compute_jacobian_preallocate_and_copy")
        if passes:
            starts.add(called)
            backward.update(passes)
    functional = getattr(getattr(torch.autograd, "functional", None), "jacobian", None)
    if getattr(functional, "__code__", None) is not None:
        whole.add(functional.__code__)


def nested(code, name):
    """The code of functions of a name that are defined within a function."""
    return [one for one in getattr(code, "co_consts", ()) if isinstance(one, types.CodeType) and one.co_name == name]


def start(code, _):
    """One of the functions is called."""
    began(sys._getframe(1), code)


def end(code, _, __):
    """It returns."""
    over(sys._getframe(1), code)


@core.hook("jacobian-began")
def began(frame, code):
    """Notes when, and how many numbers the function gives and takes."""
    now = core.now()
    if code not in backward:
        if len(begun) >= KEPT:
            begun.clear()
        begun[id(frame)] = now
        return
    held = frame.f_locals
    given, taken = held.get("flat_output_numels"), held.get("flat_primals")
    if given and taken:
        if len(passing) >= KEPT:
            passing.clear()
        passing[id(frame)] = begun.pop(id(frame.f_back), now), now, sum(given), numbers(taken)


@core.hook("jacobian-over")
def over(frame, code):
    """Tells of a Jacobian that is there."""
    global listener, told
    if code in backward:
        known = passing.pop(id(frame), None)
        row = known and (*known, AT_ONCE)
    else:
        at = begun.pop(id(frame), None)
        held = frame.f_locals if code in whole else {}
        given, taken = held.get("outputs"), held.get("inputs")
        known = at and given and taken and held.get("strategy", "reverse-mode") == "reverse-mode"
        row = (at, at, numbers(given), numbers(taken), AT_ONCE if held.get("vectorize") else BY_ROW) if known else None
    if not row:
        return
    called, began, given, taken, way = row
    core.emit("jacobian", called, began, core.now(), way, given, taken, *core.place())
    told += 1
    if told >= CALLS and listener is not None:
        toolids.stop(listener)
        listener = None


def numbers(tensors):
    """How many elements tensors have."""
    return sum(one.numel() for one in tensors)


def ended():
    """The program has all tool ids."""
    global listener
    listener = None
