"""--calls: exact counts and times of every Python and C function, of every thread, as cProfile has them, in calls.prof.

The counting itself is done in C, by the callbacks of _lsprof.Profiler. From 3.12 on they hang at sys.monitoring under a tool id of
our own, so that cProfile, coverage and debuggers go on beside us; before, each thread's one profile slot is taken, and given up
when the program wants it. calls.prof is a marshalled dict as pstats reads it (Lib/cProfile.py); seconds are of the wall clock.
"""

import _thread
import os
import sys

from . import core, life

NAME = "calls.prof"
EVERY_NS = 5_000_000_000  # between two snapshots of a program that goes on, and 50 times what one costs
TOOLS = (3, 4)  # ids without a meaning in sys.monitoring
DISABLE = "<method 'disable' of '_lsprof.Profiler' objects>"  # ends a profile, and is its last entry
ROOT = os.path.dirname(os.path.dirname(core.PACKAGE)) + os.sep

profilers = {}  # Python's thread ident -> _lsprof.Profiler; a new thread goes on with that of a dead one
tool = None  # our id in sys.monitoring; None before 3.12
helper = None  # a second one, for bound_call
spread = False  # callbacks look up their thread's profiler; else they are bound to the one thread's
last = cost = 0
away = set()  # threads whose profile slot the program has taken, before 3.12
breaks = 0  # how often it took one


@core.hook("calls-begin")
def begin():
    """Starts counting in this process, on this thread and on all that it starts."""
    watch_threads()
    mute_hooks()
    if not hasattr(sys, "monitoring"):
        watch_cprofile()
    life.after_fork.append(forked)
    life.at_end.append(at_end)
    core.before_flush.append(snapshot)
    by_action()
    count()


def by_action():
    """Has functions counted per action of a trainer, too."""
    from . import actioncalls, trainers

    trainers.functions = actioncalls


def count():
    """Puts the callbacks in place."""
    if hasattr(sys, "monitoring"):
        monitor()
    else:
        profiler_here().enable()


def profiler_here():
    """The calling thread's profiler."""
    from _lsprof import Profiler

    ident = _thread.get_ident()
    if ident not in profilers:
        profilers[ident] = Profiler()
    return profilers[ident]


def monitor():
    """Takes a tool id and binds the callbacks to this thread's profiler."""
    global tool, helper
    monitoring = sys.monitoring
    free = [number for number in TOOLS if monitoring.get_tool(number) is None]
    if len(free) < 2:
        core.note("calls-missing", "calls are not counted: the program has taken the free tool ids of sys.monitoring")
        return
    if not callbacks_fit():
        core.note("calls-missing", "calls are not counted: the profiler of Python %s is not the one that is known" % sys.version.split()[0])
        return
    tool, helper = free[:2]
    for number in (tool, helper):
        monitoring.use_tool_id(number, "bottleneck")
    monitoring.register_callback(helper, monitoring.events.CALL, bound_call())
    monitoring.set_events(helper, monitoring.events.CALL)
    bind(lambda name: getattr(profiler_here(), name))
    events = monitoring.events
    began = events.PY_START | events.PY_RESUME | events.PY_THROW | events.CALL
    monitoring.set_events(tool, began | events.PY_RETURN | events.PY_YIELD | events.PY_UNWIND)


CALLBACKS = {  # of _lsprof.Profiler: the events that each is for
    "_pystart_callback": "PY_START PY_RESUME",
    "_pythrow_callback": "PY_THROW",  # where it is missing (3.12, 3.13), _pystart_callback takes a third argument
    "_pyreturn_callback": "PY_RETURN PY_YIELD PY_UNWIND",
    "_ccall_callback": "CALL",
    "_creturn_callback": "C_RETURN C_RAISE",
}


def known(name):
    """The name of the callback that this Python has for another's."""
    from _lsprof import Profiler

    return "_pystart_callback" if name == "_pythrow_callback" and not hasattr(Profiler, name) else name


def callbacks_fit():
    """Tries each callback on a profiler of its own with what sys.monitoring will pass: one that raises would raise in the program."""
    from _lsprof import Profiler

    profiler, code = Profiler(), callbacks_fit.__code__
    further = {"_pystart_callback": (), "_pythrow_callback": (None,), "_pyreturn_callback": (None,)}
    try:
        for name in CALLBACKS:
            getattr(profiler, known(name))(code, 0, *further.get(name, (len, None)))
    except (TypeError, AttributeError):
        return False
    return True


def bind(callback):
    """Registers what callback gives for the name of each of the profiler's."""
    monitoring = sys.monitoring
    for name, kinds in CALLBACKS.items():
        function = callback(known(name))
        for kind in kinds.split():
            monitoring.register_callback(tool, getattr(monitoring.events, kind), function)


def bound_call():
    """What makes calls of C functions bound by hand or by pybind11 balance: CPython (3.12, 3.13) reports such a call with the bound
    method, of which _lsprof takes no notice, but its end with the function, so that the end would be taken for the caller's.
    Each place in the program that calls something else is looked at once."""
    from types import BuiltinFunctionType, MethodType

    skip = sys.monitoring.DISABLE

    def call(code, offset, function, first):
        if type(function) is MethodType and type(function.__func__) is BuiltinFunctionType:
            profiler_here()._ccall_callback(code, offset, function.__func__, first)
            return None
        return skip

    return call


def by_thread(name):
    """A callable that calls the calling thread's own callback, without a line of Python: its type's __call__ is a property
    that reads an attribute of a thread-local object."""
    from operator import attrgetter

    class Local(_thread._local):
        def __init__(self):
            self.callback = getattr(profiler_here(), name)

        __call__ = property(attrgetter("callback"))

    return Local()


# Threads


def watch_threads():
    """Every way to start a thread from Python. Threads of C code that call Python do it while their caller waits (autograd)."""
    threading = sys.modules.get("threading")
    for name in ("start_new_thread", "start_new", "start_joinable_thread"):
        original = getattr(_thread, name, None)
        if original is None:
            continue
        wrapped = starts(original)
        setattr(_thread, name, wrapped)
        if threading is not None and getattr(threading, "_" + name, None) is original:
            setattr(threading, "_" + name, wrapped)


def starts(original):
    """One of the functions of _thread that start one."""

    def start(function, *arguments, **keywords):
        if getattr(function, "__module__", None) in MODULES:
            function, arguments = silent(function, arguments)
        else:
            function = thread_wanted(function) or function
        return original(function, *arguments, **keywords)

    start.__doc__ = original.__doc__
    start.__name__ = start.__qualname__ = original.__name__
    start.__module__ = original.__module__
    return start


MODULES = ("_bneck_agent.ticker", "_bneck_agent.sampler", "_bneck_agent.signals")


@core.hook("calls-thread")
def thread_wanted(function):
    """Before the program starts a thread: what is to run in it."""
    global spread
    if not callable(function):
        return function  # the original says so
    if not hasattr(sys, "monitoring"):
        return counted(function)
    if tool is not None and not spread:
        spread = True
        bind(by_thread)
    return function


def counted(function):
    """Before 3.12: a thread's function, its profile slot taken."""

    def run(*arguments, **keywords):
        profiler = profiler_here()
        profiler.enable()
        try:
            return function(*arguments, **keywords)
        finally:
            profiler.disable()

    return run


def silent(function, arguments):
    """A thread of the agent's own in which nothing is counted, by C functions only: a first Python call would be counted as
    the main thread's. Gives what to start instead."""
    if tool is None or core.here is None or spread:
        return function, arguments
    from collections import deque
    from functools import partial
    from itertools import chain
    from operator import call

    quiet = map(core.enter, map(call, [core.here]))
    return deque, ((chain(quiet, map(call, [partial(function, *arguments[0])])), 0),)


# Before 3.12: the one profile slot


def watch_cprofile():
    """The program's cProfile takes the slot of its thread, and ours takes it back when that ends."""
    from . import imports

    before = imports.WATCHED.get("cProfile")

    def loaded(module):
        if before is not None:
            before(module)
        share_slot(module)

    imports.WATCHED["cProfile"] = loaded
    if "cProfile" in sys.modules:
        loaded(sys.modules["cProfile"])


def share_slot(module):
    """Puts a Profile in place that asks us."""
    original = module.Profile

    class Profile(original):
        __doc__ = original.__doc__

        def enable(self, *arguments, **keywords):
            paused()
            return super().enable(*arguments, **keywords)

        def disable(self):
            try:
                return super().disable()
            finally:
                resumed()

    Profile.__name__, Profile.__qualname__, Profile.__module__ = original.__name__, original.__qualname__, original.__module__
    module.Profile = Profile


@core.hook("calls-paused")
def paused():
    """The program's own profile begins on this thread."""
    global breaks
    core.note("calls-paused", "the program ran cProfile itself: its calls were not counted meanwhile")
    breaks += 1
    away.add(_thread.get_ident())
    profiler_here().disable()


@core.hook("calls-resumed")
def resumed():
    """It has ended."""
    if not life.ended:
        away.discard(_thread.get_ident())
        profiler_here().enable()


# The agent's own work


def mute_hooks():
    """Makes the agent's hooks uncounted (3.11 and later): events of a thread that traces are not reported."""
    import ctypes

    api = ctypes.pythonapi
    if not hasattr(api, "PyThreadState_EnterTracing"):
        return
    here, enter, leave = api.PyThreadState_Get, api.PyThreadState_EnterTracing, api.PyThreadState_LeaveTracing
    here.restype = ctypes.c_void_p
    for function in (enter, leave):
        function.argtypes, function.restype = [ctypes.c_void_p], None
    core.enter, core.leave, core.here = enter, leave, here


# What was counted


@core.hook("calls-snapshot")
def snapshot():
    """At a flush: writes what there is by now, so that a killed program leaves something."""
    global last, cost
    t0 = core.now()
    if t0 - last < max(EVERY_NS, 50 * cost) or core.folder is None:
        return
    last = t0  # a flush between two bytecodes of this one takes none
    write()
    last = core.now()
    cost = last - t0


@core.hook("calls-end")
def at_end():
    """The process ends: functions that still run are taken to end here."""
    global last
    if tool is not None:
        stop()
    for profiler in list(profilers.values()):
        profiler.disable()
    if core.folder is not None:
        last = core.now()
        write()


def stop():
    """Takes the callbacks away and gives the tool id back."""
    global tool, helper
    for number in (tool, helper):
        sys.monitoring.set_events(number, 0)
        sys.monitoring.free_tool_id(number)
    tool = helper = None


@core.hook("calls-fork")
def forked():
    """In a forked child: counts anew."""
    from . import actioncalls

    global spread, last
    last = 0
    if tool is not None:
        stop()
    for profiler in profilers.values():
        if not hasattr(sys, "monitoring"):
            profiler.disable()
    profilers.clear()
    away.clear()
    spread = False
    actioncalls.forked()
    count()


def write():
    """calls.prof, all threads added up, and the functions of actions."""
    import marshal

    from . import actioncalls

    table = gathered()
    actioncalls.take_off(table)
    core.replace(os.path.join(core.folder, NAME), marshal.dumps(without_agent(table)))
    actioncalls.write()


def label(code):
    """A function's name as pstats has it: (file, line, name)."""
    if isinstance(code, str):
        return ("~", 0, code)
    return (code.co_filename, code.co_firstlineno, code.co_name)


@core.uncollected
def entries_of(profiler):
    """What a profiler has counted by now. The collector waits meanwhile: a function that it called would turn _lsprof's tree, which
    is being walked, and entries would be left out."""
    return profiler.getstats()


def gathered():
    """{function: [primitive calls, calls, own, cumulative, {caller: [calls, primitive calls, own, cumulative]}]}."""
    table = {}
    entries = [entry for profiler in list(profilers.values()) for entry in entries_of(profiler)]
    for entry in entries:
        calls = (entry.callcount - entry.reccallcount, entry.callcount, entry.inlinetime, entry.totaltime)
        row = table.setdefault(label(entry.code), [0, 0, 0.0, 0.0, {}])
        row[:4] = [old + new for old, new in zip(row, calls)]
    for entry in entries:
        caller = label(entry.code)
        for called in entry.calls or ():
            calls = (called.callcount, called.callcount - called.reccallcount, called.inlinetime, called.totaltime)
            edges = table.setdefault(label(called.code), [0, 0, 0.0, 0.0, {}])[4]
            edges[caller] = [old + new for old, new in zip(edges.get(caller, (0, 0, 0.0, 0.0)), calls)]
    return table


def without_agent(table):
    """Takes out the agent: what its wrappers called is called by their callers, what it called for itself goes."""
    ours = {key for key in table if key[0].startswith(ROOT)}
    for key, row in table.items():
        if key not in ours:
            for caller in [caller for caller in row[4] if caller in ours]:
                move_edge(table, ours, key, caller)
    kept = {}
    for key, row in table.items():
        if key not in ours and row[1] > 0 and (row[4] or key[2] != DISABLE):
            kept[key] = (row[0], row[1], row[2], row[3], {caller: tuple(edge) for caller, edge in row[4].items()})
    return kept


def move_edge(table, ours, key, caller):
    """Gives an edge from one of our functions to those who called it, or takes it off the callee."""
    row = table[key]
    edge = row[4].pop(caller)
    if not programs(key):
        row[:4] = [row[0] - edge[1], row[1] - edge[0], max(0.0, row[2] - edge[2]), max(0.0, row[3] - edge[3])]
        return
    callers = {}
    outer(table, ours, caller, callers, set())
    total = sum(callers.values()) or 1  # a profile that ended between can leave callers of no call
    for above, calls in callers.items():
        share = [value * calls / total for value in edge]
        share[:2] = [round(share[0]), round(share[1])]
        row[4][above] = [old + new for old, new in zip(row[4].get(above, (0, 0, 0.0, 0.0)), share)]


def outer(table, ours, function, callers, seen):
    """Adds to callers the calls of one of our functions by those that are not ours, through others of ours."""
    seen.add(function)
    for caller, edge in table[function][4].items():
        if caller not in ours:
            callers[caller] = callers.get(caller, 0) + edge[0]
        elif caller not in seen:
            outer(table, ours, caller, callers, seen)


def programs(key):
    """Whether a function that our code called is one of the program's, behind a wrapper; not C code or the standard library."""
    file = key[0]
    if file == "~":
        return False
    return file.startswith("<") or os.sep + "site-packages" + os.sep in file or not file.startswith(tuple(core.inner[1:3]))
