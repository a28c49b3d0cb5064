"""--calls: exact counts and times of every Python and C function, of every thread, as cProfile has them, in calls.prof.

The counting itself is done in C, by the callbacks of _lsprof.Profiler. From 3.12 on they hang at sys.monitoring under a tool id of
our own (toolids.py), so that cProfile, coverage and debuggers go on beside us; before, each thread's one profile slot is taken, and given
up when the program wants it. calls.prof is a marshalled dict as pstats reads it (Lib/cProfile.py); seconds are of the wall clock.
"""

import _thread
import os
import sys

from . import callthreads, core, life, toolids
from .calltable import gathered, without_agent

NAME = "calls.prof"
EVERY_NS = 5_000_000_000  # between two snapshots of a program that goes on, and 50 times what one costs

profilers = {}  # Python's thread ident -> _lsprof.Profiler; a new thread goes on with that of a dead one
tool = None  # toolids.Listener from 3.12 on, while calls are counted
helper = None  # a second one, by another id, for bound_call
spread = False  # callbacks look up their thread's profiler; else they are bound to the one thread's
last = cost = 0
away = set()  # threads whose profile slot the program has taken, before 3.12
breaks = 0  # how often it took one


@core.hook("calls-begin")
def begin():
    """Starts counting in this process, on this thread and on all that it starts."""
    mute_hooks()
    callthreads.watch()
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
    """Has the callbacks of this thread's profiler called for each event."""
    global tool, helper
    if not callbacks_fit():
        core.note("calls-missing", "calls are not counted: the profiler of Python %s is not the one that is known" % sys.version.split()[0])
        return
    helper = toolids.listen({"CALL": bound_call()}, lost)
    if helper is not None:
        tool = toolids.listen(by_event(lambda name: getattr(profiler_here(), name)), lost)
    if tool is None:
        stop()
        text = "calls are not counted: that takes two tool ids of sys.monitoring, and the program has taken too many (%s)"
        core.note("calls-missing", text % toolids.taken())


@core.hook("calls-lost")
def lost():
    """The program has taken a tool id, and there is no other."""
    global breaks
    if tool is not None:
        stop()
        breaks += 1
        text = "calls were counted until the program took the tool ids of sys.monitoring (%s), and not after that"
        core.note("calls-paused", text % toolids.taken())


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


def by_event(callback):
    """{event: what callback gives for the name of its callback}."""
    return {kind: function for name, kinds in CALLBACKS.items() for function in [callback(known(name))] for kind in kinds.split()}


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
    stop()
    for profiler in list(profilers.values()):
        profiler.disable()
    if core.folder is not None:
        last = core.now()
        write()


def stop():
    """Takes the callbacks away and gives the tool ids back."""
    global tool, helper
    for listener in (tool, helper):
        if listener is not None:
            toolids.stop(listener)
    tool = helper = None


@core.hook("calls-fork")
def forked():
    """In a forked child: counts anew."""
    from . import actioncalls

    global spread, last
    last = 0
    stop()
    for profiler in profilers.values():
        if not hasattr(sys, "monitoring"):
            profiler.disable()
    profilers.clear()
    away.clear()
    spread = False
    actioncalls.forked()
    callthreads.watch()
    count()


def write():
    """calls.prof, all threads added up, and the functions of actions."""
    import marshal

    from . import actioncalls

    table = gathered(list(profilers.values()))
    actioncalls.take_off(table)
    core.replace(os.path.join(core.folder, NAME), marshal.dumps(without_agent(table)))
    actioncalls.write()
