"""How long a window may wait for its step's end.

A step that does not end leaves no mark at which its window could be stopped, and all that runs meanwhile is recorded: up to a million
events a second of small operators, 2.5 million of Python's calls where stacks are kept, and torch needs 2 KB for each while it stops.
Two seconds of that took programs 3 GB and 15 s. Nothing tells how many events there are so far, but the C library tells how much
memory is in use, and what torch has recorded is part of it.
"""

import ctypes

from . import core, ticker, toolids

LONGEST_S = (2.0, 30.0)  # always, and at most
SLOWER = 1.5  # a traced step beside the last one
MORE_S = (0.5, 0.05)  # so much longer a step may take, whatever it does; between short operators
FIRST_S = (1.0, 0.5)  # the least that a step of long operators may take while none was traced to its end; with stacks
LOOKS = 4  # how often a slice is looked at
QUICK_NS = 200_000  # a program that does what it is asked so soon is between two short operators, or in Python
QUICK_LOOKS = 2
CALL_BYTES = 24  # that a call of Python's takes while a session records; an operator takes 100 to 500
OPERATOR_BYTES = 200
ASKS = 20  # times as long as asking the C library took, it is left alone
LEAST_BYTES = 16 << 20  # with less in use once torch is there, another library keeps the memory
ELSEWHERE = toolids.monitoring is not None  # whether a window can be cut on a thread that is not the main one


class Patience:
    """Of one process's windows; times in seconds, but for marks, which are monotonic nanoseconds."""

    def __init__(self):
        in_use()  # the first time takes longest, and is no measure of the others
        self.step = 0.0  # of the last window, a step's time
        self.passed = 0  # when a step last began
        self.usual = (0.0, 0.0)  # what a step may take that has made many events: usually, and between short operators
        self.longest = 0.0  # whatever it has made
        self.used, self.least = None, None  # bytes now, and the least since the window began; None unknown
        self.again = 0  # a mark before which the C library is not asked again
        self.held = 0  # bytes that the window's events may take
        self.quick = 0  # looks in turn at which the program was between short operators
        self.listener = None  # toolids.Listener, while another thread than the main one is to cut its window

    def begin(self, stacks, events, expected):
        """A window begins. events: how many it may hold; expected: within which time there are as many, 0 where that is not known. Returns
        the distance at which over is to be asked."""
        self.passed = core.now()
        self.longest = min(LONGEST_S[1], max(LONGEST_S[0], expected))
        step = SLOWER * self.step
        self.usual = (step + MORE_S[0] if step else FIRST_S[stacks], step + MORE_S[1])
        self.record(stacks, events)
        return MORE_S[1] / 2

    def slice(self, seconds, events):
        """A slice of time begins, which holds what it holds unless that is far too much. Returns what begin returns."""
        self.passed, self.usual, self.longest = core.now(), (0.0, 0.0), seconds
        self.record(False, 4 * events)
        return seconds / LOOKS

    def record(self, stacks, events):
        """Recording begins."""
        self.quick = 0
        self.held = events * (2 * CALL_BYTES if stacks else OPERATOR_BYTES)
        self.look()
        self.least = self.used

    def look(self):
        """Asks the C library, unless that took long a short while ago: it goes through all that is free."""
        began = core.now()
        if began >= self.again:
            self.used = in_use()
            ended = core.now()
            self.again = ended + ASKS * (ended - began)

    def over(self):
        """Whether the window is to be cut: a step takes longer than others, and may have made more events than the window may hold.
        The program's own memory counts as well, so that a step of the usual length is not cut, and one of long operators, which cannot
        make so many, has longer."""
        at = core.now()
        self.quick = self.quick + 1 if at - ticker.asked_at < QUICK_NS else 0
        self.look()
        grown = self.held  # as far as is known
        if self.used is not None and self.least is not None:
            grown = difference(self.used, self.least)
            if grown < 0:  # a step's beginning gives away what the one before kept
                self.least = self.used
        waited = (at - self.passed) / 1e9
        return waited >= self.longest or grown >= self.held and waited >= self.usual[self.quick >= QUICK_LOOKS]

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
    library = ctypes.PyDLL(None)  # without a wait for the interpreter's lock after each call
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
