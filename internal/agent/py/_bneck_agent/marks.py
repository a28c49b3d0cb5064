"""Connects what the hooks see to steps and windows: emits the rows, keeps their number bounded, ends the measuring on time."""

import ctypes
import sys
from collections import deque

from . import ablations, core, facts, held, steps

FULL_ROWS = 30_000  # steps that get a row each; after them fast ones are thinned
FAST_NS = 2_000_000
THIN = (64, 8)  # of 64 fast steps, 8 in a row are kept
DEVICE_EVENTS = 64

windows = None  # windows.Windows
tracker = None  # steps.Steps
device = None
first_step_ns = 0
finished = 0
step_limit = time_limit = 0  # --steps; --duration in nanoseconds
over = False  # both end the measuring: one of them has been reached
keep = True  # whether rows of the running step are kept
kinds = set()
left = []  # device clocks of the processes that this one was forked from


class NoWindows:
    """Stands for windows.Windows in a program without torch whose functions are named by hand."""

    def boundary(self, number, opening):
        """Nothing starts or stops."""

    def phase(self, number):
        """Every step is measured without a profiler."""
        return "baseline"

    def idle(self):
        """Nothing is ever to be done at a step's end."""
        return True

    def finish_all(self):
        """There is nothing to finish."""


def begin_without_torch(config):
    """Marks named functions of programs that may never import torch."""
    name_functions(config)
    if wanted:
        begin(NoWindows())


def begin(w):
    """Starts looking for steps."""
    global windows, tracker, step_limit, time_limit
    windows = w
    tracker = steps.Steps(finish, w.boundary)
    step_limit, time_limit = core.config.steps, core.config.duration * 1e9
    if not isinstance(w, NoWindows):  # torch's modules have loaded what this needs
        held.begin()


def finish(number, kind, source, t0, t1, items, tid):
    """A step has ended."""
    global finished, first_step_ns, keep
    finished += 1
    first_step_ns = first_step_ns or t0
    if over:
        return
    phase = windows.phase(number)
    if kind not in kinds:
        kinds.add(kind)
        facts.look()
        phase = "warmup" if phase in ("baseline", "edge") else phase
    if keep or phase != "baseline":
        row = ("step", number, kind, source, t0, t1, phase, items or None, tid)
        if device is not None and "device-clock" not in core.broken:
            device.add(row)
        else:
            core.emit(*row)
    keep = finished < FULL_ROWS or t1 - t0 > FAST_NS or finished % THIN[0] < THIN[1]
    core.counters["steps"] = finished
    if t1 >= held.due and phase == "baseline":
        held.look(t1)
    if finished <= held.EARLY:
        held.pages(t1)
    core.tick(t1)
    if core.config.ablate:
        ablations.stepped(finished)
    if step_limit or time_limit:
        bound(t1)


def skip():
    """How many of the steps that follow are not worth a mark, since none of them gets a row; they count as finished."""
    global finished
    if keep or step_limit or not windows.idle():
        return 0
    left = THIN[0] - 1 - finished % THIN[0]
    finished += left
    tracker.number += left
    return left


def bound(t):
    """Ends the measuring when --steps or --duration say so, and the program too with --stop-after."""
    global over, keep
    if not (step_limit and finished >= step_limit or time_limit and t - first_step_ns >= time_limit):
        return
    over, keep = True, False
    windows.finish_all()
    core.flush()  # no row follows that would carry what has gathered
    facts.measuring_over = True
    facts.write()
    if core.config.stop_after:
        core.note("stopped", "the program was ended after %d steps, as asked" % finished)
        raise core.StopProgram(0)


def guarded(name, method):
    """A guarded function that hands a mark to the tracker."""

    @core.hook("mark-" + name)
    def mark(*arguments):
        return getattr(tracker, method)(*arguments)

    return mark


optimized = guarded("optimized", "optimized")
batch_wanted = guarded("batch-wanted", "batch_wanted")
batch_given = guarded("batch-given", "batch_given")
loop_ended = guarded("loop-ended", "loop_ended")
called = guarded("called", "called")
manual = guarded("manual", "manual")
rest = guarded("rest", "rest")


class DeviceClock:
    """Times between marks on the device's own clock, by events in the current stream. A step's row waits until its event is done."""

    def __init__(self, torch):
        self.torch = torch
        self.previous = None
        self.waiting = deque()

    @core.hook("device-clock")
    def add(self, row):
        """Takes a step's row at the mark that ended it; emits the rows whose times are known."""
        cuda = self.torch.cuda
        event = None
        if not cuda.is_current_stream_capturing():
            event = cuda.Event(enable_timing=True)
            event.record()
        self.waiting.append((row, self.previous, event))
        self.previous = event
        while self.waiting and (len(self.waiting) > DEVICE_EVENTS or self.waiting[0][2] is None or self.waiting[0][2].query()):
            self.emit()

    def emit(self):
        """Emits the row that has waited longest, with its time where that is known."""
        row, first, second = self.waiting.popleft()
        took = None
        try:
            if first is not None and second is not None and second.query():
                took = int(first.elapsed_time(second) * 1e6)
        except RuntimeError:
            pass  # of a device that is being taken down
        core.emit(*row, took)

    def leave(self):
        """In a forked child: nothing of the parent's device may be used, and its events not even be freed, which would end the process,
        also where the interpreter takes itself down."""
        left.append(self)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))

    @core.hook("device-end")
    def finish(self):
        """Emits the rows that still wait."""
        while self.waiting:
            self.emit()


# Functions named by hand


named = []  # not empty once the names are known
wanted = []  # [(kind, name)] that are not found yet
patched = set()
found = []  # [(kind, name)] that have their marks
ran = set()  # those of them that were called


def name_functions(config):
    """Remembers --step-on and --region."""
    if named:
        return
    named.append(True)
    wanted.extend([("step", name) for name in config.step_on])
    wanted.extend([("region", name) for name in config.region_on])
    watch_calls()


@core.hook("watch-calls")
def watch_calls():
    """From 3.12 on: looks at the first call of each function while names are missing, which costs nothing afterwards. Before, names are
    looked up when anything else is noticed."""
    if not hasattr(sys, "monitoring") or not wanted:
        return
    from . import toolids

    names = {name.rpartition(":")[2].rpartition(".")[2] for _, name in wanted}

    def begins(code, _):
        if code.co_name not in names:
            return sys.monitoring.DISABLE
        resolve()
        if not wanted and listener is not None:
            toolids.stop(listener)
        return None

    listener = toolids.listen({"PY_START": begins}, found_late)
    if listener is None:
        found_late()


@core.hook("found-late")
def found_late():
    """The program has all tool ids: names are looked up when anything else is noticed."""
    from . import toolids

    missing = ", ".join(name for _, name in wanted)
    if missing:
        text = "the program has taken the tool ids of sys.monitoring (%s): first calls of %s may have no mark, or none at all"
        core.note("names-late", text % (toolids.taken(), missing))


@core.hook("resolve")
def resolve():
    """Puts the marks on named functions that exist by now; called whenever a module has been loaded or a hook runs anyway."""
    if not wanted:
        return
    for entry in list(wanted):
        owner, attribute = locate(entry[1])
        if owner is not None:
            wanted.remove(entry)
            mark_function(entry[0], entry[1], owner, attribute)


def locate(name):
    """(object, attribute) of "module:Class.method", "Class.method" or "function"; (None, None) while there is none."""
    module, colon, path = name.rpartition(":")
    owners = [sys.modules.get(module)] if colon else [sys.modules.get("__main__")]
    parts = path.split(".")
    if not colon and len(parts) > 1:
        for cut in range(len(parts) - 1, 0, -1):
            if ".".join(parts[:cut]) in sys.modules and parts[0] != "__main__":
                owners.append((sys.modules[".".join(parts[:cut])], parts[cut:]))
    for owner in owners:
        rest_of = parts
        if isinstance(owner, tuple):
            owner, rest_of = owner
        for part in rest_of[:-1]:
            owner = vars(owner).get(part) if owner is not None and hasattr(owner, "__dict__") else None
        if owner is not None and callable(getattr(owner, "__dict__", {}).get(rest_of[-1])):
            return owner, rest_of[-1]
    return None, None


def mark_function(kind, name, owner, attribute):
    """Replaces a function by one that marks its calls."""
    import functools

    original = getattr(owner, attribute)
    if (id(owner), attribute, kind) in patched:
        return
    patched.add((id(owner), attribute, kind))

    @functools.wraps(original)
    def call(*arguments, **keywords):
        t0 = core.now()
        ran.add((kind, name))
        if kind == "step":
            manual(t0, core.thread_id())
        try:
            return original(*arguments, **keywords)
        finally:
            function_ended(kind, name, t0, original)

    try:
        setattr(owner, attribute, call)
    except (TypeError, AttributeError):
        core.note("never-called", "--%s %s: written in C, its calls cannot be marked" % ("step-on" if kind == "step" else kind, name))
        return
    found.append((kind, name))


@core.hook("function-ended")
def function_ended(kind, name, t0, original):
    """A named function has returned."""
    t1, tid = core.now(), core.thread_id()
    if kind == "region":
        code = getattr(original, "__code__", None)
        core.emit("span", "region", t0, t1, tid, name, getattr(code, "co_filename", None), getattr(code, "co_firstlineno", None))
    else:
        last_return[0] = t1
    core.tick(t1)


last_return = [0]


@core.hook("steps-end")
def at_end():
    """A step by name that was running at the end ended when its function returned."""
    if tracker is not None and last_return[0] and tracker.current is not None and tracker.current.source == "mark":
        tracker.rest(last_return[0], tracker.driver, "mark")
    if device is not None:
        device.finish()
    if wanted or found:
        from . import names

        resolve()
        names.report(wanted, found, ran)
