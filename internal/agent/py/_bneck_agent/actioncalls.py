"""--calls by action: which functions ran within each of a trainer's actions, in calls-actions.json.gz.

The counts of _lsprof.Profiler change only when a function returns, so what they grew by from an action's start to its end is what
ran within it, on its thread; functions around it add nothing. Reading them takes some 3 microseconds for each function that the
program has ever called, thousands with torch, so that only a few calls of an action are measured for certain.
"""

import _thread
import os
import sys
from operator import attrgetter

from . import calls, calltable, core

NAME = "calls-actions.json.gz"
FIRST = 2  # calls of each action that are measured whatever it costs
EVEN = 20  # up to so many calls, an action may use the larger share
SHARES = 0.05, 0.025  # of the time that passes
MOST = 500  # actions

tables = {}  # action -> [calls that were measured, {(file, line, name): [primitive calls, calls, own ns, cumulative ns]}]
contained = {}  # (file, line, name) -> nanoseconds of reading while it ran
spent = 0
since = core.now()


NUMBERS = [attrgetter(name) for name in ("callcount", "reccallcount", "inlinetime", "totaltime")]


class State:
    """What a profiler has counted at one time, in a few plain lists: thousands of objects would have the collector run, too."""

    def __init__(self, profiler):
        entries = calltable.entries_of(profiler)
        self.places = places(map(id, map(attrgetter("code"), entries)))  # a profiler keeps its code objects
        self.columns = [list(map(number, entries)) for number in NUMBERS]
        callers = [entry for entry in entries if entry.calls and below_matters(entry.code)]
        pairs = [(id(entry.code) << 64 | id(called.code), called) for entry in callers for called in entry.calls]
        self.edges = places(pair for pair, called in pairs)
        self.edge_columns = [[number(called) for pair, called in pairs] for number in NUMBERS]


def places(keys):
    """Where each key stands in its sequence."""
    return {key: place for place, key in enumerate(keys)}


def below_matters(code):
    """Whether growth asks what a function has called: functions of C, and the agent's own where they are counted."""
    return isinstance(code, str) or core.here is None and code.co_filename.startswith(calltable.ROOT)


@core.uncollected
def begin(action):
    """An action starts on this thread: what end needs, None where this call is not measured."""
    t0 = core.now()
    done = tables[action][0] if action in tables else 0
    if done >= FIRST and spent > SHARES[done >= EVEN] * (t0 - since):
        return None
    if calls.tool is None and hasattr(sys, "monitoring") or _thread.get_ident() in calls.away or done == 0 and len(tables) >= MOST:
        return None
    profiler = calls.profiler_here()
    start = [profiler, calls.breaks, State(profiler), dict(contained)]
    charge(t0)
    return start


@core.uncollected
def end(action, start):
    """The action that begin was told of ends. Not counted where the program's own profiler took the place meanwhile."""
    t0 = core.now()
    profiler, breaks, before, within = start
    start.clear()  # freeing what was read takes its time, too, and is part of it
    if breaks != calls.breaks or calls.profilers.get(_thread.get_ident()) is not profiler:
        return
    table = tables.setdefault(action, [0, {}])
    table[0] += 1
    reading = {key: time - within.get(key, 0) for key, time in contained.items() if time != within.get(key)}
    for key, grown in growth(before, calltable.entries_of(profiler), reading).items():
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
        running.add(calltable.label(frame.f_code))
        frame = frame.f_back
    for key in running:
        contained[key] = contained.get(key, 0) + took


def growth(before, after, reading):
    """{function: [primitive calls, calls, own, cumulative]}, nanoseconds, of the program's functions with more calls than before.
    reading: {function: nanoseconds of reading while it ran}, which are taken off."""
    grown, natives = {}, []
    counts = before.columns[0]
    for entry in after:
        place = before.places.get(id(entry.code))
        if place is not None and counts[place] == entry.callcount:
            continue
        key = calltable.label(entry.code)
        if key[0].startswith(calltable.ROOT):
            continue
        row = grown.setdefault(key, [0, 0, 0, 0])
        add(row, 1, *[number(entry) for number in NUMBERS])
        if place is not None:
            add(row, -1, *[column[place] for column in before.columns])
        row[3] = max(row[2], row[3] - reading.get(key, 0))
        if entry.calls and isinstance(entry.code, str):
            natives.append((row, entry))
    for row, entry in natives:
        row[3] = max(row[2], row[3] - read_below(before, entry, reading))
    if core.here is None:  # else what the agent calls for itself is not counted at all
        for entry in after:
            if calltable.label(entry.code)[0].startswith(calltable.ROOT):
                without_agents_calls(grown, before, entry)
    return {key: row for key, row in grown.items() if row[1] > 0}


def changes(before, entry):
    """(function, [primitive calls, calls, own, cumulative]) of each that an entry's function has called since."""
    for called in entry.calls or ():
        row = [0, 0, 0, 0]
        add(row, 1, *[number(called) for number in NUMBERS])
        place = before.edges.get(id(entry.code) << 64 | id(called.code))
        if place is not None:
            add(row, -1, *[column[place] for column in before.edge_columns])
        yield calltable.label(called.code), row


def read_below(before, entry, reading):
    """Time of reading in what a C function called: it has no frame of its own."""
    return sum(min(row[3], reading[key]) for key, row in changes(before, entry) if key in reading)


def without_agents_calls(grown, before, entry):
    """Takes off what one of the agent's functions called for itself."""
    for key, called in changes(before, entry):
        if key in grown and not calltable.programs(key):
            grown[key][:] = [mine - its for mine, its in zip(grown[key], called)]


def add(row, sign, count, recursive, own, total):
    """Adds a profiler's numbers to a row, or takes them off (sign -1); own and total are seconds."""
    row[0] += sign * (count - recursive)
    row[1] += sign * count
    row[2] += sign * round(own * 1e9)
    row[3] += sign * round(total * 1e9)


def take_off(table):
    """Takes the reading off the cumulative times of calltable.gathered's table, and off edges in proportion."""
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
