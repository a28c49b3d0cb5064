"""What the program holds, read at the ends of steps: bytes of the C library's allocator, in use and free, and blocks of Python's own.

From outside only pages are seen. What is free inside of an allocator is part of them, so a leak that fills such holes cannot be seen there.
"""

import sys
import time

from . import core

EVERY_NS = 250_000_000
SHARE = 833  # 0.12 % of a core at most: both counts walk through what is free, which may be much
ROWS = 400  # in each e-fold of the run, as the launcher's looks
LONGEST_NS = 50_000_000  # a look that takes longer is the last
EARLY = 100  # steps at whose end it is told what the kernel has given so far
STAT = "/proc/self/stat"
FAULTS, RESIDENT = 7, 21  # columns of it behind the name (proc(5))

due = EVERY_NS << 40  # monotonic nanoseconds of the next look; never before begin
first = 0
in_use = None  # gives the bytes of the C library's allocator: in use, and free
blocks = None  # gives the blocks in use of Python's


@core.hook("held-begin")
def begin():
    """Finds what can be asked."""
    global in_use, blocks, due, first
    in_use = c_library()
    if "t" not in getattr(sys, "abiflags", ""):  # without its GIL, Python would walk heaps that other threads change
        blocks = getattr(sys, "getallocatedblocks", None)
    if in_use is not None or blocks is not None:
        first = due = core.now()


def c_library():
    """glibc's counts of what it has given out and of what is free in it (2.33 and later; before, they wrap at 4 GB), None elsewhere."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        ask = ctypes.PyDLL(None)["mallinfo2"]  # keeps the GIL: others would take it for longer than the call lasts
    except (ImportError, OSError, AttributeError):
        return None
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    ask.restype = type("Info", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_size_t) for name in names.split()]})
    ask.argtypes = ()

    def count():
        info = ask()
        return info.uordblks + info.hblkhd, info.fordblks

    return count


@core.hook("held")
def look(t):
    """Counts, at a step's end. t: monotonic nanoseconds."""
    global due
    if not first:
        return  # there is nothing to ask
    due = EVERY_NS << 40  # for ever, if this fails
    began = time.thread_time_ns()
    (held, free), counted = in_use() if in_use else (None, None), blocks and blocks()
    cost = time.thread_time_ns() - began
    core.cpu_ns += cost
    core.emit("held", t, held, counted, free)
    if cost < LONGEST_NS:
        due = t + max(EVERY_NS, SHARE * cost, (t - first) // ROWS)


@core.hook("pages")
def pages(t):
    """Tells what pages the kernel has given so far, at the end of an early step: traced windows lie between them, and what they leave in
    memory often begins or ends that the C library gives some back. t: monotonic nanoseconds."""
    if sys.platform != "linux":
        return
    began = time.thread_time_ns()
    with open(STAT, "rb") as file:
        columns = file.read().rpartition(b")")[2].split()
    core.cpu_ns += time.thread_time_ns() - began
    core.emit("pages", t, int(columns[FAULTS]), int(columns[RESIDENT]))
