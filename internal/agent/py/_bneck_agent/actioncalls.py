"""--calls by action: which functions ran within each of a trainer's actions, in calls-actions.json.gz.

The counts of _lsprof.Profiler change only when a function returns, so what they grew by from an action's start to its end is what
ran within it, on its thread; functions around it add nothing. Reading them all costs some milliseconds, so that not every
call of an action is measured once there were a few.
"""

import _thread
import os
import sys

from . import calls, core

NAME = "calls-actions.json.gz"
FIRST = 5  # calls of each action that are measured whatever it costs
EVEN = 20  # up to so many calls, an action may use the larger share
SHARES = 0.05, 0.025  # of the time that passes
MOST = 500  # actions

tables = {}  # action -> [calls that were measured, {(file, line, name): [primitive calls, calls, own ns, cumulative ns]}]
contained = {}  # (file, line, name) -> nanoseconds of reading while it ran
spent = 0
since = core.now()


def begin(action):
    """An action starts on this thread: what end needs, None where this call is not measured."""
    t0 = core.now()
    done = tables[action][0] if action in tables else 0
    if done >= FIRST and spent > SHARES[done >= EVEN] * (t0 - since):
        return None
    if calls.tool is None and hasattr(sys, "monitoring") or _thread.get_ident() in calls.away or done == 0 and len(tables) >= MOST:
        return None
    profiler = calls.profiler_here()
    start = [profiler, calls.breaks, calls.entries_of(profiler), dict(contained)]
    charge(t0)
    return start


def end(action, start):
    """The action that begin was told of ends. Not counted where the program's own profiler took the place meanwhile."""
    t0 = core.now()
    profiler, breaks, before, within = start
    start.clear()  # freeing what was read takes as long as reading it, and is part of it
    if breaks != calls.breaks or calls.profilers.get(_thread.get_ident()) is not profiler:
        return
    table = tables.setdefault(action, [0, {}])
    table[0] += 1
    reading = {key: time - within.get(key, 0) for key, time in contained.items() if time != within.get(key)}
    for key, grown in growth(before, calls.entries_of(profiler), reading).items():
        row = table[1].setdefault(key, [0, 0, 0, 0])
        row[:] = [old + new for old, new in zip(row, grown)]
    del before
    charge(t0)


def charge(t0):
    """Accounts for what has been read since t0, which is part of the time of every function that runs."""
    global spent
    took = core.now() - t0
    spent += took
    running = set()
    frame = sys._getframe(2)
    while frame is not None:
        running.add(calls.label(frame.f_code))
        frame = frame.f_back
    for key in running:
        contained[key] = contained.get(key, 0) + took


def growth(before, after, reading):
    """{function: [primitive calls, calls, own, cumulative]}, nanoseconds, of the program's functions with more calls than before.
    reading: {function: nanoseconds of reading while it ran}, which are taken off."""
    known = {id(entry.code): entry for entry in before}  # entries of one profiler share their code objects and names
    grown, natives = {}, []
    for entry in after:
        old = known.get(id(entry.code))
        if old is not None and old.callcount == entry.callcount:
            continue
        key = calls.label(entry.code)
        if key[0].startswith(calls.ROOT):
            continue
        row = grown.setdefault(key, [0, 0, 0, 0])
        add(row, entry, old)
        row[3] = max(row[2], row[3] - reading.get(key, 0))
        if entry.calls and isinstance(entry.code, str):
            natives.append((row, entry, old))
    for row, entry, old in natives:
        row[3] = max(row[2], row[3] - read_below(entry, old, reading))
    if core.here is None:  # else what the agent calls for itself is not counted at all
        for entry in after:
            if calls.label(entry.code)[0].startswith(calls.ROOT):
                without_agents_calls(grown, entry, known.get(id(entry.code)))
    return {key: row for key, row in grown.items() if row[1] > 0}


def changes(entry, old):
    """(function, [primitive calls, calls, own, cumulative]) of each that an entry's function has called since."""
    known = {id(called.code): called for called in old.calls or ()} if old is not None else {}
    for called in entry.calls or ():
        row = [0, 0, 0, 0]
        add(row, called, known.get(id(called.code)))
        yield calls.label(called.code), row


def read_below(entry, old, reading):
    """Time of reading in what a C function called: it has no frame of its own."""
    return sum(min(row[3], reading[key]) for key, row in changes(entry, old) if key in reading)


def without_agents_calls(grown, entry, old):
    """Takes off what one of the agent's functions called for itself."""
    for key, called in changes(entry, old):
        if key in grown and not calls.programs(key):
            grown[key][:] = [mine - its for mine, its in zip(grown[key], called)]


def add(row, entry, old):
    """Adds to a row what an entry of a profiler has grown by since it was old, None if it was not there."""
    for sign, state in ((1, entry), (-1, old)):
        if state is not None:
            row[0] += sign * (state.callcount - state.reccallcount)
            row[1] += sign * state.callcount
            row[2] += sign * round(state.inlinetime * 1e9)
            row[3] += sign * round(state.totaltime * 1e9)


def take_off(table):
    """Takes the reading off the cumulative times of calls.gathered's table, and off edges in proportion."""
    native = {}
    for key, time in contained.items():
        row = table.get(key)
        if row is not None and row[3] > 0:
            for caller, took in shrink(row, time / 1e9):
                if caller[0] == "~":
                    native[caller] = native.get(caller, 0.0) + took
    for key, time in native.items():
        if key in table and table[key][3] > 0:
            shrink(table[key], time)


def shrink(row, seconds):
    """Lowers a row's cumulative time; gives (caller, seconds) for what was taken off each edge."""
    less = max(row[2], row[3] - seconds)
    part, row[3] = less / row[3], less
    taken = [(caller, edge[3] * (1 - part)) for caller, edge in row[4].items()]
    for edge in row[4].values():
        edge[3] *= part
    return taken


def forked():
    """In a forked child: counts anew."""
    global spent, since
    tables.clear()
    contained.clear()
    spent, since = 0, core.now()


def write():
    """The file, anew."""
    if not tables:
        return
    numbers, actions = {}, []
    for action, (measured, table) in tables.items():
        rows = [[numbers.setdefault(key, len(numbers))] + row for key, row in table.items()]
        actions.append({"name": str(action), "measured": measured, "functions": rows})
    document = {"schema": "bottleneck.calls-actions/1", "functions": list(numbers), "actions": actions}
    core.replace(os.path.join(core.folder, NAME), core.encode([document]))
