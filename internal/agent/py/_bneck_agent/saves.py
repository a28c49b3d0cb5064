"""torch.save and torch.load: checkpoints as spans, with their path, size and the line that asked.

What is wrapped is the opening and closing of the file inside of them, not the functions themselves: torch.load warns its caller by
stack level, and the caller must stay the program's own line.
"""

import functools
import os

from . import core, views

OPENERS = {"_open_file_like": None, "_open_zipfile_writer": "w"}
CLASSES = ("_opener", "_open_file", "_open_buffer_writer", "_open_zipfile_writer_file", "_open_zipfile_writer_buffer")


def install(torch):
    """Wraps torch.serialization's openers and the ends of what they return."""
    for name, mode in OPENERS.items():
        wrap_open(torch.serialization, name, mode)
    for name in CLASSES:
        kind = getattr(torch.serialization, name, None)
        if kind is not None and "__exit__" in vars(kind):
            wrap_exit(kind)


def wrap_open(module, name, mode):
    """One of the functions that open a file or take a buffer."""
    original = getattr(module, name)

    @functools.wraps(original)
    def open_like(target, *arguments):
        t0 = core.now()
        opened = original(target, *arguments)
        began(opened, t0, target, mode or (arguments[0] if arguments else "r"))
        return opened

    setattr(module, name, open_like)


def wrap_exit(kind):
    """The end of reading or writing."""
    original = kind.__exit__

    @functools.wraps(original)
    def __exit__(self, *error):
        result = original(self, *error)
        moved(self)
        return result

    kind.__exit__ = __exit__


@core.hook("save-began")
def began(opened, t0, target, mode):
    """A file is about to be written or read."""
    path = os.fspath(target) if isinstance(target, (str, os.PathLike)) else getattr(target, "name", None)
    reads = "r" in mode
    opened._bneck = ("torch.load" if reads else "torch.save", t0, path, core.place(4), None if reads else views.excess())


@core.hook("saved")
def moved(opened):
    """A file has been written or read."""
    known = vars(opened).pop("_bneck", None)
    if known is None:
        return
    t1 = core.now()
    name, t0, path, (file, line), sizes = known
    size = None
    try:
        size = os.path.getsize(path)
    except (OSError, TypeError, ValueError):
        pass  # a buffer, or gone again
    core.emit("span", "io", t0, t1, core.thread_id(), name, file, line, path if isinstance(path, str) else None, size)
    if sizes is not None:
        views.tell(t0, t1, core.thread_id(), sizes, file, line)
    core.tick(t1)
