"""Calls a function on the main thread again and again while a profiler window is open, so that no window grows without bound.

A step that never ends leaves no mark at which the profiler could be stopped, and it must be stopped on the thread that started
it. A small thread asks the interpreter to make the call between two bytecodes (Py_AddPendingCall). The thread lives only while a
window is open and is gone before any fork, so that no child inherits a threaded parent because of it.
"""

import _thread
import ctypes
import os
from collections import deque

from . import core, signals

callback = answering = None  # C functions, of run and answer; kept for as long as a call may be pending
target = None  # the function to call, None when nothing is wanted
wake = None  # held while the thread has to go on
done = None  # held while the thread lives
native = 0
running = False  # the call is being made: torch 2.4 cannot record stacks from inside it
asked_at = 0  # when the call was last asked for; the main thread makes it once the operator ends that it is in
held = False  # the agent is in the middle of what the call would do: the call comes again


def start(function, seconds, beside=False):
    """Has function called on the main thread in `seconds`, then at that distance until stop; with beside, on the ticker's own thread."""
    global target, wake, done, native
    stop()
    prepare()
    target, native = function, 0
    wake, done = _thread.allocate_lock(), _thread.allocate_lock()
    wake.acquire()
    done.acquire()
    thread = loop(_thread.get_ident(), wake, done, seconds, beside)
    next(thread)
    try:
        signals.start_thread(next, (thread, None))
    except BaseException:  # no thread could be started: stop must not wait for one
        wake = done = None
        raise


def prepare():
    """Makes the C functions."""
    global callback, answering
    if callback is None:
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        callback, answering = kind(run), kind(answer)
        ctypes.pythonapi.Py_AddPendingCall.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


def loop(owner, wake, done, seconds, beside):
    """The thread: sleeps and asks; ends once wake is released.

    Before Python 3.12 a new thread bears the identity of the one that starts it until it runs, and an exception that another
    thread raises in that one (PyThreadState_SetAsyncExc) then comes up here, at the thread's very first instruction. This is a
    generator so that this instruction stands inside a try: the exception is passed on to whom it was meant for.
    """
    global native, asked_at
    try:
        yield
    except GeneratorExit:  # no thread could be started
        return
    except BaseException as error:
        raise_in = ctypes.pythonapi["PyThreadState_SetAsyncExc"]  # not the program's own, which may have other types
        raise_in(ctypes.c_ulong(owner), ctypes.py_object(type(error)))
    native = core.thread_id()
    try:
        while not wake.acquire(True, seconds):
            asked_at = core.now()
            if beside:
                run(None)
            elif not signals.main_is_through():
                ctypes.pythonapi.Py_AddPendingCall(callback, None)
    finally:
        done.release()


def run(_):
    """On the main thread, between two bytecodes. The try comes first: up to Python 3.10 an exception that another thread raises in this one
    (PyThreadState_SetAsyncExc) comes up behind it at the earliest."""
    global running
    try:
        if target is not None and not held:
            running = True
            tick(target)
    except BaseException as error:  # ctypes would print it
        signals.later(error, "call")
    finally:
        running = False
    return 0


@core.hook("ticker")
def tick(function):
    """Passes the call on."""
    function()


def stop():
    """Ends the thread and waits until the system has taken it away."""
    global target, wake, done
    target = None
    if wake is None:
        return
    go_on, lives, wake, done = wake, done, None, None  # first: whoever comes in between finds no thread
    go_on.release()
    lives.acquire(True, 1.0)  # not for ever: whatever became of the thread, the program goes on
    path = "/proc/self/task/%d" % native
    until = core.now() + 200_000_000  # on a busy machine even the end of a thread takes its turn
    while native and os.path.exists(path) and core.now() < until:
        os.sched_yield()


def soon():
    """Has the function called as soon as the main thread comes to it."""
    if target is not None:
        ctypes.pythonapi.Py_AddPendingCall(callback, None)


def ask(function, seconds=2.0):
    """Has function called once on the main thread and waits for it, up to `seconds`; for callers on other threads."""
    prepare()
    answered = _thread.allocate_lock()
    answered.acquire()
    asked.append((function, answered))
    ctypes.pythonapi.Py_AddPendingCall(answering, None)
    return answered.acquire(True, seconds)


asked = deque()  # (function, lock that is released once it has been called)


def answer(_):
    """On the main thread, between two bytecodes."""
    if asked:
        function, answered = asked.popleft()
        try:
            fulfil(function)
        except BaseException as error:
            signals.later(error, "call")
        finally:
            answered.release()
    return 0


@core.hook("ticker-asked")
def fulfil(function):
    """Passes the call on."""
    function()


signals.by_c.update({run.__code__: "call", answer.__code__: "call"})


def lost():
    """In a forked child: the thread was not copied."""
    global target, wake, done, held
    target = wake = done = None
    held = False
    asked.clear()
