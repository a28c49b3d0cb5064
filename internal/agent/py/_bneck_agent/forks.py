"""The one way round a hang at exit that torch cannot prevent itself."""

import ctypes
import os
import re
import sys
import warnings

from . import core

registered = False
ever = False  # a session of ours has begun in this process or in one that it was forked from
own_threads = 0  # threads that Kineto started with our first session


def in_child():
    """In a forked child. Part of the net under all hooks, so it is none itself."""
    global registered
    registered = False
    if ever:
        leave_abruptly()


def leave_abruptly():
    """make_abrupt, whatever happens: this is the net under all hooks."""
    try:
        make_abrupt()
    except Exception as error:
        core.note("leave-failed", error)


def make_abrupt():
    """Makes this process skip C++ destructors when it exits, with its exit status and all of C's own buffers intact.

    A child forked after a session of Kineto hangs there for ever, since the destructor waits for a thread that was not copied; a process
    whose session cannot be stopped any more crashes. Handlers run last registered first: C's streams are flushed, then
    the process ends with the status that on_exit passes. Python's own exit, its atexit functions included, is over by then.
    """
    global registered
    if registered or not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None)
    on_exit = getattr(library, "on_exit", None)
    if on_exit is None:
        return  # musl: no way is known
    registered = True
    on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)
    getattr(library, "__cxa_atexit")(ctypes.cast(library.fflush, ctypes.c_void_p), None, None)


def threads():
    """How many threads the system counts in this process; 0 where it does not say."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 0


MESSAGE = re.compile(r"This process \(pid=\d+\) is multi-threaded, use of fork\(\)")
FILTER = ("ignore", MESSAGE, DeprecationWarning, None, 0)


@core.hook("fork-warning")
def in_parent():
    """3.12 and later warn after the fork of a threaded process. Where the only threads are those of our sessions, they do not.

    Counted here, not before the fork: OpenBLAS ends its own threads for it.
    """
    if sys.version_info < (3, 12) or not own_threads:
        return
    ours = threads() <= 1 + own_threads
    if ours and FILTER not in warnings.filters:
        warnings.filters.insert(0, FILTER)
    elif not ours and FILTER in warnings.filters:
        warnings.filters.remove(FILTER)
    else:
        return
    warnings._filters_mutated() if hasattr(warnings, "_filters_mutated") else warnings._filters_mutated_lock_held()
