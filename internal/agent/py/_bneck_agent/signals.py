"""Keeps handlers of signals out of the agent's hooks: what they raise is the program's, and must reach it.

The interpreter runs a handler between any two bytecodes of the main thread, a hook's too, which would be cut off in the middle and take
the handler's exception for a failure of its own. So a handler that comes up within a hook runs at that hook's end. What C code
calls, and drops the exceptions of, has no end that could raise; there the exception is raised once the interpreter is back in the
program. What takes seconds holds no handler up: it runs there at once.
"""

import _signal
import _thread
import functools
import os
import sys
import time
from collections import deque

LIMIT_NS = 5_000_000_000  # a handler that has waited so long waits no more: the hook may hang
# Hooks that the interpreter calls from C, where exceptions end: how handlers run after them ("hook": another one follows).
BY_C = {"fork-before": "hook", "fork-parent": "thread", "fork-child": "thread", "gc": "thread", "calls-spread": "thread"}
PACKAGE = sys._getframe().f_code.co_filename.rpartition(os.sep)[0] + os.sep  # how the agent's frames name its files

guard = None  # the code of the function around every hook (core.hook)
by_c = {}  # code of other functions of the agent that C calls: the same ("call": the interpreter's next call between bytecodes)
long = set()  # code of functions within hooks that take seconds
waiting = deque()  # (handler, signal's number, when, process)
main = 0  # the thread that runs handlers, once one has had to wait
start_thread = _thread.start_new_thread  # for threads of the agent's own: --calls counts nothing in them (callthreads.py)
passing = None  # the exception of a handler that ran within a hook all the same


class Handler:
    """Stands in the interpreter's table for a handler of the program's. What is called is what the property gives, so that the handler
    runs without a frame of ours below it."""

    __slots__ = ("own",)

    def __init__(self, own):
        self.own = own

    def choose(self):
        """What the interpreter shall call now."""
        where = within(sys._getframe(0).f_back)
        if not where:
            return self.own
        if where == "now" or waiting and time.monotonic_ns() - waiting[0][2] > LIMIT_NS:
            return self.run
        if where == "thread":
            return self.run_apart
        return self.wait if where == "hook" else self.wait_and_ask

    __call__ = property(choose)

    def run(self, number, frame):
        """Runs the handler within a hook."""
        passed(self.own, number, frame)

    def run_apart(self, number, frame):
        """Runs the handler where its exception would be dropped."""
        apart(self.own, number, frame)

    def wait(self, number, _):
        """Leaves the handler to the end of the hook that runs."""
        global main
        main = _thread.get_ident()
        waiting.append((self.own, number, time.monotonic_ns(), os.getpid()))

    def wait_and_ask(self, number, frame):
        """The same where nothing follows that would run it."""
        self.wait(number, frame)
        ask(within(frame))


def install():
    """Has every handler of the program, those that are set later too, stand behind one of ours. Programs see their own."""
    set_handler, get_handler = _signal.signal, _signal.getsignal

    @functools.wraps(set_handler)
    def signal(*arguments):
        if waiting:
            release()  # the interpreter itself first runs what has come for the handler that goes
        if len(arguments) == 2 and callable(arguments[1]):
            arguments = arguments[0], Handler(arguments[1])
        return own(set_handler(*arguments))

    @functools.wraps(get_handler)
    def getsignal(*arguments):
        return own(get_handler(*arguments))

    _signal.signal, _signal.getsignal = signal, getsignal
    for number in range(1, _signal.NSIG):
        handler = get_handler(number)
        if callable(handler) and own(handler) is handler:
            try:
                set_handler(number, Handler(handler))
            except ValueError:
                return  # another interpreter of the process than the first, in which alone handlers are set


def own(handler):
    """The program's handler, which may stand behind one of the agent's in the process's first interpreter."""
    kind = type(handler)
    return handler.own if kind is Handler or (kind.__module__, kind.__name__) == (Handler.__module__, "Handler") else handler


def takes_long(function):
    """Marks a function within a hook that takes seconds: handlers run in it at once, and may end it."""
    long.add(function.__code__)
    return function


def within(frame):
    """Empty where a handler may run at once; "hook" where one runs, at whose end it can; "now" in what takes long; else how exceptions
    reach the program."""
    found = ""
    while frame is not None:
        code = frame.f_code
        if code is guard:
            variables = frame.f_locals
            if variables.get("busy"):
                return "hook"
            found = found or BY_C.get(variables.get("name"), "")
        elif code in long:
            return found or "now"
        else:
            found = found or by_c.get(code, "")
        frame = frame.f_back
    return found


def passed(function, *arguments):
    """Calls what handlers run in within a hook, whose guard is to know their exceptions."""
    global passing
    try:
        function(*arguments)
    except Exception as error:  # no guard takes others for a failure
        passing = error
        raise


def apart(function, *arguments):
    """Calls what handlers run in where C drops exceptions; at once, for the program may block as soon as C returns."""
    try:
        function(*arguments)
    except BaseException as error:
        later(error, "thread")


def release():
    """At a hook's end, where handlers wait."""
    if _thread.get_ident() != main:
        return
    frame = sys._getframe(1)  # the guard, which the interpreter itself may have called
    where = within(frame)
    if where == "thread":
        apart(run, frame)
    elif where == "now":
        passed(run, frame)
    elif where:
        ask(where)
    else:
        run(frame)


def run(frame):
    """Runs the handlers that wait, as if the signals came now."""
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    try:
        while waiting:
            handler, number, _, process = waiting.popleft()
            if process == os.getpid():  # a forked child has no signals of its parent's
                handler(number, frame)
    finally:
        if waiting:
            ask("call")  # one handler has raised, the next one's turn comes when the program has had that


class Call:
    """Its truth value is asked for by the interpreter, between two bytecodes of the main thread; exceptions go on into the program."""

    def __bool__(self):
        frame = sys._getframe(0).f_back
        where = within(frame)
        if where:
            ask(where)
        else:
            run(frame)
        return False


call = Call()


calls = None  # ctypes.pythonapi, once it is needed


def prepare():
    """Loads what ask needs. It is too late for that when a signal has come: an import runs hooks."""
    global calls, address
    if calls is not None:
        return
    import ctypes

    ctypes.pythonapi.Py_AddPendingCall.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    address = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p)
    calls = ctypes.pythonapi


def ask(how):
    """Has the interpreter run what waits once it is back in the program."""
    if calls is None or how == "hook":
        return
    if how == "call":
        ask_now()
    else:  # by the time that another thread runs, C has returned; a call that asks for itself again would have used up its turns
        try:
            start_thread(ask_now, ())
        except RuntimeError:
            pass  # no more threads; the next hook's end comes


def ask_now():
    """On any thread."""
    if not main_is_through():
        calls.Py_AddPendingCall(address, id(call))


def main_is_through():
    """Whether the main thread is past the program's last line: nothing is called on it any more, and Python 3.8 prints each such wish."""
    threading = sys.modules.get("threading")
    return threading is not None and not threading.main_thread().is_alive()


def later(error, how):
    """Has an exception raised in the program once the interpreter is back there."""
    global main
    main = _thread.get_ident()
    prepare()

    def again(*_):
        raise error

    waiting.append((again, 0, time.monotonic_ns(), os.getpid()))
    ask(how)


def programs(error):
    """Whether an exception that ends a hook is the program's: a handler's, or one that another thread has had raised in this one
    (PyThreadState_SetAsyncExc). That one is of a class of the program's, or of a built-in one without a word on what failed, and no
    code of the program's, which a hook may call, has raised it."""
    global passing
    if error is passing:
        caller = sys._getframe(1)
        if caller.f_code is guard and within(caller.f_back) not in ("hook", "now"):
            passing = None  # the last hook that it passes
        return True
    entry, file = error.__traceback__, PACKAGE
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if not inner(file):
            return False
        entry = entry.tb_next
    home = type(error).__module__
    if home == "builtins":
        return file.startswith(PACKAGE) and not error.args and not isinstance(error, (MemoryError, StopIteration))
    path = getattr(sys.modules.get(home), "__file__", None)
    return home == "__main__" or path is not None and not inner(path)


def inner(file):
    """Whether a file is the agent's, torch's or the standard library's."""
    from . import core

    for folder in [PACKAGE, "<"] + core.inner:
        if file.startswith(folder) and not any(part in file[len(folder) - 1 :] for part in core.LIBRARIES):
            return True
    return False


def said(error):
    """The class and the words of an exception that a hook deals with; the program's goes on to it."""
    if programs(error):
        raise error
    return "%s: %s" % (type(error).__name__, error)
