"""What the program holds, read at the ends of steps: bytes in use of the C library's allocator and blocks in use of Python's own.

From outside only pages are seen. What is free inside of an allocator is part of them, so a leak that fills such holes cannot be seen there.
"""

import sys
import time

from . import core

EVERY_NS = 250_000_000
SHARE = 833  # 0.12 % of a core at most: both counts walk through what is free, which may be much
ROWS = 400  # in each e-fold of the run, as the launcher's looks
LONGEST_NS = 50_000_000  # a look that takes longer is the last

due = EVERY_NS << 40  # monotonic nanoseconds of the next look; never before begin
first = 0
in_use = None  # gives the bytes in use of the C library's allocator
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
    """glibc's count of what it has given out (2.33 and later; before, the count wraps at 4 GB), None elsewhere."""
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
        return info.uordblks + info.hblkhd

    return count


@core.hook("held")
def look(t):
    """Counts, at a step's end. t: monotonic nanoseconds."""
    global due
    due = EVERY_NS << 40  # for ever, if this fails
    began = time.thread_time_ns()
    row = "held", t, in_use and in_use(), blocks and blocks()
    cost = time.thread_time_ns() - began
    core.cpu_ns += cost
    core.emit(*row)
    if cost < LONGEST_NS:
        due = t + max(EVERY_NS, SHARE * cost, (t - first) // ROWS)
