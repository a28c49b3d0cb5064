"""--calls in threads: each has a profiler of its own from its first call on, and no tracer of the program's sees how it came to that."""

import _thread
import functools
import itertools
import operator
import sys

from . import calls, core, imports, signals

STARTERS = ("start_new_thread", "start_new", "start_joinable_thread")  # of _thread, by which every thread of Python starts
originals = {name: getattr(_thread, name) for name in STARTERS if hasattr(_thread, name)}
placed = {}  # name -> what stands for it now


def watch():
    """Sees threads come. Those of C code that call Python do it while their caller waits (autograd)."""
    if hasattr(sys, "monitoring"):
        put(starter if core.here is not None else loud_starter)
        signals.start_thread = start_silent
        return
    put(slot_starter)
    before = imports.WATCHED.get("threading")
    if before is not count_threads:
        imports.WATCHED["threading"] = count_threads
        if "threading" in sys.modules:
            count_threads(sys.modules["threading"])


def put(make):
    """Puts what make gives for each original in its place, in both modules; what the program has put there stays."""
    threading = sys.modules.get("threading")
    for name, original in originals.items():
        ours, placed[name] = (original, placed.get(name, original)), make(original)
        for module, attribute in ((_thread, name), (threading, "_" + name)):
            if getattr(module, attribute, None) in ours:
                setattr(module, attribute, placed[name])


# From 3.12 on: what is bound to the one thread's profiler must not be called by another


class Starter(map):
    """One of the functions of _thread: has spread called, unseen, and is the original. Of C parts alone, for a function of Python would
    be seen by the program's tracer: calling it takes the map's next value, and taking that calls what it is made of."""

    __call__ = property(next)


def starter(original):
    """A Starter. Events of a thread that traces already reach nobody; nothing between raises (signals.BY_C)."""
    here = functools.partial(map, operator.call, itertools.repeat(core.here))
    parts = map(core.enter, here()), map(operator.call, itertools.repeat(spread)), map(core.leave, here()), itertools.repeat(original)
    made = Starter(operator.itemgetter(3), zip(*parts))
    functools.update_wrapper(made, original, ("__module__", "__name__", "__qualname__", "__doc__"), ())
    return made


def loud_starter(original):
    """The same where the agent cannot be made unseen."""

    @functools.wraps(original)
    def start(*arguments, **keywords):
        spread()
        return original(*arguments, **keywords)

    return start


@core.hook("calls-spread")
def spread():
    """Before the program's second thread: from here on each looks up its own profiler."""
    put(lambda original: original)
    if calls.tool is not None and not calls.spread:
        calls.spread = True
        calls.tool.bind(calls.by_event(by_thread))


def by_thread(name):
    """A callable that calls the calling thread's own callback, without a line of Python: its type's __call__ is a property
    that reads an attribute of a thread-local object."""

    class Local(_thread._local):
        def __init__(self):
            self.callback = getattr(calls.profiler_here(), name)

        __call__ = property(operator.attrgetter("callback"))

    return Local()


def start_silent(function, arguments):
    """Starts a thread of the agent's own in which nothing is counted, by C functions only: a first Python call would be counted as the
    main thread's."""
    if calls.tool is None or core.here is None or calls.spread:
        return originals["start_new_thread"](function, arguments)
    from collections import deque

    quiet = map(core.enter, map(operator.call, [core.here]))
    silent = itertools.chain(quiet, map(operator.call, [functools.partial(function, *arguments)]))
    return originals["start_new_thread"](deque, (silent, 0))


# Before 3.12: every thread's profile slot is taken in that thread


def count_threads(module):
    """Threads of threading start counting where they begin: before the program's tracer can be there."""
    for name, original in originals.items():
        if hasattr(module, "_" + name):
            setattr(module, "_" + name, original)
    module.Thread._bootstrap = functools.wraps(module.Thread._bootstrap)(counted(module.Thread._bootstrap))


def slot_starter(original):
    """Threads of _thread. Their function is wrapped where they are started, which a tracer of the program's sees."""

    @functools.wraps(original)
    def start(function, *arguments, **keywords):
        return original(thread_wanted(function) or function, *arguments, **keywords)

    return start


@core.hook("calls-thread")
def thread_wanted(function):
    """What is to run in a thread that the program starts. What cannot be called the original refuses in its own words."""
    return counted(function) if callable(function) else function


def counted(function):
    """A thread's function, its profile slot taken."""

    def run(*arguments, **keywords):
        profiler = calls.profiler_here()
        profiler.enable()
        try:
            return function(*arguments, **keywords)
        finally:
            profiler.disable()

    return run
