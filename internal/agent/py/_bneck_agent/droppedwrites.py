"""Keeps what is written at one place of the program from being written: nowhere else, and never to the program's own streams.

A call is at the place where the finding's line, or one near to it, is on the stack. It is left out whole, as the best fix would leave it
out. Files that are only opened elsewhere are written as ever. What would have been written is not there to be read: a program that reads
it back fails, and the launcher says so.
"""

import builtins
import functools
import io
import os
import sys

from . import core, writes

NEAR = 6  # lines: as far apart as places of a finding that were joined may be (nearby in spans.go)
FRAMES = 60
STREAMS = (0, 1, 2)

here = {}  # name of a code's file -> whether it is the place's
paths = set()  # that were to be written
target = ""
line = 0


def install(torch, file, number):
    """Wraps what writes."""
    global target, line
    target, line = os.path.realpath(file), number
    writes.leave_out = of_target
    save = torch.save
    wrapper = saver(save)
    torch.save = torch.serialization.save = wrapper
    builtins.open = io.open = opener(io.open)
    for name in ("replace", "rename", "remove", "unlink"):
        setattr(os, name, mover(getattr(os, name)))
    for name in ("fsync", "fdatasync"):
        if hasattr(os, name):
            setattr(os, name, syncer(getattr(os, name)))
    import logging

    wrap_logging(logging)


def at_place(frame):
    """Whether a frame, or one that called it, is at the place."""
    for _ in range(FRAMES):
        if frame is None:
            return False
        if near(frame):
            core.count("ablated")
            return True
        frame = frame.f_back
    return False


def near(frame):
    """Whether a frame stands at the line or close to it."""
    name = frame.f_code.co_filename
    known = here.get(name)
    if known is None:
        known = here[name] = os.path.realpath(name) == target
    return known and abs((frame.f_lineno or 0) - line) <= NEAR


def of_target(where):
    """Whether a call that writes to a path or a file is left out; its caller is the wrapper of the call."""
    if not isinstance(where, (str, os.PathLike)):
        return leads_to_disk(where) and at_place(sys._getframe(2))
    if not at_place(sys._getframe(2)):
        return False
    paths.add(os.path.abspath(os.fspath(where)))
    return True


def leads_to_disk(file):
    """Whether an open file is neither in memory nor one of the program's streams."""
    try:
        return file.fileno() not in STREAMS
    except (AttributeError, OSError, ValueError):
        return False


def saver(original):
    """torch.save to a path or a file; in memory it is as ever."""

    @functools.wraps(original)
    def save(obj, f, *arguments, **keywords):
        if of_target(f):
            return None
        return original(obj, f, *arguments, **keywords)

    return save


def opener(original):
    """open(): files that are only written get methods that know the place."""

    @functools.wraps(original)
    def open(file, mode="r", *arguments, **keywords):
        if not isinstance(mode, str) or "+" in mode or not set(mode) & set("wxa") or isinstance(file, int) and file in STREAMS:
            return original(file, mode, *arguments, **keywords)
        if not isinstance(file, int) and at_place(sys._getframe(1)):
            paths.add(os.path.abspath(os.fsdecode(file)))
            return original(os.devnull, mode.replace("x", "w"), *arguments, **keywords)
        return written(original, file, mode, *arguments, **keywords)

    return open


def written(original, file, mode, buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    """A file for writing, as open() makes it, of the classes below."""
    if buffering == 0 or "b" in mode and (encoding or errors or newline is not None or buffering == 1):
        return original(file, mode, buffering, encoding, errors, newline, closefd, opener)
    raw = original(file, mode.replace("t", "").replace("b", "") + "b", 0, closefd=closefd, opener=opener)
    binary = Binary(raw, buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE)
    if "b" in mode:
        return binary
    text = Text(binary, encoding, errors, newline, buffering == 1 or buffering < 0 and raw.isatty())
    text.mode = mode
    return text


class Binary(io.BufferedWriter):
    """A file of bytes."""

    def write(self, data):
        if at_place(sys._getframe(1)):
            return len(memoryview(data).cast("B"))
        return super().write(data)

    def flush(self):
        if not at_place(sys._getframe(1)):
            super().flush()


class Text(io.TextIOWrapper):
    """A file of text."""

    def write(self, text):
        if at_place(sys._getframe(1)):
            return len(text)
        return super().write(text)

    def writelines(self, lines):
        if not at_place(sys._getframe(1)):
            super().writelines(lines)

    def flush(self):
        if not at_place(sys._getframe(1)):
            super().flush()


def mover(original):
    """os.replace and the like, of files that were not written."""

    @functools.wraps(original)
    def move(source, *arguments, **keywords):
        if not paths or isinstance(source, int):
            return original(source, *arguments, **keywords)
        path = os.path.abspath(os.fsdecode(source))
        if path not in paths or os.path.lexists(path):
            return original(source, *arguments, **keywords)
        paths.discard(path)
        if arguments:  # under the other name it is as little there
            paths.add(os.path.abspath(os.fsdecode(arguments[0])))
        return None

    return move


def syncer(original):
    """os.fsync."""

    @functools.wraps(original)
    def sync(fd):
        if not at_place(sys._getframe(1)):
            original(fd)

    return sync


def wrap_logging(logging):
    """Messages that reach files only are not made, as below the logger's level; where a stream shows them too, the files get none."""
    enabled, handle = logging.Logger.isEnabledFor, logging.Handler.handle

    def to_file(handler):
        return isinstance(handler, logging.StreamHandler) and (isinstance(handler, logging.FileHandler) or leads_to_disk(handler.stream))

    def shown(logger):
        some = False
        while logger:
            for handler in logger.handlers:
                some = True
                if not to_file(handler):
                    return True
            logger = logger.parent if logger.propagate else None
        return not some  # the last resort is standard error

    @functools.wraps(enabled)
    def isEnabledFor(self, level):
        return enabled(self, level) and not (not shown(self) and at_place(sys._getframe(1)))

    @functools.wraps(handle)
    def handle_unless(self, record):
        if to_file(self) and at_place(sys._getframe(1)):
            return record
        return handle(self, record)

    logging.Logger.isEnabledFor, logging.Handler.handle = isEnabledFor, handle_unless
