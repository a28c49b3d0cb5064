"""Optimizers: their steps as marks and spans, and the steps that a gradient scaler skips."""

import functools
import sys
import time

from . import asked, core, denormals, marks

began = {}  # id of an optimizer -> when its compiled step began, until it ended
stepping = set()  # ids of the optimizers whose step runs in our wrapper
scaler_marks = 0
backwards = 0  # backward passes so far
built = set()  # (file, line) of the optimizers' constructors
known = {}  # id of an optimizer -> its Known
numbers = 0  # of optimizers that were given one
COUNTED_AT = (2, 16, 128, 1024)  # an optimizer's steps at which its parameters are counted
PLACES = 64  # of them that are told
ALONE = 32  # steps without a backward pass after which an optimizer is taken for one that needs none


class Known:
    """What is known of an optimizer. number: 0 where its parameters are not to be counted."""

    __slots__ = ("number", "steps", "backwards", "since")

    def __init__(self, number):
        self.number, self.steps = number, 0
        self.backwards, self.since = -1, 0  # backward passes at its last step; steps since then without another


def install(torch):
    """Wraps each optimizer class's step when torch itself does, outside of torch's own wrapper: a mark must not fall into its
    record_function. Compiled steps run no wrapper; torch's global hooks (2.0 and later) see those."""
    from torch.optim import optimizer

    global is_compiling
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", never)
    denormals.begin()
    wrap_init(optimizer.Optimizer)
    wrap_backward(torch)
    for name in ("_patch_step_function", "_hook_for_profile"):
        if hasattr(optimizer.Optimizer, name):
            wrap_classes(optimizer.Optimizer, name)
            break
    if hasattr(optimizer, "register_optimizer_step_post_hook"):
        optimizer.register_optimizer_step_pre_hook(before)
        optimizer.register_optimizer_step_post_hook(after)
    for scaler in scalers(torch):
        wrap_scaler(scaler)


def never():
    """Before 2.1 nothing is compiled with optimizers in it."""
    return False


is_compiling = never


def wrap_init(base):
    """Notices that the program trains."""
    original = base.__init__

    @functools.wraps(original)
    def __init__(self, *arguments, **keywords):
        made()
        known.pop(id(self), None)  # of one that stood here and is gone
        original(self, *arguments, **keywords)

    base.__init__ = __init__


@core.hook("optimizer-made")
def made():
    """An optimizer is built: its steps may be called from a trainer's files, but its arguments stand here."""
    from . import modules

    place = core.place()
    if place[0] is not None and place not in built and len(built) < PLACES:
        built.add(place)
        t = core.now()
        core.emit("span", "other", t, t, core.thread_id(), "Optimizer.__init__", place[0], place[1])
    marks.tracker.optimizer_made()
    if marks.tracker.idle_since is None:
        marks.tracker.idle_since = core.now()
    modules.needless()
    marks.resolve()


def before(optimizer, arguments, keywords):
    """torch's hook before a step: of use only where our wrapper did not run."""
    if id(optimizer) not in stepping:
        before_compiled(optimizer)


def after(optimizer, arguments, keywords):
    """torch's hook after a step."""
    if id(optimizer) not in stepping:
        after_compiled(optimizer)


@core.hook("optimizer-before")
def before_compiled(optimizer):
    """A compiled step begins."""
    began[id(optimizer)] = core.now()


@core.hook("optimizer-after")
def after_compiled(optimizer):
    """A compiled step has ended."""
    t0 = began.pop(id(optimizer), 0)
    if t0:
        stepped(optimizer, t0, core.now())


@core.hook("optimizer-stepped")
def stepped_outside(optimizer, t0):
    """A step has returned to the program."""
    stepped(optimizer, t0, core.now())


def stepped(optimizer, t0, t1):
    """One optimizer step is over. Many steps take less than a millisecond: what has nothing to do is not called."""
    global scaler_marks
    scaler_marks += 1
    tid = core.thread_id()
    if marks.keep:
        core.emit("span", "optimizer", t0, t1, tid, type(optimizer).__name__ + ".step")
    if marks.wanted:
        marks.resolve()
    marks.tracker.optimizers = marks.tracker.optimizers or 1  # built before this process was forked
    seen = known.get(id(optimizer)) or meet(optimizer)
    seen.steps += 1
    if seen.number and seen.steps in COUNTED_AT:
        tell(optimizer, seen.number, seen.steps)
    if t1 - denormals.last >= denormals.EVERY:
        denormals.look()
    asked.updated(optimizer)
    if not again(seen):
        marks.optimized(("optimizer", id(optimizer)), t1, tid)


def meet(optimizer):
    """Makes an optimizer known; the first ones get a number."""
    global numbers
    number = 0
    if numbers < PLACES:
        numbers += 1
        number = numbers
    known[id(optimizer)] = seen = Known(number)
    return seen


@core.hook("optimizer-parameters")
def tell(optimizer, number, steps):
    """Emits an optimizer's parameters: none where they are not the model's own, as copies in another precision are not."""
    torch = sys.modules["torch"]
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    own = all(type(p) is torch.nn.Parameter for p in parameters)
    core.emit("updates", core.now(), number, len(parameters) if own else 0, steps, backwards, marks.tracker.optimizers)


def again(seen):
    """Whether an optimizer has stepped since the last backward pass: engines step once per group of parameters."""
    if seen.backwards != backwards:
        seen.backwards, seen.since = backwards, 0
        return False
    seen.since += 1
    return backwards > 0 and seen.since < ALONE


def wrap_classes(base, name):
    """Follows torch, which wraps a class's step when its first optimizer is built."""
    original = getattr(base, name)

    @functools.wraps(original)
    def patch(self, *arguments, **keywords):
        original(self, *arguments, **keywords)
        wrap_step(type(self))

    setattr(base, name, patch)


@core.hook("optimizer-wrap")
def wrap_step(kind):
    """Wraps one class's step; a subclass that inherits it has it wrapped already."""
    function = kind.step
    if getattr(function, "_bneck", False):
        return

    @functools.wraps(function)
    def step(self, *arguments, **keywords):
        if is_compiling() or id(self) in stepping:  # a subclass's step that calls its parent's is one step
            return function(self, *arguments, **keywords)
        t0 = time.monotonic_ns()
        stepping.add(id(self))
        try:
            result = function(self, *arguments, **keywords)
        finally:
            stepping.discard(id(self))
        stepped_outside(self, t0)
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
        global backwards
        backwards += 1
        original(*arguments, **keywords)
        if not marks.tracker.optimizers:
            asked.backward()
            marks.optimized("backward", core.now(), core.thread_id())

    torch.autograd.backward = backward
