"""What the user may ask of torch's profiler beyond its plain switches: device types, experimental settings, ranges for other tools."""

import inspect
import json

from . import core, life, marks

noted = set()
# Settings of _ExperimentalConfig and profile() that mean nothing to sessions that end in a file each.
MEANINGLESS = {"acc_events": "each cycle is a trace of its own, so that none is cleared", "trace_only": "the agent counts a trace's events"}


def note_once(code, text):
    """Says something once per process."""
    if text not in noted:
        noted.add(text)
        core.note(code, text)


def activities(torch, names):
    """The set of ProfilerActivity of these names; those that this torch or this machine lacks are said and left out."""
    kinds = torch.profiler.ProfilerActivity
    known = {name.upper(): getattr(kinds, name) for name in dir(kinds) if isinstance(getattr(kinds, name), kinds)}
    supported = getattr(torch.profiler, "supported_activities", None)
    there = supported() if supported is not None else {kinds.CPU}
    found = set()
    for name in names:
        kind = known.get(name.upper())
        if kind is None:
            note_once("activity-missing", "--activities %s: PyTorch %s has no such activity" % (name, torch.__version__))
        elif kind not in there:
            note_once("activity-missing", "--activities %s: this PyTorch finds no such device here; it is left out" % name)
        else:
            found.add(kind)
    return found or {kinds.CPU}


def experimental(torch, wanted, stacks):
    """torch's _ExperimentalConfig with the user's settings; None where there is nothing to say or nobody to hear it. With stacks,
    PyTorch 1.13 would write the whole stack beside every event, too, as it does with verbose later: that takes 18 KB of memory for an
    event in place of 2, and what the calls of Python's around an event are is in the trace all the same."""
    make = getattr(getattr(torch._C, "_profiler", None), "_ExperimentalConfig", None)
    settings = {}
    for name, value in wanted.items():
        if name in MEANINGLESS:
            note_once("experimental", "--experimental %s is not used: %s" % (name, MEANINGLESS[name]))
        elif make is None or name + ":" not in (make.__init__.__doc__ or ""):
            note_once("experimental", "--experimental %s: PyTorch %s has no such setting" % (name, torch.__version__))
        else:
            settings[name] = value
    if stacks and make is not None:
        settings.setdefault("verbose", False)
    if not settings or make is None:
        return None
    try:
        return make(**settings)
    except TypeError as error:
        note_once("experimental", "--experimental: PyTorch refuses %s (%s)" % (json.dumps(settings), str(error).split("\n")[0]))
        return make(verbose=False) if stacks else None


# --emit


emitting = None  # torch's context manager, while it is entered


@core.hook("emit")
def emit(torch, windows):
    """Wraps the program in torch's emit_nvtx or emit_itt from here on, or from the start of the device on; nothing else is traced."""
    windows.over = True
    life.at_end.insert(0, emit_end)
    if core.config.emit == "itt":
        itt = getattr(torch.profiler, "itt", None)
        if itt is None or not itt.is_available():
            core.note("emit", "--emit itt: this PyTorch was built without ITT; no ranges were made")
            return
        enter(torch)
    elif torch.cuda.is_initialized():
        device_started(torch)
    else:
        core.note("emit", "--emit nvtx: ranges begin once the program has started a CUDA device")


def device_started(torch):
    """The program has a CUDA device from here on: opens the window that nsys -c cudaProfilerApi and nvprof wait for."""
    enter(torch)
    torch.cuda.profiler.start()


@core.hook("emit-enter")
def enter(torch):
    """Enters the context manager on the calling thread."""
    global emitting
    kind = getattr(torch.autograd.profiler, "emit_" + core.config.emit)
    arguments = {"record_shapes": core.config.record_shapes}
    known = inspect.signature(kind.__init__).parameters
    manager = kind(**{name: value for name, value in arguments.items() if name in known})
    manager._bneck_own = True
    manager.__enter__()
    emitting = manager
    text = "each operator made an %s range, which slows operators down, as does the tool that reads them"
    core.note("emit", text % core.config.emit.upper())


@core.hook("emit-end")
def emit_end():
    """Leaves it, on the thread that entered it."""
    global emitting
    manager, emitting = emitting, None
    if manager is not None:
        if core.config.emit == "nvtx":
            marks.windows.torch.cuda.profiler.stop()
        manager.__exit__(None, None, None)
