"""The process's own life: forks, exits, and the collector's pauses."""

import atexit
import functools
import gc
import os
import sys

from . import core, facts, marks, signals

GC_ROW_NS = 200_000  # collections shorter than this are only counted

before_fork = []  # functions to call in the parent before a fork
after_fork_parent = []  # functions to call in the parent after it
after_fork = []  # functions to call in the child
at_end = []  # functions to call when the process ends, in this order
ended = False
watching_gc = False


def install():
    """Writes process.json and registers for forks and the end."""
    facts.find_role()
    facts.write()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=core.orphan)
        os.register_at_fork(before=forking, after_in_parent=forked, after_in_child=born)
    atexit.register(leave)
    wrap_exit()
    wrap_exec()


@core.hook("fork-before")
def forking():
    """In the parent: an open profiler session would record into the child's memory for ever."""
    signals.prepare()
    for act in before_fork:
        act()


@core.hook("fork-parent")
def forked():
    """In the parent, after a fork."""
    for act in after_fork_parent:
        act()


@core.hook("fork-child")
def born():
    """In the child: a process of its own, with a folder of its own."""
    global ended
    ended = False
    core.forget_parent()
    facts.child_role()
    for act in after_fork:
        act()
    facts.write()


def leave():
    """At the interpreter's end."""
    end("exception" if getattr(sys, "last_type", None) is not None else "exit")
    start_torch = sys.modules.get("_bneck_agent.start_torch")
    if start_torch is not None:
        start_torch.net()


signals.by_c[leave.__code__] = "hook"


@core.hook("end")
def end(reason):
    """Stops what runs, writes what has gathered and says how the process ended; once."""
    global ended
    if ended or facts.helper:
        return
    ended = True
    facts.exit_reason = reason
    for act in at_end:
        act()
    core.flush()
    facts.write()


def wrap_exec():
    """A program that becomes another one by exec has no end of its own: what has gathered is written before."""
    for name in ("execv", "execve"):
        if hasattr(os, name):
            setattr(os, name, written_before(getattr(os, name)))


def written_before(original):
    """One of the exec functions."""

    @functools.wraps(original)
    def replace_process(*arguments):
        leaving()
        return original(*arguments)

    return replace_process


@core.hook("exec")
def leaving():
    """Just before exec, which may still fail."""
    for act in before_fork:
        act()
    core.flush()


def wrap_exit():
    """os._exit skips atexit; multiprocessing's children end by it, DataLoader workers too."""
    original = os._exit

    def _exit(status):
        process = sys.modules.get("multiprocessing.process")
        child = process is not None and getattr(process, "_parent_process", None) is not None
        end("exit" if child else "os._exit")
        original(status)

    _exit.__doc__ = original.__doc__
    os._exit = _exit


def watch_multiprocessing(util):
    """Children of multiprocessing say that they are done before they wait for their queues."""
    util.register_after_fork(core, lambda _: util.Finalize(None, core.flush, exitpriority=-100))


def watch_gc():
    """Begins timing garbage collections."""
    global watching_gc
    if not watching_gc:
        signals.prepare()
        watching_gc = True
        gc.callbacks.append(collection)


collection_began = 0


@core.hook("gc")
def collection(phase, info):
    """gc calls this before and after each collection, on the thread that collects."""
    global collection_began
    if phase == "start":
        marks.resolve()
        collection_began = core.now()
        return
    t1 = core.now()
    if not collection_began:
        return
    length = t1 - collection_began
    if length >= GC_ROW_NS:
        freed = "%d objects freed" % info.get("collected", 0)
        core.emit("span", "gc", collection_began, t1, core.thread_id(), "gc", None, None, freed, info.get("generation"))
    core.count("gc_ns", length)
    core.count("gc_collections")
