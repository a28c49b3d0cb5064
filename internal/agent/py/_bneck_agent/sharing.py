"""Shared memory that is full: what one process hands to another in it, as DataLoader workers do with batches, fails or is lost."""

import errno
import json
import os

from . import core, life

FOLDER = "/dev/shm"
LEAST = 1 << 16  # bytes free under which a call that found no space on no file in particular found none here
# What PyTorch and NCCL say when there is no room, in lower case; PyTorch's own text goes on with the error's name.
SIGNS = ("unable to allocate shared memory", "out of shared memory", "insufficient shared memory", "creating shared memory segment")

told = False


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
def failed(error, loader=None, name="shm full"):
    """Tells of the first exception that says that shared memory is full. loader: what the "loader" row says of the DataLoader."""
    global told
    text = None if told else reason(error)
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
