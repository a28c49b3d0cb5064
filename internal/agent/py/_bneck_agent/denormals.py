"""Whether the program computes with denormal numbers, which are too small to be kept whole (below 1.2e-38 in 32 bits): many processors take
a hundred times as long for each of them.

A processor of the x86 family notes in its control and status register MXCSR that an operand was one (bit 1; Intel 64 and IA-32 Software
Developer's Manual, volume 1, 10.2.3). The C library's fegetenv reads that register, last of eight words, and fesetenv sets the bit back.
Both are of the calling thread, which computes a part of each operator. Nothing of the program looks at that bit: feclearexcept and
fetestexcept leave it out.

The bit says nothing of how many there are: one in the gradient of a class that is never right costs nothing. So where it was met, some of
the numbers are read that a model and its parts are given, at one of its next calls.
"""

import ctypes
import os
import sys

from . import core, life
from .pieces import bytes_of

EVERY = 5_000_000  # nanoseconds between two looks
MET = 2  # the bit
COUNTED = 8  # calls of models at which numbers are counted
LONG_ENOUGH = 40_000_000  # nanoseconds that all counting may take
PIECES = 256  # of a tensor, whose numbers are counted
EXPONENT, MANTISSA = 0x7F800000, 0x007FFFFF  # of a number in 32 bits: without the one and with the other it is denormal

last = 0
words = (ctypes.c_uint32 * 8)()
library = False  # the C library's functions, where they say something of this
times_met, next_count = 0, 1  # looks that found such numbers, and at how many of them numbers are counted next
counted = took = 0
counting = False  # a model is being called: what its parts are given is counted, too
place = None, None  # where from
told = set()  # sizes of tensors in which some were found


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
    global last, times_met
    t = core.now()
    if library and t - last >= EVERY:
        last = t
        met = seen()
        core.count("denormal_looks")
        core.count("denormal_met", int(met))
        times_met += met


def due():
    """Whether the numbers that a model is called with are to be counted."""
    return times_met >= next_count and counted < COUNTED and took < LONG_ENOUGH


def count(module, arguments, caller):
    """Counts those that a frame of the program calls a model with, and says that its parts are to be counted until it returns."""
    global next_count, counted, counting, place
    next_count, counted, counting = 2 * times_met, counted + 1, True
    place = caller.f_code.co_filename, caller.f_lineno
    given(module, arguments)


@core.hook("denormals-given")
def given(module, arguments):
    """Counts the denormal numbers among some of what a module is given, and tells where there are any."""
    global took
    began = core.now()
    torch = sys.modules["torch"]
    for tensor in arguments if took < LONG_ENOUGH else ():
        if type(tensor) is torch.Tensor and tensor.dtype == torch.float32:
            read = memoryview(bytes_of(torch, tensor, PIECES)).cast("I")
            found = sum(1 for one in read if not one & EXPONENT and one & MANTISSA)
            if found or tensor.numel() in told:
                told.add(tensor.numel())
                core.emit("denormal", began, type(module).__name__, *place, tensor.numel(), len(read), found)
    took += core.now() - began


@core.hook("denormals-end")
def at_end():
    """The process ends: a program of neither steps nor models is looked at once."""
    global last
    last = 0
    look()
