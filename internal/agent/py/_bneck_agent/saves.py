"""torch.save and torch.load: checkpoints as spans, with their path, size and the line that asked."""

import functools
import os

from . import core


def install(torch):
    """Wraps both in torch and in torch.serialization."""
    for name in ("save", "load"):
        wrap(torch, name)


def wrap(torch, name):
    """Wraps one of them wherever it is an attribute."""
    original = getattr(torch, name)

    @functools.wraps(original)
    def call(*arguments, **keywords):
        t0 = core.now()
        result = original(*arguments, **keywords)
        moved(name, t0, arguments, keywords)
        return result

    setattr(torch, name, call)
    if getattr(torch.serialization, name, None) is original:
        setattr(torch.serialization, name, call)


@core.hook("saved")
def moved(name, t0, arguments, keywords):
    """A file has been written or read."""
    t1 = core.now()
    position = 1 if name == "save" else 0
    target = keywords.get("f", arguments[position] if len(arguments) > position else None)
    path = os.fspath(target) if isinstance(target, (str, os.PathLike)) else getattr(target, "name", None)
    size = None
    try:
        size = os.path.getsize(path)
    except (OSError, TypeError, ValueError):
        pass
    file, line = core.place(4)
    core.emit("span", "io", t0, t1, core.thread_id(), "torch." + name, file, line, path if isinstance(path, str) else None, size)
