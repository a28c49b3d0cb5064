"""What --calls has counted, as pstats has it: {function: (primitive calls, calls, own, cumulative, {caller: …})}, without the agent."""

import os

from . import core

DISABLE = "<method 'disable' of '_lsprof.Profiler' objects>"  # ends a profile, and is its last entry
ROOT = os.path.dirname(os.path.dirname(core.PACKAGE)) + os.sep


def label(code):
    """A function's name as pstats has it: (file, line, name)."""
    if isinstance(code, str):
        return ("~", 0, code)
    return (code.co_filename, code.co_firstlineno, code.co_name)


@core.uncollected
def entries_of(profiler):
    """What a profiler has counted by now. The collector waits meanwhile: a function that it called would turn _lsprof's tree, which
    is being walked, and entries would be left out."""
    return profiler.getstats()


def gathered(profilers):
    """{function: [primitive calls, calls, own, cumulative, {caller: [calls, primitive calls, own, cumulative]}]} of all."""
    table = {}
    entries = [entry for profiler in profilers for entry in entries_of(profiler)]
    for entry in entries:
        calls = (entry.callcount - entry.reccallcount, entry.callcount, entry.inlinetime, entry.totaltime)
        row = table.setdefault(label(entry.code), [0, 0, 0.0, 0.0, {}])
        row[:4] = [old + new for old, new in zip(row, calls)]
    for entry in entries:
        caller = label(entry.code)
        for called in entry.calls or ():
            calls = (called.callcount, called.callcount - called.reccallcount, called.inlinetime, called.totaltime)
            edges = table.setdefault(label(called.code), [0, 0, 0.0, 0.0, {}])[4]
            edges[caller] = [old + new for old, new in zip(edges.get(caller, (0, 0, 0.0, 0.0)), calls)]
    return table


def without_agent(table):
    """Takes out the agent: what its wrappers called is called by their callers, what it called for itself goes."""
    ours = {key for key in table if key[0].startswith(ROOT)}
    for key, row in table.items():
        if key not in ours:
            for caller in [caller for caller in row[4] if caller in ours]:
                move_edge(table, ours, key, caller)
    kept = {}
    for key, row in table.items():
        if key not in ours and row[1] > 0 and (row[4] or key[2] != DISABLE):
            kept[key] = (row[0], row[1], row[2], row[3], {caller: tuple(edge) for caller, edge in row[4].items()})
    return kept


def move_edge(table, ours, key, caller):
    """Gives an edge from one of our functions to those who called it, or takes it off the callee."""
    row = table[key]
    edge = row[4].pop(caller)
    if not programs(key):
        row[:4] = [row[0] - edge[1], row[1] - edge[0], max(0.0, row[2] - edge[2]), max(0.0, row[3] - edge[3])]
        return
    callers = {}
    outer(table, ours, caller, callers, set())
    total = sum(callers.values()) or 1  # a profile that ended between can leave callers of no call
    for above, calls in callers.items():
        share = [value * calls / total for value in edge]
        share[:2] = [round(share[0]), round(share[1])]
        if not share[0]:
            continue  # of few calls, some of many callers have none
        row[4][above] = [old + new for old, new in zip(row[4].get(above, (0, 0, 0.0, 0.0)), share)]


def outer(table, ours, function, callers, seen):
    """Adds to callers the calls of one of our functions by those that are not ours, through others of ours."""
    seen.add(function)
    for caller, edge in table[function][4].items():
        if caller not in ours:
            callers[caller] = callers.get(caller, 0) + edge[0]
        elif caller not in seen:
            outer(table, ours, caller, callers, seen)


def programs(key):
    """Whether a function that our code called is one of the program's, behind a wrapper; not C code or the standard library."""
    file = key[0]
    if file == "~":
        return False
    return file.startswith("<") or os.sep + "site-packages" + os.sep in file or not file.startswith(tuple(core.inner[1:3]))
