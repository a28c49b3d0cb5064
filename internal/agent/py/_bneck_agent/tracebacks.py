"""What an exception prints is the program's, uncaught or not: without the agent's frames between its own."""

import functools
import sys

from . import core


def install():
    """Puts a filter before the interpreter's own printer. Programs that ask whether somebody has replaced that find it in place."""
    original = sys.excepthook
    if original is not sys.__excepthook__:
        return

    def excepthook(kind, value, traceback):
        sharing = sys.modules.get("_bneck_agent.sharing")
        if sharing is not None:
            sharing.failed(value)
        shown = without_agent(value, traceback)
        original(kind, value, traceback if shown is None else shown)

    excepthook.__doc__ = original.__doc__
    sys.excepthook = sys.__excepthook__ = excepthook


@core.hook("traceback-module")
def install_module():
    """Lets the module traceback pass over the agent's frames: programs, logging and DataLoader workers print with it what they catch."""
    import traceback

    for name in ("walk_tb", "_walk_tb_with_full_positions"):
        walk = getattr(traceback, name, None)
        if walk is not None:
            setattr(traceback, name, passing_over(walk))


def passing_over(walk):
    """A walk along a traceback that leaves out the agent's frames; one that begins in the agent is its own, and shown whole."""

    @functools.wraps(walk)
    def walk_program(tb):
        whole = tb is not None and own(tb)
        for entry in walk(tb):
            if whole or not entry[0].f_code.co_filename.startswith(core.PACKAGE):
                yield entry

    return walk_program


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
