"""Lightning: its loops are the steps, and its actions are spans. `pytorch_lightning` is a copy of `lightning.pytorch`. Also what
makes the methods of other trainers actions (huggingface.py)."""

import functools
import os
import types

from . import core, life, marks

KEPT = 30_000  # actions that get a row each; of later ones only the sums
SHORT_NS = 20_000

kept = 0
sums = {}  # action -> [count, nanoseconds, the same of the calls that the profiler did not distort]
functions = None  # actioncalls, with --calls


def inner(module):
    """Frames of a trainer's package are not the user's."""
    path = os.path.abspath(module.__file__)
    root, found, _ = path.rpartition(os.sep + module.__name__.partition(".")[0] + os.sep)
    if found:
        core.inner.append(root + found)


def watch_training(module):
    """The training loop: one step per batch."""
    inner(module)
    for name in ("_TrainingEpochLoop", "TrainingEpochLoop"):
        kind = getattr(module, name, None)
        if kind is not None:
            wrap_loop(kind, "advance", lambda loop: "train")
            return


def watch_evaluation(module):
    """Validation and test: one step per batch."""
    inner(module)
    kind = getattr(module, "_EvaluationLoop", None)
    if kind is not None:
        wrap_loop(kind, "_evaluation_step", evaluation_kind)


def evaluation_kind(loop):
    """What an evaluation loop is for."""
    stage = str(getattr(getattr(loop, "_trainer_fn", None), "value", "") or getattr(loop, "_stage", ""))
    return "test" if "test" in stage else "validation"


def watch_prediction(module):
    """Prediction: one step per batch."""
    inner(module)
    kind = getattr(module, "_PredictionLoop", None)
    if kind is not None:
        wrap_loop(kind, "_predict_step", lambda loop: "inference")


def wrap_loop(kind, name, kind_of):
    """Marks a step at each call of the loop's method; what follows a batch (its callbacks) belongs to it."""
    original = getattr(kind, name)

    @functools.wraps(original)
    def advance(self, *arguments, **keywords):
        began(self, kind_of)
        result = original(self, *arguments, **keywords)
        return result

    setattr(kind, name, advance)
    run = kind.run

    @functools.wraps(run)
    def wrapped_run(self, *arguments, **keywords):
        try:
            return run(self, *arguments, **keywords)
        finally:
            over()

    kind.run = wrapped_run


@core.hook("trainer-step")
def began(loop, kind_of):
    """A batch is about to be worked on."""
    kind = kind_of(loop)
    tracker = marks.tracker
    if tracker.current is not None and tracker.current.source == "trainer" and tracker.current.kind != kind:
        tracker.rest(core.now(), core.thread_id(), "trainer")
    marks.manual(core.now(), core.thread_id(), "trainer", kind)


@core.hook("trainer-over")
def over():
    """A loop has ended."""
    marks.rest(core.now(), core.thread_id(), "trainer")


def watch_profiler(module):
    """Every trainer has a profiler object, a silent one by default: its start and stop name Lightning's actions."""
    inner(module)
    original = module.Profiler.setup

    @functools.wraps(original)
    def setup(self, *arguments, **keywords):
        result = original(self, *arguments, **keywords)
        watch_actions(self)
        return result

    module.Profiler.setup = setup


@core.hook("actions-watch")
def watch_actions(profiler):
    """Wraps start and stop of one profiler object, once, until measuring is over."""
    if getattr(profiler, "_bneck", False):
        return
    profiler._bneck = True
    start, stop = profiler.start, profiler.stop
    running = {}

    def started(action, *rest):
        result = start(action, *rest)
        if not marks.over:
            action_began(running, action)
        elif profiler.start is started and profiler.stop is stopped:
            profiler.start, profiler.stop = start, stop
        return result

    def stopped(action, *rest):
        if running:
            action_ended(running, action)
        return stop(action, *rest)

    profiler.start, profiler.stop = started, stopped


@core.hook("action-began")
def action_began(running, action):
    """An action starts; actions of one name do not nest."""
    running[action] = starts(action)


@core.hook("action-ended")
def action_ended(running, action):
    """An action stops."""
    start = running.pop(action, None)
    if start is not None:
        ends(action, start)


def starts(action):
    """What ends has to know of an action that starts on this thread."""
    if functions is None:
        return core.now(), window(), None, 0
    snapshot = functions.begin(action)
    return core.now(), window(), snapshot, functions.spent


def ends(action, start):
    """Takes in the action that starts was told of."""
    t1 = core.now()
    t0, before, snapshot, read = start
    if functions is not None:
        read = functions.spent - read
        if snapshot is not None:
            functions.end(action, snapshot)
    took(action, t0, t1, read, before is not None and before == window())


def window():
    """The number of the profiler's next window; None while one distorts what runs: within it, in the step after it, and while the
    program's own profiler runs."""
    windows = marks.windows
    if windows is None or type(windows) is marks.NoWindows:
        return 0
    if windows.open is not None or windows.edge or windows.yielded or windows.yielded_before:
        return None
    return windows.count


def took(action, t0, t1, read, undistorted):
    """Adds one action to its sums, without the time in which functions were read, and a row where rows are kept."""
    global kept
    total = sums.setdefault(action, [0, 0, 0, 0])
    total[0] += 1
    total[1] += t1 - t0 - read
    if undistorted:
        total[2] += 1
        total[3] += t1 - t0 - read
    if t1 - t0 >= SHORT_NS and marks.keep:
        kept += 1
        if kept < KEPT or t1 - t0 >= 100 * SHORT_NS:
            core.emit("span", "action", t0, t1, core.thread_id(), action)


@core.hook("actions-publish")
def publish():
    """At a flush: the sums as counters."""
    for action, total in list(sums.items()):
        for name, value in zip(("count", "ns", "undistorted_count", "undistorted_ns"), total):
            core.counters["action_%s:%s" % (name, action)] = value


def forked():
    """In a forked child: its actions are its own."""
    sums.clear()
    inside.clear()


core.before_flush.append(publish)
life.after_fork.append(forked)

inside = {}  # (action, thread) -> how it began


def time_methods(kind, label, names, below=object):
    """Makes the methods of a class, and of those that it inherits from up to below, actions named "[label]Class.method"."""
    for owner in kind.__mro__[: kind.__mro__.index(below)]:
        for name in names:
            function = vars(owner).get(name)
            if isinstance(function, types.FunctionType) and not hasattr(function, "_bneck"):
                setattr(owner, name, timed(function, label, name))


def timed(function, label, name):
    """A method that is an action; what it calls of its parent's by the same name is part of it."""

    @functools.wraps(function)
    def method(self, *arguments, **keywords):
        key = method_began(label, self, name)
        if key is None:
            return function(self, *arguments, **keywords)
        try:
            return function(self, *arguments, **keywords)
        finally:
            method_ended(key)

    method._bneck = True
    return method


@core.hook("method-began")
def method_began(label, instance, name):
    """A timed method is called: what method_ended needs, None inside a call of the same action and once measuring is over."""
    if marks.over:
        return None
    key = "[%s]%s.%s" % (label, type(instance).__name__, name), core.thread_id()
    if key in inside:
        return None
    inside[key] = starts(key[0])
    return key


@core.hook("method-ended")
def method_ended(key):
    """A timed method has returned."""
    start = inside.pop(key, None)
    if start is not None:
        ends(key[0], start)
