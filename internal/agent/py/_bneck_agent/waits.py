"""Ends windows in time where threads wait for each other and end.

A slice of a program without steps ends before its main thread waits without a limit: only the main thread can end its slice, and one
that waits for a lock does not until it is woken. While it lasts, the threads that do the work (of a server, say) could not be traced.
"""

import sys
import threading

from . import core

EARLY_ENDS = 8  # at most so many slices end before their time

early = 0
originals = []  # [(class, name, its function, ours)] of what is replaced


def install(windows):
    """Watches Thread.join and Condition.wait, which events, queues and futures wait by, until leave."""
    if originals or early >= EARLY_ENDS:
        return
    for owner, name in ((threading.Thread, "join"), (threading.Condition, "wait")):
        original = getattr(owner, name)
        ours = watcher(original, windows)
        originals.append((owner, name, original, ours))
        setattr(owner, name, ours)
    if windows.stepping:  # the first step came meanwhile, on another thread
        leave()


def watcher(original, windows):
    """The function, with the slice ended before and begun again after an unlimited wait."""
    from functools import wraps

    @wraps(original)
    def wait(self, timeout=None):
        if timeout is not None or not originals or not before(windows):
            return original(self, timeout)
        try:
            return original(self, timeout)
        finally:
            after(windows)

    return wait


@core.hook("wait-begins")
def before(windows):
    """Ends the slice; returns whether there was one."""
    global early
    if not windows.sliced() or windows.changing.locked() or not windows.main():
        return False
    early += 1
    windows.end_slice("wait")
    if early >= EARLY_ENDS or windows.stepping:
        leave()
    return True


@core.hook("wait-ended")
def after(windows):
    """The main thread goes on, and so do its slices."""
    windows.begin_slices()


class Ending:
    """Calls a function when it is collected."""

    def __init__(self, function):
        self.function = function

    def __del__(self):
        self.function()


local = threading.local()


def at_thread_end(function):
    """Has function called when the calling thread ends, on it, before those that wait for the thread go on."""
    if sys.version_info < (3, 11):  # where a thread removes itself from the list without a method; its locals go before its lock opens
        local.ending = Ending(function)
        return
    thread = threading.current_thread()
    delete = getattr(thread, "_delete", None)
    if delete is None or "_delete" in vars(thread):
        return

    def _delete():
        del thread._delete
        function()
        delete()

    thread._delete = _delete


def leave():
    """Puts the functions back, unless somebody has replaced ours since."""
    while originals:
        owner, name, original, ours = originals.pop()
        if getattr(owner, name) is ours:
            setattr(owner, name, original)
