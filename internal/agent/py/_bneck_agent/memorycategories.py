"""What memory was for, in torch's own words (parameters, activations, gradients, …): its memory timeline of one window with stacks.

A trace file does not say which tensor an address belonged to; torch knows it while the window's results are there. Working it out
takes some 0.2 ms per event of the profiler, so that one window is kept, and worked out when the program has ended.
"""

import importlib.util
import os
import time

from . import core, facts, signals

MAX_EVENTS = 16_000  # of the window that is kept: 3 s to 8 s at the program's end, and 50 MB of memory until then
MODULE = "torch.profiler._memory_profiler"

kept = None  # (results of a session, number of its window, events)
too_big = 0  # events of the smallest window that was not kept because of its size


def possible():
    """Whether this PyTorch can say it (2.0 and later, with Kineto)."""
    try:
        return importlib.util.find_spec(MODULE) is not None
    except (ImportError, ValueError):
        return False


def keep(session, results, number, events):
    """Keeps a window's results if they say enough. Called once they have been saved as a trace."""
    global kept, too_big
    if not all(session.keywords[name] for name in ("profile_memory", "record_shapes", "with_stack")):
        return
    if not hasattr(results, "experimental_event_tree"):
        return
    if events <= MAX_EVENTS:
        kept = (results, number, events)
    else:
        too_big = min(too_big or events, events)


@core.hook("memory-categories")
def at_end():
    """At the program's end: works them out. A program that ends by os._exit is not held up."""
    global kept
    window, kept = kept, None
    if core.folder is None or facts.exit_reason == "os._exit":
        return
    if window is None:
        if too_big:
            text = "categories of the memory timeline are inferred: windows with stacks have %d events and more, torch's need at most %d"
            core.note("memory-categories", text % (too_big, MAX_EVENTS))
        return
    t0, cpu = core.now(), time.thread_time_ns()
    try:
        write(*window[:2])
    except BaseException as error:
        if isinstance(error, Exception) and not signals.programs(error):
            raise
        core.note("memory-categories", "categories of the memory timeline are inferred: torch's were interrupted by a signal")
    core.cpu_ns += time.thread_time_ns() - cpu
    core.emit("span", "profiler", t0, core.now(), core.thread_id(), "memory categories", None, None, None, window[2])


@core.uncollected
@signals.takes_long
def write(results, number):
    """Writes memory-<number>-<device>.json.gz of each device: torch's raw timeline, as it writes it."""
    from importlib import import_module

    profiler = import_module(MODULE)
    timeline = profiler.MemoryProfileTimeline(profiler.MemoryProfile(results))
    devices = sorted({str(key.device) for _, _, (key, _), _ in timeline.timeline})
    for device in devices:
        name = "memory-%d-%s.json" % (number, device.replace(":", "-"))
        path = os.path.join(core.folder, name)
        timeline.export_memory_timeline_raw(path + ".part", device)
        with open(path + ".part", "rb") as file:
            text = file.read()
        core.replace(path + ".gz", core.packed(text))
        os.unlink(path + ".part")
        if os.environ.get("BNECK_DUMP_TIMELINE") == "1":  # for tests: what torch's export_memory_timeline writes
            timeline.export_memory_timeline(os.path.join(core.folder, name.replace("memory-", "timeline-")), device)


def forked():
    """In a forked child: the window is the parent's."""
    global kept, too_big
    kept, too_big = None, 0
