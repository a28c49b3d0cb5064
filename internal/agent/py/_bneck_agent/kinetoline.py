"""What Kineto says once per process: that it cannot count the devices. It says so when a session ends or, before 2.15, is first exported.

Our sessions are silent, and where they come first the program's own would lack the line. So the function of libtorch that says it is
called by itself before our first session ends, while standard error leads into memory: under the interpreter's lock, so that no thread
of Python writes or forks meanwhile; what others write in that moment is handed on. The line is said where the program's own would say it.
"""

import ctypes
import os
import re
import time

from . import core, devices, profiler

FUNCTIONS = "_ZN9libkineto20devicePropertiesJsonB5cxx11Ev", "_ZN9libkineto20devicePropertiesJsonEv"  # libkineto::devicePropertiesJson()
# libkineto::ChromeTraceLogger::handleTraceStart(…, const std::string&): where it takes a second argument, a session's end says the line.
AT_END = (
    "_ZN9libkineto17ChromeTraceLogger16handleTraceStartERKSt13unordered_mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES7_"
    "St4hashIS7_ESt8equal_toIS7_ESaISt4pairIKS7_S7_EEERSD_"
)
WHEN = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \d+:\d+ ")  # and process and thread, at the head of a line of Kineto's

asked = False
at_end = False
kept = b""


class Text(ctypes.Structure):
    """Room for a std::string, which some version may return by value."""

    _fields_ = [("bytes", ctypes.c_char * 64)]


@core.hook("kineto-line")
def keep(torch):
    """In a session of ours, silenced: has the line said into memory, once. Not where Kineto's severity is hidden, which silences it for
    good, nor where there is a GPU, whose driver answers and would be started."""
    global asked, at_end, kept
    if asked or profiler.severity is None or not hasattr(os, "memfd_create") or devices.there():
        return
    asked = True
    library = ctypes.PyDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
    at_end = hasattr(library, AT_END)
    for name in FUNCTIONS:
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype = Text
            text = said(function)
            own = b" %d:%d " % (os.getpid(), core.thread_id())
            lines = text.splitlines(True)
            kept = b"".join(line for line in lines if own in line)
            other = b"".join(line for line in lines if own not in line)
            if other:
                os.write(2, other)


def said(function):
    """What is written to standard error while a function runs, with Kineto as talkative as the program has it."""
    memory = os.memfd_create("bottleneck")
    try:
        usual, inherited = os.dup(2), os.get_inheritable(2)
        silent = profiler.severity.value
        try:
            os.dup2(memory, 2)
            profiler.severity.value = profiler.usual
            function()
        finally:
            profiler.severity.value = silent
            os.dup2(usual, 2, inherited)
            os.close(usual)
        return os.pread(memory, 1 << 16, 0)
    finally:
        os.close(memory)


def ended(session):
    """A profiler of torch's has ended; the program's, unless it is marked."""
    if getattr(session, "kineto_results", None) is not None and not getattr(session, "_bneck_own", False):
        say(True)


def exported():
    """The program exports a session."""
    say(False)


@core.hook("kineto-line-said")
def say(ending):
    """What the program would have said when a session ends (ending) or is exported comes now, of this moment, process and thread."""
    global asked, kept
    if kept and ending != at_end:
        return
    asked = True
    text, kept = kept, b""
    if text:
        now = "%s %d:%d " % (time.strftime("%Y-%m-%d %H:%M:%S"), os.getpid(), core.thread_id())
        os.write(2, WHEN.sub(now.encode(), text))
