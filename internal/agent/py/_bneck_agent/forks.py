"""The one way round a hang at exit that torch cannot prevent itself."""

import ctypes
import sys

from . import core

registered = False


@core.hook("leave-abruptly")
def leave_abruptly():
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
