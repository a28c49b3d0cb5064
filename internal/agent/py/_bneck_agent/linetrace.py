"""--lines before Python 3.12: by sys.settrace, the one slot for a tracer that a thread has. One of the program's comes first: with it,
ours ends in its thread."""

import functools
import sys
from time import perf_counter as now

from . import core, imports, linenames, lines
from .lines import HITS, NEXT, OUTER, OUTSIDE, ROW, T0, TIME

set_trace, get_trace = sys.settrace, sys.gettrace
ours = set()  # ids of our tracers
over = False


def begin():
    """Takes the slot of this thread and of those that come."""
    other = get_trace()
    if other is not None:
        core.note("lines-missing", "lines are not counted: another tracer (%s) has this process" % owner(other))
        return
    hide(sys, "settrace", settrace)
    hide(sys, "gettrace", gettrace)
    before = imports.WATCHED.get("threading")

    def loaded(module):
        if before is not None:
            before(module)
        watch_threads(module)

    imports.WATCHED["threading"] = loaded
    if "threading" in sys.modules:
        watch_threads(sys.modules["threading"])
    set_trace(tracer())


def hide(module, name, function):
    """Puts a function in the place of a module's."""
    setattr(module, name, functools.wraps(getattr(module, name))(function))


def owner(tracer):
    """A tracer's name."""
    return "%s of %s" % (getattr(tracer, "__qualname__", type(tracer).__name__), getattr(tracer, "__module__", None))


def settrace(function):
    """The program's sys.settrace, the first time. After that it is the interpreter's again: a tracer would see ours."""
    if function is not None and function is not begin_thread:
        taken(function)
    elif function is None and ours_here():
        return None
    return set_trace(function)


def ours_here():
    """Whether this thread's tracer is ours."""
    return id(get_trace()) in ours


@core.hook("lines-taken")
def taken(function):
    """The program takes the slot of its thread."""
    sys.settrace, sys.gettrace = set_trace, get_trace
    text = "lines were counted until the program's own tracer (%s) took its thread's one slot for that (Python before 3.12)"
    core.note("lines-paused", text % owner(function))


def gettrace():
    """The program's sys.gettrace, which does not see us."""
    function = get_trace()
    return None if id(function) in ours else function


@core.hook("lines-threads")
def watch_threads(module):
    """Has threads of threading traced from their beginning, unless the program has its own tracer for them."""
    if module._trace_hook is None:
        module._trace_hook = begin_thread
    if hasattr(module, "gettrace"):
        original = module.gettrace

        def thread_tracer():
            function = original()
            return None if function is begin_thread else function

        hide(module, "gettrace", thread_tracer)


def begin_thread(frame, event, _):
    """The first call of a new thread."""
    set_trace(None if over else tracer())


ours.add(id(begin_thread))


def tracer():
    """The tracer of the calling thread, made once."""
    thread = lines.mine()
    if not hasattr(thread, "tracer"):
        thread.tracer = new_tracer(thread)
        ours.add(id(thread.tracer))
    return thread.tracer


def new_tracer(thread):
    """Looks at each call, and has the lines of chosen functions counted."""
    chosen, functions = lines.chosen, thread.traced
    dull, dull_files = linenames.dull, linenames.dull_files

    def trace(frame, event, _):
        code = frame.f_code
        if id(code) not in chosen and (code.co_name in dull and code.co_filename in dull_files or refused(code, frame)):
            return None
        if id(code) not in functions:
            functions[id(code)] = function(thread, code)
        begun, within = functions[id(code)][:2]
        begun(frame)
        return within

    return trace


def function(thread, code):
    """The tracers of a function's frames in one thread: for their calls, and for what is within. What is returned does not matter: None
    leaves a frame its tracer."""
    thread.states[id(code)] = state = lines.new_state(code)
    first, outer, outside = code.co_firstlineno, state[OUTER], state[OUTSIDE]
    row, t0 = outside, 0.0

    def begun(frame):
        nonlocal row, t0
        t = now()
        row[TIME] += t - t0
        outer.append(row)
        number = frame.f_lineno  # of a generator that goes on, the line where it stopped
        row, t0 = outside if number == first else outside[NEXT].get(number, outside), t

    def within(frame, event, _):
        nonlocal row, t0
        t = now()
        row[TIME] += t - t0
        t0 = t
        if event == "line":
            try:
                row = row[NEXT][frame.f_lineno]
            except KeyError:  # a line that the code does not name
                return
            row[HITS] += 1
        elif event == "return":
            row = outer.pop() if outer else outside

    def save():
        state[T0], state[ROW] = t0, row

    return begun, within, save


no = {}  # id of a code object whose name fits and which is not meant -> the object


def refused(code, frame):
    """Whether a function is not to be counted."""
    if id(code) in no:
        return True
    if lines.named(code, frame):
        return False
    if code.co_name not in linenames.dull:
        no[id(code)] = code
    return True


def stop():
    """Gives the slot back. That it is not ours any more can only be seen here where C code has taken it."""
    global over
    function = get_trace()
    if sys.settrace is not set_trace and id(function) not in ours:
        reason = "an exception, such as a handler of signals raises, has ended the tracer"
        if function is not None:
            reason = "another tracer (%s) has taken this process" % owner(function)
        core.note("lines-paused", "lines were not counted to the end: " + reason)
    over = True
    if id(function) in ours:
        set_trace(None)
