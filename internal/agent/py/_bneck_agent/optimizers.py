"""Optimizers: their steps as marks and spans, and the steps that a gradient scaler skips."""

import functools

from . import core, marks

began = {}  # id of an optimizer -> when its step began, until it ended
scaler_marks = 0


def install(torch):
    """Uses torch's own hooks where it has them (2.0 and later), else wraps each optimizer class's step."""
    from torch.optim import optimizer

    wrap_init(optimizer.Optimizer)
    wrap_backward(torch)
    if hasattr(optimizer, "register_optimizer_step_post_hook"):
        optimizer.register_optimizer_step_pre_hook(before)
        optimizer.register_optimizer_step_post_hook(after)
    else:
        wrap_classes(optimizer.Optimizer)
    for scaler in scalers(torch):
        wrap_scaler(scaler)


def wrap_init(base):
    """Notices that the program trains."""
    original = base.__init__

    @functools.wraps(original)
    def __init__(self, *arguments, **keywords):
        made()
        original(self, *arguments, **keywords)

    base.__init__ = __init__


@core.hook("optimizer-made")
def made():
    """An optimizer is built."""
    from . import modules

    marks.tracker.optimizer_made()
    if marks.tracker.idle_since is None:
        marks.tracker.idle_since = core.now()
    modules.leave()
    marks.resolve()


@core.hook("optimizer-before")
def before(optimizer, arguments, keywords):
    """An optimizer's step begins. A subclass that calls its parent's step comes here twice: the first counts."""
    t = core.now()
    step = marks.tracker.current
    if began.get(id(optimizer), 0) < (step.t0 if step is not None else t):
        began[id(optimizer)] = t  # what was left of a step that raised is overwritten


@core.hook("optimizer-after")
def after(optimizer, arguments, keywords):
    """An optimizer's step ends."""
    t0 = began.pop(id(optimizer), 0)
    if t0:
        stepped(optimizer, t0, core.now())


def stepped(optimizer, t0, t1):
    """One optimizer step is over."""
    global scaler_marks
    scaler_marks += 1
    tid = core.thread_id()
    if marks.keep:
        core.emit("span", "optimizer", t0, t1, tid, type(optimizer).__name__ + ".step")
    marks.tracker.optimizers = marks.tracker.optimizers or 1  # built before this process was forked
    marks.optimized(("optimizer", id(optimizer)), t1, tid)


def wrap_classes(base):
    """1.13: the class's step is wrapped when its first optimizer is built, as torch itself does."""
    original = base._hook_for_profile

    @functools.wraps(original)
    def _hook_for_profile(self):
        original(self)
        wrap_step(type(self))

    base._hook_for_profile = _hook_for_profile


@core.hook("optimizer-wrap")
def wrap_step(kind):
    """Wraps one class's own step."""
    function = kind.step
    if getattr(function, "_bneck", False):
        return

    @functools.wraps(function)
    def step(self, *arguments, **keywords):
        before(self, arguments, keywords)
        result = function(self, *arguments, **keywords)
        after(self, arguments, keywords)
        return result

    step.hooked = step._bneck = True
    kind.step = step


def scalers(torch):
    """GradScaler's classes that define step themselves."""
    found = []
    for path in ("amp.grad_scaler", "cuda.amp.grad_scaler"):
        module = torch
        for part in path.split("."):
            module = getattr(module, part, None)
        scaler = getattr(module, "GradScaler", None)
        if scaler is not None and "step" in vars(scaler):
            found.append(scaler)
    return found


def wrap_scaler(scaler):
    """A step that the scaler skips is a step of the program all the same."""
    original = scaler.step

    @functools.wraps(original)
    def step(self, optimizer, *arguments, **keywords):
        before_count = scaler_marks
        result = original(self, optimizer, *arguments, **keywords)
        scaled(optimizer, before_count)
        return result

    scaler.step = step


@core.hook("scaler")
def scaled(optimizer, before_count):
    """GradScaler.step has returned."""
    if scaler_marks == before_count:
        core.count("scaler_skipped_steps")
        marks.optimized(("optimizer", id(optimizer)), core.now(), core.thread_id())


def wrap_backward(torch):
    """A program that updates its weights by hand has no optimizer: its backward passes mark the steps."""
    original = torch.autograd.backward

    @functools.wraps(original)
    def backward(*arguments, **keywords):
        original(*arguments, **keywords)
        if not marks.tracker.optimizers:
            marks.optimized("backward", core.now(), core.thread_id())

    torch.autograd.backward = backward
