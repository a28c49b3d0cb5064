"""What all hooks share: the configuration, the guard around each hook, the rows to be written and where they go."""

import _thread
import itertools
import os
import sys
import time
from collections import deque

from . import signals

VERSION = "1"
MAX_ROWS = 100_000  # kept in memory between two flushes; more are dropped and counted
MAX_EVENT_BYTES = 256 << 20  # of events.jsonl.gz, compressed
FLUSH_NS = 1_000_000_000

now = time.monotonic_ns
thread_id = _thread.get_native_id

config = None  # the launcher's settings.Settings; None before begin
fault = os.environ.get("BNECK_FAULT", "")  # name of a hook that has to fail, for tests; "*" is every hook
broken = set()  # names of hooks that failed and stay off
rows = deque()
counters = {}
folder = None  # this process's folder in the session; None once nothing can be written any more
start_unix_ns = start_mono_ns = 0
last_flush = 0
written = 0  # bytes of events so far
traces = 0  # bytes of traces so far
cpu_ns = 0
longest_pause_ns = 0
forked = False  # this process was forked from one with an agent
here = enter = leave = None  # around each hook, so that --calls does not count the agent (calls.py)


class Fault(Exception):
    """Raised on purpose by a test."""


class StopProgram(SystemExit):
    """Ends the program because --stop-after asked for it; passes every guard."""


def hook(name):
    """Guards a function that the program's own calls lead to: it never raises, and after a failure it stays off.

    The decorated function returns None when it failed; its callers must be able to go on with that. What the program's own handlers of
    signals raise passes through it, at its end (signals.py).
    """

    def decorate(function):
        def guarded(*arguments):
            if name in broken:
                return None
            busy = True  # handlers of signals wait
            silent = here is not None
            if silent:  # both ends in this frame: code that first runs in silence has no events for the other end
                enter(here())
            try:
                if name == fault or fault == "*":
                    raise Fault(name)
                return function(*arguments)
            except StopProgram:
                raise
            except Exception as error:
                if not signals.programs(error):
                    failed(name, error)
                elif name in signals.BY_C:
                    signals.later(error, signals.BY_C[name])
                else:
                    raise
                return None
            finally:
                if silent:
                    leave(here())
                busy = False  # noqa: F841  # signals.within reads it
                if waiting:
                    signals.release()

        guarded.__wrapped__ = function
        guarded.hook = name
        return guarded

    return decorate


waiting = signals.waiting
signals.guard = hook("")(hook).__code__


def failed(name, error):
    """Turns a hook off and says so in the session."""
    broken.add(name)
    try:
        text = "%s: %s" % (type(error).__name__, error)
        if config and config.verbose:
            import traceback

            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-4000:]
        note("hook-failed", "bottleneck's hook %s failed and stays off (%s)" % (name, text))
    except Exception:
        pass  # the program comes before the note


def begin(settings):
    """Takes the configuration and makes this process's folder."""
    global config, start_unix_ns, start_mono_ns
    config = settings
    start_unix_ns, start_mono_ns = time.time_ns(), now()
    make_folder()


def make_folder():
    """Makes <host>-<pid>-<start> in the session; without one nothing is written."""
    global folder, last_flush
    host = os.uname().nodename if hasattr(os, "uname") else "localhost"
    host = "".join(letter if letter.isascii() and letter.isalnum() or letter in "._-" else "_" for letter in host)[:64].strip(".")
    path = os.path.join(config.session, "%s-%d-%d" % (host, os.getpid(), start_unix_ns // 1_000_000))
    last_flush = now()
    try:
        os.mkdir(path, 0o700)
        folder = path
    except OSError:
        folder = None


def emit(*row):
    """Adds a row of events.jsonl.gz (docs/session.md)."""
    if len(rows) < MAX_ROWS:
        rows.append(row)
    else:
        count("rows_dropped")


def note(code, text):
    """Has something said in the report."""
    emit("note", now(), code, str(text)[:4000])


def count(name, by=1):
    """Adds to a counter; its value is written with each flush."""
    counters[name] = counters.get(name, 0) + by


def paused(t0, t1):
    """Accounts for time in which the program stood still because of the agent; both in monotonic nanoseconds."""
    global longest_pause_ns
    longest_pause_ns = max(longest_pause_ns, t1 - t0)


def tick(t):
    """Called where the program waits anyway; writes at most once a second. t: monotonic nanoseconds."""
    if t - last_flush >= FLUSH_NS:
        flush()


before_flush = []  # functions that add rows of what they polled


@hook("flush")
def flush():
    """Writes what has gathered as one gzip member. The first failure ends all writing: the disk is full or gone."""
    global folder, last_flush, written, cpu_ns
    last_flush = now()
    if folder is None:
        rows.clear()
        return
    for poll in before_flush:
        poll()
    cpu = time.thread_time_ns()
    count_rows = [("count", name, value) for name, value in counters.items()]
    text = encode([("clock", now(), time.time_ns())] + take_rows() + count_rows)
    try:
        append(os.path.join(folder, "events.jsonl.gz"), text)
    except OSError:
        folder = None
    written += len(text)
    if written > MAX_EVENT_BYTES:
        folder = None
    cpu_ns += time.thread_time_ns() - cpu


def take_rows():
    """Empties the queue; other threads may add meanwhile."""
    taken = []
    for _ in range(len(rows)):
        taken.append(rows.popleft())
    return taken


def encode(lines):
    """The lines as one gzip member."""
    import json

    # All in one call, which takes a quarter of one for each, with a mark between them that no row holds: quotes within strings are escaped.
    whole = json.dumps([part for line in lines for part in (line, "\0")], separators=(",", ":"), default=str)
    text = whole[1 : -len(',"\\u0000"]')].replace('],"\\u0000",[', "]\n[") + "\n"
    return packed(text.encode("utf-8", "backslashreplace"))


def packed(data, level=4):
    """Bytes as one gzip member."""
    import zlib

    packer = zlib.compressobj(level, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def uncollected(function):
    """Lets no garbage collection begin while a function runs."""
    import gc

    def quiet(*arguments):
        enabled = gc.isenabled()
        gc.disable()
        try:
            return function(*arguments)
        finally:
            if enabled:
                gc.enable()

    return quiet


def append(path, data):
    """Appends to a file that is not kept open: a program may close every descriptor it does not know."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)


partials = itertools.count()  # numbers of files that are being written


def replace(path, data):
    """Writes a file anew and puts it in place at once; another thread may do the same, or a call between two bytecodes of this one."""
    partial = "%s.%d.part" % (path, next(partials))
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        while data:
            data = data[os.write(handle, data) :]
    finally:
        os.close(handle)
    os.replace(partial, path)


PACKAGE = signals.PACKAGE
inner = [PACKAGE]  # folders whose frames are not the user's


LIBRARIES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def within(folder):
    """Whether this thread runs a function of a file in a folder."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith(folder):
            return True
        frame = frame.f_back
    return False


ENGINES = ("_engine_run_backward", "backward", "grad")  # functions of torch.autograd's files in which its engine runs


def within_backward(folder):
    """Whether PyTorch's engine has called this thread's Python in a backward pass: a function of a graph, or a hook. folder: PyTorch's."""
    files = folder + os.path.join("autograd", "graph.py"), folder + os.path.join("autograd", "__init__.py")
    frame = sys._getframe(1)
    outer = frame.f_back
    while outer is not None:
        code = outer.f_code
        if code.co_name in ENGINES and code.co_filename in files and frame.f_code.co_filename not in files:
            return True
        frame, outer = outer, outer.f_back
    return False


def place(depth=2):
    """(file, line) of the innermost frame that is the user's: outside torch, trainers, the standard library and the agent. An
    installed package's counts where there is no other: a program may be one."""
    frame = sys._getframe(depth)
    library = None, None
    for _ in range(60):
        if frame is None:
            break
        file = frame.f_code.co_filename
        if not file.startswith("<") and not file.startswith(tuple(inner)):
            if not any(part in file for part in LIBRARIES):
                return os.path.abspath(file), frame.f_lineno
            if library[0] is None:
                library = os.path.abspath(file), frame.f_lineno
        frame = frame.f_back
    return library


def orphan():
    """In a forked child, before anything can fail: nothing more goes into the parent's folder."""
    global folder
    folder = None
    rows.clear()


def forget_parent():
    """Makes a forked child's state its own."""
    global start_unix_ns, start_mono_ns, written, traces, cpu_ns, longest_pause_ns, forked
    rows.clear()
    counters.clear()
    written = traces = cpu_ns = longest_pause_ns = 0
    forked = True
    start_unix_ns, start_mono_ns = time.time_ns(), now()
    make_folder()
