"""What an uncaught exception prints is the program's: without the agent's frames between its own."""

import sys

from . import core


def install():
    """Puts a filter before the interpreter's own printer. Programs that ask whether somebody has replaced that find it in place."""
    original = sys.excepthook
    if original is not sys.__excepthook__:
        return

    def excepthook(kind, value, traceback):
        shown = without_agent(value, traceback)
        original(kind, value, traceback if shown is None else shown)

    excepthook.__doc__ = original.__doc__
    sys.excepthook = sys.__excepthook__ = excepthook


@core.hook("traceback")
def without_agent(value, traceback):
    """Takes the agent's frames out of an exception's traceback and of those that led to it; returns the first."""
    seen = set()
    waiting = [value]
    while waiting:
        error = waiting.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        error.__traceback__ = cleaned(error.__traceback__)
        waiting += [error.__cause__, error.__context__]
    return value.__traceback__ or cleaned(traceback)


def cleaned(traceback):
    """A traceback without the agent's frames, linked anew in place."""
    while traceback is not None and own(traceback):
        traceback = traceback.tb_next
    entry = traceback
    while entry is not None:
        following = entry.tb_next
        while following is not None and own(following):
            following = following.tb_next
        if following is not entry.tb_next:
            entry.tb_next = following
        entry = following
    return traceback


def own(entry):
    """Whether a frame is the agent's."""
    return entry.tb_frame.f_code.co_filename.startswith(core.PACKAGE)
