"""Regions that the program names: record_function, NVTX and ITT ranges, as spans also outside of windows; only when asked for."""

import functools

from . import core, life, marks

KEPT = 50_000  # regions that get a row each
OWN = ("enumerate(DataLoader)", "Optimizer.", "DistributedDataParallel.", "## ")  # torch's own names

kept = 0
stacks = {}  # (range kind, thread) -> [(name, t0), ...]


open_in_session = set()  # ids of the record_function objects that were entered while our profiler ran, and not left yet


def install(torch):
    """Wraps what opens and closes regions."""
    life.after_fork.append(open_in_session.clear)
    count_open(torch.autograd.profiler.record_function)
    if not core.config.get("user_regions"):
        return
    wrap_record_function(torch.autograd.profiler.record_function)
    wrap_ranges(torch.cuda.nvtx, "nvtx")
    itt = getattr(torch.profiler, "itt", None)
    if itt is not None:
        wrap_ranges(itt, "itt")


def count_open(record):
    """Knows at any time whether a region is open that began in a session of ours (windows.Windows.safe)."""
    enter, leave = record.__enter__, record.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        if marks.windows.open is not None:
            open_in_session.add(id(self))
        return result

    @functools.wraps(leave)
    def __exit__(self, *error):
        open_in_session.discard(id(self))
        return leave(self, *error)

    record.__enter__, record.__exit__ = __enter__, __exit__


def wrap_record_function(record):
    """record_function is a context manager; its decorator form builds one per call."""
    enter, leave = record.__enter__, record.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        opened("record", self.name)
        return result

    @functools.wraps(leave)
    def __exit__(self, *error):
        closed("record")
        return leave(self, *error)

    record.__enter__, record.__exit__ = __enter__, __exit__


def wrap_ranges(module, kind):
    """NVTX and ITT push and pop. Without the device's library the original raises, and so does the wrapper."""
    push, pop = module.range_push, module.range_pop

    @functools.wraps(push)
    def range_push(message, *rest):
        result = push(message, *rest)
        opened(kind, message)
        return result

    @functools.wraps(pop)
    def range_pop(*rest):
        closed(kind)
        return pop(*rest)

    module.range_push, module.range_pop = range_push, range_pop


def watch_nvtx(module):
    """The nvtx package's annotate."""
    if not core.config.get("user_regions"):
        return
    annotate = getattr(module, "annotate", None)
    if isinstance(annotate, type):
        wrap_annotate(annotate)


def wrap_annotate(annotate):
    """nvtx.annotate is a context manager with a message."""
    enter, leave = annotate.__enter__, annotate.__exit__

    def __enter__(self):
        opened("annotate", getattr(self, "message", None) or getattr(getattr(self, "attributes", None), "message", ""))
        return enter(self)

    def __exit__(self, *error):
        closed("annotate")
        return leave(self, *error)

    annotate.__enter__, annotate.__exit__ = __enter__, __exit__


@core.hook("region-opened")
def opened(kind, name):
    """A region begins."""
    stack = stacks.setdefault((kind, core.thread_id()), [])
    if len(stack) < 1000:
        stack.append((str(name), core.now()))


@core.hook("region-closed")
def closed(kind):
    """The innermost region of this kind and thread ends."""
    global kept
    tid = core.thread_id()
    stack = stacks.get((kind, tid))
    if not stack:
        return
    name, t0 = stack.pop()
    if name.startswith(OWN):
        return
    kept += 1
    if kept < KEPT:
        core.emit("span", "region", t0, core.now(), tid, name, *core.place(4))
    else:
        core.count("regions_without_row")
