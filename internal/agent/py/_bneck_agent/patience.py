"""How long a window may wait for its step's end.

A step that does not end leaves no mark at which its window could be stopped, and all that runs meanwhile is recorded: up to a million
events a second of small operators, 2.5 million of Python's calls where stacks are kept, and torch needs 2 KB for each while it stops.
Two seconds of that took programs 3 GB and 15 s. Nothing tells how many events there are so far, but the C library tells how much
memory is in use, and what torch has recorded is part of it.
"""

import ctypes

from . import core, ticker, toolids

LONGEST_S = (2.0, 30.0)  # always, and at most
MORE_S = 0.05  # so much longer than others a step may take, whatever it does
FIRST_S = (1.0, 0.5)  # the most that it may take then while none was traced to its end; with stacks
LEAST_S = 0.001  # of the steps' mean time: a shorter one is that of no step, as where the first step is known at its end
SLOWER = (1.5, 3.0)  # a traced step beside the last one, and beside the mean of all before
LOOKS = 4  # how often a window is looked at within that time, and within MORE_S at the most
QUICK_NS = 200_000  # a program that does what it is asked so soon is between two short operators, or in Python
QUICK_LOOKS = 2
CALL_BYTES = 24  # that a call of Python's takes while a session records; an operator takes 100 to 500
OPERATOR_BYTES = 200
LEAST_BYTES = 16 << 20  # with less in use once torch is there, another library keeps the memory
ELSEWHERE = toolids.monitoring is not None  # whether a window can be cut on a thread that is not the main one


class Patience:
    """Of one process's windows; times in seconds, but for marks, which are monotonic nanoseconds."""

    def __init__(self):
        self.step = 0.0  # of the last window, a step's time
        self.passed = 0  # when a step last began
        self.usual = self.longest = 0.0
        self.used = None
        self.held = 0
        self.quick = 0  # looks in turn at which the program was between short operators
        self.listener = None  # toolids.Listener, while another thread than the main one is to cut its window

    def begin(self, stacks, events, expected, mean):
        """A window begins. events: how many it may hold; expected: within which time there are as many, 0 where that is not known;
        mean: a step's, so far. Returns the distance at which over is to be asked."""
        self.passed = core.now()
        self.longest = min(LONGEST_S[1], max(LONGEST_S[0], expected))
        first = min(FIRST_S[stacks], SLOWER[1] * mean) if mean >= LEAST_S else FIRST_S[stacks]
        self.usual = min(self.longest, MORE_S + (SLOWER[0] * self.step or first))
        self.record(stacks, events)
        return min(self.usual / LOOKS, MORE_S)

    def slice(self, seconds, events):
        """A slice of time begins, which holds what it holds unless that is far too much. Returns what begin returns."""
        self.passed, self.usual, self.longest = core.now(), 0.0, seconds
        self.record(False, 4 * events)
        return seconds / LOOKS

    def record(self, stacks, events):
        """Recording begins."""
        self.quick = 0
        self.held = events * (2 * CALL_BYTES if stacks else OPERATOR_BYTES)
        self.used = in_use()

    def over(self):
        """Whether the window is to be cut: a step takes longer than others, and may have made more events than the window may hold.
        The program's own memory counts as well, so that a step of the usual length is not cut; where none was traced to its end, a step
        of short operators is, which can make so many."""
        at, now = core.now(), in_use()
        self.quick = self.quick + 1 if at - ticker.asked_at < QUICK_NS else 0
        if now is None or self.used is None:
            self.used, grown = None, self.held
        else:
            grown = difference(now, self.used)
            if grown < 0:  # a step's beginning gives away what the one before kept
                self.used = now
        waited, usual = (at - self.passed) / 1e9, self.usual
        if not self.step and self.quick >= QUICK_LOOKS:
            usual = min(usual, MORE_S)
        return waited >= self.longest or waited >= usual and grown >= self.held

    def elsewhere(self, driver, cut):
        """On the ticker's thread: once the window is to be cut, has that done on the thread that began it, at its next call or jump."""
        if self.listener is None and self.over():

            def here(*_):
                if core.thread_id() != driver:
                    return toolids.monitoring.DISABLE
                cut()
                self.ended()
                return None

            self.listener = toolids.listen({"CALL": here, "JUMP": here}, self.lost)

    def ended(self):
        """The window has ended."""
        listener, self.listener = self.listener, None
        if listener is not None:
            toolids.stop(listener)

    def lost(self):
        """The program has taken all ids."""
        self.listener = None

    def learn(self, lasted, steps, cheap):
        """A window has ended after so many whole steps. cheap: if it was cut, one of four times its length is no long pause either."""
        if steps or cheap:
            self.step = lasted / steps if steps else 4 * lasted


function, bits = None, 0


def information():
    """The C library's function that tells what memory is in use, and how wide its numbers are."""
    library = ctypes.CDLL(None)
    for name, number in (("mallinfo2", ctypes.c_size_t), ("mallinfo", ctypes.c_uint)):  # the older one's run over
        found = getattr(library, name, None)
        if found is not None:
            names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
            found.restype = type("Information", (ctypes.Structure,), {"_fields_": [(field, number) for field in names.split()]})
            return found, 8 * ctypes.sizeof(number)
    return (lambda: None), 0


def in_use():
    """How many bytes the C library has given away; None where it does not tell."""
    global function, bits
    if function is None:
        function, bits = information()
    told = function()
    given = told.uordblks + told.hblkhd if told is not None else 0
    return given if given >= LEAST_BYTES else None


def difference(now, before):
    """By how much more is in use."""
    half = 1 << (bits - 1)
    return (now - before + half) % (2 * half) - half
