"""torch.compile: compilations with their reasons, and graph breaks, read from torch's own records at flushes. Never imports Dynamo."""

import sys
import time

from . import core

seen = set()  # (compile id, start) of compilations that have a row
breaks = {}  # reason -> count at the last look
MAX_SEEN = 10_000


def install(torch):
    """Looks at each flush whether anything was compiled."""
    core.before_flush.append(poll)


def dynamo_comes(module):
    """Dynamo is about to be loaded: it takes what stands at Module's __call__ for the one that it may look through, and must not meet
    our watchers of module calls."""
    from . import modulepaths, modules

    modulepaths.withdraw()
    modules.pause()


def dynamo_came(module):
    """Dynamo has been loaded, and compiles nothing yet."""
    from . import modules

    modules.resume()


def compiling_comes(module):
    """torch.compile is called, for the first time."""
    from . import modules

    modules.compile_begins()


@core.hook("compiles")
def poll():
    """Emits what is new in Dynamo's records."""
    utils = sys.modules.get("torch._dynamo.utils")
    if utils is None:
        return
    metrics = getattr(utils, "get_compilation_metrics", None)
    for metric in metrics() if metrics is not None else ():
        compilation(metric)
    counted = getattr(utils, "counters", None)
    if counted:
        graph_breaks(counted)


def compilation(metric):
    """One compiled frame as a span."""
    began_us = getattr(metric, "start_time_us", None)
    if began_us is None:
        began = getattr(metric, "start_time", None)
        began_us = began * 1e6 if began else None
    length_us = getattr(metric, "duration_us", None)
    if length_us is None:
        length_us = (getattr(metric, "entire_frame_compile_time_s", None) or 0) * 1e6
    if began_us is None:
        return
    identity = getattr(metric, "compile_id", None)
    key = (str(identity), getattr(metric, "co_name", None), int(began_us))
    if key in seen or len(seen) >= MAX_SEEN:
        return
    seen.add(key)
    offset = core.now() - time.time_ns()
    t0 = int(began_us * 1000) + offset
    reason = getattr(metric, "recompile_reason", None) or getattr(metric, "fail_reason", None)
    if reason is None and recompiled(str(identity)):
        reason = "recompiled"
    name = "%s [%s]" % (getattr(metric, "co_name", None) or "?", identity)
    core.emit(
        "span",
        "compile",
        t0,
        t0 + int(length_us * 1000),
        main_thread(),
        name,
        getattr(metric, "co_filename", None),
        getattr(metric, "co_firstlineno", None),
        reason,
        getattr(metric, "graph_op_count", None),
    )
    core.count("compilations")
    if recompiled(str(identity)):
        core.count("recompilations")


def recompiled(identity):
    """Whether a compile id ("0/1", "[0/1]") is not its frame's first."""
    number = identity.strip("[]").rpartition("/")[2].split("_")[0]
    return number.isdigit() and int(number) > 0


def main_thread():
    """Dynamo does not say which thread compiled; the one that runs the loop nearly always."""
    from . import marks

    return (marks.tracker.driver if marks.tracker is not None else None) or core.thread_id()


def graph_breaks(counted):
    """Reasons of graph breaks, each time one is counted anew."""
    total = 0
    for reason, number in list(counted.get("graph_break", {}).items()):
        total += number
        if number > breaks.get(reason, 0):
            if reason not in breaks and len(breaks) < 200:
                core.note("graph-break", reason)
            breaks[reason] = number
    if total:
        core.counters["graph_breaks"] = total
    unique = counted.get("stats", {}).get("unique_graphs")
    if unique:
        core.counters["unique_graphs"] = unique
