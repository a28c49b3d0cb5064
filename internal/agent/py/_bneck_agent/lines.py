"""--lines: hits and time of each line of chosen functions, as kernprof has them, in lines.json.gz.

From 3.12 on by sys.monitoring, whose events are switched on in the code of these functions alone; before, by sys.settrace (linetrace.py).
A line's time ends where the function's next line begins, or where the function returns or gives a value; so it holds what the line calls.
Calls of a function within itself are counted in its own lines, and not once more in the line that calls it. Each thread counts for itself.
"""

import _thread
import operator
import os
import sys
from time import perf_counter as now  # seconds: adding floats is half as dear as adding nanoseconds, which take two digits

from . import core, life, linenames, linerows, toolids, tracebacks

NAME = "lines.json.gz"
EVERY_NS = 5_000_000_000  # between two snapshots of a program that goes on
T0, ROW, OUTSIDE, OUTER, ROWS = range(5)  # of a function's state in one thread; OUTER: rows of its calls around the running one
TIME, HITS, NEXT = linerows.TIME, linerows.HITS, linerows.NEXT
LOCAL = ("LINE", "PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD")

get_ident = _thread.get_ident
chosen = {}  # id of a code object -> the object
files = {}  # path as code has it -> from the root, for the program may change its directory
offsets = {}  # id of a code object -> {offset: line}, of generators and coroutines
threads = {}  # ident -> Thread; a new thread goes on with that of a dead one
listener = None  # toolids.Listener from 3.12 on
spread = False  # lines are counted by the callback of their own thread; else by that of the only one
last = 0
cost = 0.0  # seconds that counting one line takes


@core.hook("lines-begin")
def begin():
    """Starts counting in this process."""
    global listener
    tracebacks.install_module()  # what a handler of signals raises while a line is counted passes through the callback
    linenames.take(core.config.lines)
    life.after_fork.append(forked)
    life.at_end.append(at_end)
    core.before_flush.append(snapshot)
    linenames.install(choose)
    if hasattr(sys, "monitoring"):
        monitor()
    else:
        from . import linetrace

        linetrace.begin()


class Thread:
    """What one thread counts: states of functions, and the callbacks that change them."""

    def __init__(self):
        self.states = {}
        self.traced = {}  # before 3.12: id of a code object -> what linetrace.function gives for it
        self.line, self.begun, self.resumed, self.left, self.keep = callbacks(self.states)

    def save(self):
        """Has the states hold all there is."""
        self.keep()
        for _, _, keep in list(self.traced.values()):
            keep()


def new_state(code):
    """A function's state in a thread."""
    outside, rows = linerows.new_rows(code)
    return [now(), outside, outside, [], rows]


def callbacks(states):
    """The callbacks of one thread. What is counted last is held in variables, which are faster than a state's items."""
    here, t0 = None, 0.0
    state = [0.0, None, None, [], {}]
    row = [0.0, 0, {}]

    def switch(code):
        nonlocal here, state, row, t0
        keep()
        if id(code) not in states:
            states[id(code)] = new_state(code)
        here, state = code, states[id(code)]
        t0, row = state[T0], state[ROW]

    def line(code, number):
        nonlocal row, t0
        t = now()
        if code is not here:
            switch(code)
        row[TIME] += t - t0
        t0 = t
        try:
            row = row[NEXT][number]
        except KeyError:  # a line that the code does not name
            return
        row[HITS] += 1

    def begun(code, inner=None):
        nonlocal row, t0
        if code is not here:
            switch(code)
        t = now()
        row[TIME] += t - t0
        state[OUTER].append(row)
        row, t0 = inner or state[OUTSIDE], t

    def resumed(code, number):
        if code is not here:
            switch(code)
        begun(code, state[OUTSIDE][NEXT].get(number))

    def left(code):
        nonlocal row, t0
        t = now()
        if code is not here:
            switch(code)
        row[TIME] += t - t0
        row, t0 = state[OUTER].pop() if state[OUTER] else state[OUTSIDE], t

    def keep():
        state[T0], state[ROW] = t0, row

    return line, begun, resumed, left, keep


def mine():
    """The calling thread's counter. With the second one, each has lines counted by its own."""
    ident = get_ident()
    if ident not in threads:
        threads[ident] = Thread()
        if len(threads) > 1:
            spread_out()
    return threads[ident]


@core.hook("lines-spread")
def spread_out():
    """Binds lines to a callable that calls the calling thread's own callback (see callthreads.by_thread)."""
    global spread
    if spread or listener is None or listener.id is None:
        return
    spread = True

    class Local(_thread._local):
        def __init__(self):
            self.callback = mine().line

        __call__ = property(operator.attrgetter("callback"))

    listener.bind(dict(listener.functions, LINE=Local()))


# From 3.12 on


def monitor():
    """Listens to chosen functions, and to the first call of all others where names are to be found."""
    global listener
    everywhere = ["PY_UNWIND", "PY_THROW"] + ["PY_START"] * bool(linenames.patterns or linenames.places)
    functions = {"LINE": mine().line, "PY_START": on_start}
    functions.update(dict.fromkeys(("PY_RESUME", "PY_THROW"), on_resume))
    functions.update(dict.fromkeys(("PY_RETURN", "PY_YIELD", "PY_UNWIND"), on_end))
    listener = toolids.listen(functions, lost, everywhere, LOCAL)
    if listener is None:
        core.note("lines-missing", "lines are not counted: the program has taken all tool ids of sys.monitoring (%s)" % toolids.taken())
    elif not getattr(sys, "_is_gil_enabled", lambda: True)():
        spread_out()


def on_start(code, _):
    """A function begins."""
    if id(code) not in chosen and not named(code, sys._getframe(1)):
        return sys.monitoring.DISABLE
    mine().begun(code)
    return None


def on_resume(code, offset, _=None):
    """A generator or coroutine goes on, in the line where it stopped."""
    if id(code) in chosen:
        mine().resumed(code, line_at(code).get(offset))


def on_end(code, *_):
    """A function returns, gives a value or is left by an exception."""
    if id(code) in chosen:
        mine().left(code)


def line_at(code):
    """{offset: line} of a generator or coroutine."""
    if id(code) not in offsets:
        offsets[id(code)] = linerows.line_at(code)
    return offsets[id(code)]


@core.hook("lines-named")
def named(code, frame):
    """Chooses a function that was asked for by name."""
    if linenames.wanted(code, frame):
        choose(code)
        return True
    return False


def choose(code, late=False):
    """Has the lines of a function counted. late: it may have run before."""
    if id(code) in chosen:
        return
    chosen[id(code)], file = code, code.co_filename
    files[file] = file if file.startswith("<") else os.path.abspath(file)
    if listener is not None:
        toolids.choose(listener, code)
        if late and "PY_START" in listener.everywhere:
            sys.monitoring.restart_events()  # its first call was of no interest then


@core.hook("lines-lost")
def lost():
    """The program has taken a tool id, and there is no other."""
    text = "lines were counted until the program took the tool ids of sys.monitoring (%s), and not after that"
    core.note("lines-paused", text % toolids.taken())


# What was counted


def table():
    """[[file, first line, name, [[line, hits, nanoseconds], ...]], ...] of all threads; what still runs has its time up to now."""
    sums, t = {}, now()
    for thread in list(threads.values()):
        thread.save()
        for number, state in list(thread.states.items()):
            code = chosen.get(number)
            if code is None:
                continue
            lines = sums.setdefault(label(code), {})
            for start, rows in state[ROWS].items():
                open_for = t - state[T0] if state[OUTER] and any(state[ROW] is row for row in rows) else 0.0
                total = lines.setdefault(start, [0, 0.0])
                total[0] += rows[0][HITS]
                total[1] += sum(row[TIME] for row in rows) + open_for
    for code in list(chosen.values()):
        sums.setdefault(label(code), {})
    return [list(key) + [counted(lines)] for key, lines in sums.items()]


def label(code):
    """A function's file, first line and name."""
    return (files[code.co_filename], code.co_firstlineno, code.co_name)


def counted(lines):
    """Lines that ran, in order."""
    return [[line, hits, round(seconds * 1e9)] for line, (hits, seconds) in sorted(lines.items()) if hits]


def write():
    """lines.json.gz, where a function was found."""
    import json

    if not chosen or core.folder is None:
        return
    whole = {"schema": "bottleneck.lines/1", "cost_ns": round(cost * 1e9), "functions": table()}
    core.replace(os.path.join(core.folder, NAME), core.packed(json.dumps(whole).encode("utf-8", "backslashreplace")))


@core.hook("lines-snapshot")
def snapshot():
    """At a flush: writes what there is by now, so that a killed program leaves something."""
    global last
    if core.now() - last >= EVERY_NS:
        last = core.now()
        write()


@core.hook("lines-end")
def at_end():
    """The process ends."""
    global last
    last = core.now()
    if chosen:
        measure_cost()
    stop()
    linenames.missing()
    write()


def stop():
    """Ends the counting."""
    if listener is not None:
        toolids.stop(listener)
    else:
        linetrace = sys.modules.get("_bneck_agent.linetrace")
        if linetrace is not None:
            linetrace.stop()


ROUNDS = 2000


def probe():
    """Two lines each round, which do next to nothing."""
    for _ in range(ROUNDS):
        pass


def measure_cost():
    """Counts lines of the agent's own, to know what that takes; not where hooks go unseen (calls.py)."""
    global cost
    if core.here is not None:
        return
    taken = []
    for counting in (False, True):
        if counting:
            choose(probe.__code__)
        probe()
        t = now()
        probe()
        taken.append(now() - t)
    state = mine().states.pop(id(probe.__code__), None)
    del chosen[id(probe.__code__)]
    if state is not None and state[ROWS]:
        cost = max(0.0, (taken[1] - taken[0]) / (2 * ROUNDS))


@core.hook("lines-fork")
def forked():
    """In a forked child: counts anew, its one thread being the one that forked."""
    global last
    last = 0
    only = threads.get(get_ident())
    threads.clear()
    if only is not None:
        threads[get_ident()] = only
        for state in only.states.values():
            for row in [state[OUTSIDE]] + [row for rows in state[ROWS].values() for row in rows]:
                row[TIME], row[HITS] = 0.0, 0
