"""Calls that write a file in one go (json, pickle, numpy, pandas, images, figures) and log handlers: spans with their path and line.

Seen at the function that the program calls, not at open(): what lies between open and close is often the program's own work, and
an audit hook would cost a microsecond at every id() and every attribute of an object. Calls that write into memory are left out.
"""

import functools
import os
import sys

from . import core

SHORT_NS = 100_000  # shorter calls are only counted
KEPT = 20_000  # rows of calls shorter than 10 ms

# Module -> (attribute, where it stands, position of its target, its name as a keyword). A target of -1 is the handler's own file.
WRITERS = {
    "json": [("dump", "", 1, "fp")],
    "pickle": [("dump", "", 1, "file")],
    "numpy": [("save", "", 0, "file"), ("savez", "", 0, "file"), ("savez_compressed", "", 0, "file"), ("savetxt", "", 0, "fname")],
    "pandas": [
        ("to_csv", "core.generic.NDFrame", 1, "path_or_buf"),
        ("to_json", "core.generic.NDFrame", 1, "path_or_buf"),
        ("to_pickle", "core.generic.NDFrame", 1, "path"),
        ("to_parquet", "core.frame.DataFrame", 1, "path"),
    ],
    "PIL.Image": [("save", "Image", 1, "fp")],
    "matplotlib.figure": [("savefig", "Figure", 1, "fname")],
    "logging": [("emit", "FileHandler", -1, None)],
}

installed = False
inside = set()  # threads in such a call: one that calls another counts once
wrapped = set()
kept = 0
leave_out = None  # asked for the target of a call: whether the call is left out (droppedwrites.py)


def install(_):
    """Wraps what is loaded by now; the rest when it is (imports.WATCHED)."""
    global installed
    installed = True
    for name in WRITERS:
        if name in sys.modules:
            watch(sys.modules[name])


def watch(module):
    """Wraps a module's writers, of programs that use torch."""
    if not installed or module.__name__ in wrapped:
        return
    wrapped.add(module.__name__)
    for attribute, owner, position, keyword in WRITERS[module.__name__]:
        holder = module
        for part in owner.split(".") if owner else ():
            holder = getattr(holder, part)
        wrap(holder, attribute, "write: %s.%s" % (module.__name__, attribute), position, keyword)


def wrap(holder, attribute, name, position, keyword):
    """One function or method."""
    original = getattr(holder, attribute)

    @functools.wraps(original)
    def write(*arguments, **keywords):
        if leave_out is not None and leave_out(target(arguments, keywords, position, keyword)):
            return None
        thread = core.thread_id()
        if thread in inside:
            return original(*arguments, **keywords)
        inside.add(thread)
        t0 = core.now()
        try:
            return original(*arguments, **keywords)
        finally:
            t1 = core.now()
            inside.discard(thread)
            if t1 - t0 < SHORT_NS:
                core.counters["short_writes"] = core.counters.get("short_writes", 0) + 1
            else:
                written(name, t0, t1, thread, target(arguments, keywords, position, keyword))

    if holder is sys.modules.get(getattr(holder, "__name__", "")):
        write.__module__ = holder.__name__  # that of pickle's are its C module, where pickling would look for them
    setattr(holder, attribute, write)


def target(arguments, keywords, position, keyword):
    """What a call writes to, as it was given."""
    if position < 0:
        return getattr(arguments[0], "baseFilename", None)
    return arguments[position] if len(arguments) > position else keywords.get(keyword)


@core.hook("written")
def written(name, t0, t1, thread, where):
    """A call has written for a while."""
    global kept
    path = os.fspath(where) if isinstance(where, (str, os.PathLike)) else getattr(where, "name", None)
    if not isinstance(path, str) or path.startswith("<"):
        return  # memory, or one of the program's streams
    kept += 1
    if kept > KEPT and t1 - t0 < 10_000_000:
        core.count("writes_without_row")
        return
    size = None
    try:
        size = os.path.getsize(path)
    except OSError:
        pass  # gone again, or under another name
    core.emit("span", "io", t0, t1, thread, name, *core.place(4), path, size)
    core.tick(t1)
