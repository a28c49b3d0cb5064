"""Regions that the program names: record_function, NVTX and ITT ranges and marks, as spans also outside of windows."""

import functools

from . import core, life, marks

KEPT = 50_000  # regions that get a row each
OWN = ("enumerate(DataLoader)", "Optimizer.", "DistributedDataParallel.", "## ")  # torch's own names

kept = 0
stacks = {}  # (range kind, thread) -> [(name, t0), ...]


def is_compiling():
    """Before 2.1 nothing is compiled with ranges in it."""
    return False


open_in_session = set()  # ids of the record_function objects that were entered while our profiler ran, and not left yet


def install(torch):
    """Wraps what opens and closes regions."""
    global is_compiling
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", is_compiling)
    life.after_fork.append(open_in_session.clear)
    wrap_record_function(torch.autograd.profiler.record_function)
    wrap_ranges(torch.cuda.nvtx, "nvtx")
    itt = getattr(torch.profiler, "itt", None)
    if itt is not None:
        wrap_ranges(itt, "itt")


def wrap_record_function(record):
    """record_function is a context manager; its decorator form builds one per call. Whether one is open that began in a session of ours is
    known at any time (windows.Windows.safe). torch's own regions stand in each step and get no row: they cost no more than that."""
    enter, leave = record.__enter__, record.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        if marks.windows.open is not None:
            open_in_session.add(id(self))
        name = self.name
        if type(name) is not str or not name.startswith(OWN):
            opened("record", name)
        return result

    @functools.wraps(leave)
    def __exit__(self, *error):
        open_in_session.discard(id(self))
        name = self.name
        if type(name) is not str or not name.startswith(OWN):
            closed("record")
        return leave(self, *error)

    record.__enter__, record.__exit__ = __enter__, __exit__


def wrap_ranges(module, kind):
    """NVTX and ITT push and pop. Without the device's library the original raises, and so does the wrapper."""
    push, pop, point = module.range_push, module.range_pop, module.mark

    @functools.wraps(push)
    def range_push(message, *rest):
        result = push(message, *rest)
        if not is_compiling():
            opened(kind, message)
        return result

    @functools.wraps(pop)
    def range_pop(*rest):
        if not is_compiling():
            closed(kind)
        return pop(*rest)

    @functools.wraps(point)
    def mark(message, *rest):
        result = point(message, *rest)
        if not is_compiling():
            marked(message)
        return result

    module.range_push, module.range_pop, module.mark = range_push, range_pop, mark


def watch_nvtx(module):
    """The nvtx package's annotate."""
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
    tid = core.thread_id()
    stack = stacks.get((kind, tid))
    if not stack:
        return
    name, t0 = stack.pop()
    if not name.startswith(OWN):
        keep(name, t0, core.now(), tid)


@core.hook("region-marked")
def marked(name):
    """A point in time that the program names."""
    t = core.now()
    keep(str(name), t, t, core.thread_id())


def keep(name, t0, t1, tid):
    """Writes a row, the first many times."""
    global kept
    kept += 1
    if kept < KEPT:
        core.emit("span", "region", t0, t1, tid, name, *core.place(5))
    else:
        core.count("regions_without_row")
