"""Whether the program computes with denormal numbers, which are too small to be kept whole (below 1.2e-38 in 32 bits): many processors take
a hundred times as long for each of them.

A processor of the x86 family notes in its control and status register MXCSR that an operand was one (bit 1; Intel 64 and IA-32 Software
Developer's Manual, volume 1, 10.2.3). The C library's fegetenv reads that register, last of eight words, and fesetenv sets the bit back.
Both are of the calling thread, which computes a part of each operator. Nothing of the program looks at that bit: feclearexcept and
fetestexcept leave it out.
"""

import ctypes
import os
import sys

from . import core, life

EVERY = 5_000_000  # nanoseconds between two looks
MET = 2  # the bit

last = 0
words = (ctypes.c_uint32 * 8)()
library = False  # the C library's functions, where they say something of this


def available():
    """The C library of a process on a processor that has the register; False elsewhere."""
    if not sys.platform.startswith("linux") or os.uname().machine != "x86_64" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    found = ctypes.PyDLL(None)  # its calls take less than letting go of the interpreter's lock
    return found if hasattr(found, "fegetenv") and hasattr(found, "fesetenv") else False


@core.hook("denormals-begin")
def begin():
    """With torch: what was met before, as by imports, is forgotten; and the end is looked at."""
    global library
    library = available()
    if library:
        seen()
        life.at_end.append(at_end)


def seen():
    """Whether the calling thread has met such a number since it was asked last."""
    library.fegetenv(words)
    met = words[7] & MET
    if met:
        words[7] &= ~MET
        library.fesetenv(words)
    return bool(met)


@core.hook("denormals")
def look():
    """Counts a look, and whether it finds something; at most one in a while."""
    global last
    t = core.now()
    if library and t - last >= EVERY:
        last = t
        core.count("denormal_looks")
        core.count("denormal_met", int(seen()))


@core.hook("denormals-end")
def at_end():
    """The process ends: a program of neither steps nor models is looked at once."""
    global last
    last = 0
    look()
