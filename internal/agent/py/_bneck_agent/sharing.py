"""Shared memory that is full: what one process hands to another in it, as DataLoader workers do with batches, fails or is lost."""

import errno
import json
import os
import signal
import time

from . import core, life

FOLDER = "/dev/shm"
LEAST = 1 << 16  # bytes free under which a call that found no space on no file in particular found none here
GOING_NS, MAX_WAITS = 100_000_000, 5  # how long a worker may take to be gone, and how often that is waited for
# What PyTorch and NCCL say when there is no room, in lower case; PyTorch's own text goes on with the error's name.
SIGNS = ("unable to allocate shared memory", "out of shared memory", "insufficient shared memory", "creating shared memory segment")

told = False
waits = 0


def install(torch):
    """Watches the threads that write into queues between processes: what fails there is only printed, and whoever waits for it waits on."""
    from multiprocessing import queues

    life.after_fork.append(forked)
    original = getattr(queues.Queue, "_on_queue_feeder_error", None)
    if original is None:
        return

    def _on_queue_feeder_error(error, item):
        failed(error, loader_of_worker(), "shm lost")
        original(error, item)

    queues.Queue._on_queue_feeder_error = staticmethod(_on_queue_feeder_error)


@core.hook("shm-full")
def failed(error, loader=None, name="shm full", workers=()):
    """Tells of the first exception that says that shared memory is full. loader: what the "loader" row says of the DataLoader; workers:
    its processes, for PyTorch 2.4 and older let them die of a bus error then, and the exception may only say that one is gone."""
    global told
    text = None if told else reason(error) or bus_error(workers, isinstance(error, (OSError, EOFError)))
    if text is None:
        return
    told = True
    t = core.now()
    loader = loader or {}
    core.emit("span", "other", t, t, core.thread_id(), name, loader.get("file"), loader.get("line"), text, room()[0])
    core.flush()


def reason(error):
    """The line in which an exception, or one that led to it, says so; None where none does."""
    for _ in range(8):
        if error is None:
            break
        if isinstance(error, RuntimeError):  # of others the text is not asked for: it may be the program's own code
            for line in str(error).splitlines():
                if any(sign in line.lower() for sign in SIGNS):
                    return line.strip()[:300]
        if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None and room()[1] < LEAST:
            return "%s: %s" % (type(error).__name__, error)  # a semaphore of multiprocessing's
        error = error.__cause__ or error.__context__
    return None


def workers_of(iterator):
    """The processes that fetch an iterator's batches."""
    return getattr(iterator, "_workers", ())


def bus_error(workers, wait):
    """What PyTorch says of a worker that such a signal has ended; None where it has ended none. wait: one may be ending right now,
    its connections are closed before it is gone; not every time, as the program's own exceptions pass here too."""
    global waits
    until = core.now()
    if wait and waits < MAX_WAITS:
        waits += 1
        until += GOING_NS
    while workers:
        for worker in workers:
            if ended_by(worker) == signal.SIGBUS:
                return "DataLoader worker (pid %d) is killed by signal: Bus error." % worker.pid
        if core.now() >= until:
            break
        time.sleep(0.005)
    return None


def ended_by(worker):
    """The signal that has ended a process, None where none has. The process is left to torch to be waited for."""
    known = getattr(getattr(worker, "_popen", None), "returncode", None)
    if known is not None:
        return -known
    try:
        found = os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_status if found is not None and found.si_code != os.CLD_EXITED else None


def room():
    """Bytes of shared memory, and those of them that are free; zeros where there is none."""
    try:
        stat = os.statvfs(FOLDER)
    except OSError:
        return 0, 0
    return stat.f_blocks * stat.f_frsize, stat.f_bavail * stat.f_frsize


@core.hook("shm-loader")
def loader_of_worker():
    """What the "loader" row says of the DataLoader that this process works for; None where it works for none."""
    return json.loads(os.environ.get("BNECK_LOADER", "[null, null]"))[1]


def forked():
    """A forked child has failures of its own."""
    global told
    told = False
