"""The program's own profilers: theirs have precedence, torch.profiler's step() marks steps, and what they export joins the session."""

import functools
import os
import sys

from . import core, kinetoline, marks, modules

running = set()  # ids of the program's sessions


def install(torch):
    """Wraps the starts and ends of torch's profilers. Our own windows in tests of the table (BNECK_DUMP_AVERAGES) use the same class."""
    profile = torch.autograd.profiler.profile
    for name in ("_prepare_trace", "_start_trace"):
        if hasattr(profile, name):
            wrap_start(profile, name)
    wrap_start(profile, "__enter__")
    wrap_end(profile)
    for name in ("emit_nvtx", "emit_itt"):
        kind = getattr(torch.autograd.profiler, name, None)
        if kind is not None:
            wrap_start(kind, "__enter__")
            wrap_end(kind)
    legacy = getattr(torch.autograd, "profiler_legacy", None)
    if legacy is not None:
        wrap_start(legacy.profile, "__enter__")
        wrap_end(legacy.profile)
    wrap_step(torch.profiler.profile)
    for kind in (getattr(torch.profiler, "_KinetoProfile", torch.profiler.profile), profile):
        wrap_export(kind)
    if core.config.with_stack or core.config.profile_memory:
        watch_setprofile()


def wrap_start(kind, name):
    """A method that begins a session."""
    original = getattr(kind, name)

    @functools.wraps(original)
    def begin(self, *arguments, **keywords):
        starting(self)
        return original(self, *arguments, **keywords)

    setattr(kind, name, begin)


def wrap_end(kind):
    """The method that ends a session."""
    original = kind.__exit__

    @functools.wraps(original)
    def __exit__(self, *arguments):
        try:
            return original(self, *arguments)
        finally:
            ended(self)
            kinetoline.ended(self)

    kind.__exit__ = __exit__


@core.hook("program-profiler-starts")
def starting(session):
    """The program starts a profiler: ours ends first."""
    windows = marks.windows
    session._bneck_exported = False
    if getattr(session, "_bneck_own", False) or id(session) in running:
        return
    if getattr(session, "enabled", True) is False:
        return
    windows.yield_to_program()
    modules.aside()
    running.add(id(session))
    windows.yielded = len(running)


@core.hook("program-profiler-ended")
def ended(session):
    """The program's profiler has ended."""
    running.discard(id(session))
    marks.windows.yielded = len(running)
    if not running:
        modules.back()


def wrap_step(profile):
    """torch.profiler.profile.step is called once per iteration."""
    original = profile.step

    @functools.wraps(original)
    def step(self):
        result = original(self)
        stepped()
        return result

    profile.step = step


@core.hook("profiler-step")
def stepped():
    """An iteration is over and the next begins."""
    marks.manual(core.now(), core.thread_id(), "profiler-step")


exporting = set()  # threads inside an export: torch.profiler's calls autograd's, with a temporary file where it compresses
exports = 0


def wrap_export(kind):
    """A method that writes a trace, also called by torch's handlers for on_trace_ready."""
    original = kind.export_chrome_trace

    @functools.wraps(original)
    def export_chrome_trace(self, path, *arguments, **keywords):
        thread = core.thread_id()
        if thread in exporting:
            return original(self, path, *arguments, **keywords)
        exporting.add(thread)
        kinetoline.exported()
        try:
            result = original(self, path, *arguments, **keywords)
        finally:
            exporting.discard(thread)
        exported(self, path)
        return result

    kind.export_chrome_trace = export_chrome_trace


@core.hook("program-exported")
def exported(session, path):
    """The program has written a trace: the session refers to it by a link, a hard one where they share a file system. The
    launcher makes a compressed copy of either while the program goes on. What was exported before counts once."""
    global exports
    inner = getattr(session, "profiler", session) or session
    path = os.path.realpath(os.fspath(path))
    if core.folder is None or getattr(inner, "_bneck_exported", False) or not os.path.isfile(path):
        return
    inner._bneck_exported = True
    size = os.path.getsize(path)
    if core.traces + size > marks.windows.max_bytes:
        core.note("program-trace", "the program's own profile %s is not in this report: --max-size is reached" % path)
        return
    name = "trace-own-%d.json%s" % (exports, ".gz" if path.endswith(".gz") else "")
    try:
        os.link(path, os.path.join(core.folder, name))
    except OSError:
        os.symlink(path, os.path.join(core.folder, name))
    exports += 1
    core.traces += size
    core.note("program-trace", "the program's own profile %s is part of this report (%s)" % (path, name))


def watch_setprofile():
    """sys.setprofile takes the slot that a session with stacks uses (all but 3.12 and later): such a session ends first."""
    original = sys.setprofile

    @functools.wraps(original)
    def setprofile(function):
        taking_slot()
        return original(function)

    sys.setprofile = setprofile


@core.hook("program-setprofile")
def taking_slot():
    """The program sets a profile function."""
    marks.windows.end_stacks()


def watch_cprofile(module):
    """cProfile beside a session with stacks stops for good (2.4): such a session ends first. Installed when stacks are asked for."""
    config = core.config
    if not (config.with_stack or config.profile_memory) or sys.version_info >= (3, 12):
        return
    from . import start_torch

    original = module.Profile

    class Profile(original):
        __doc__ = original.__doc__

        def enable(self, *arguments, **keywords):
            if start_torch.windows is not None:
                start_torch.windows.end_stacks()
            return super().enable(*arguments, **keywords)

    Profile.__name__, Profile.__qualname__, Profile.__module__ = original.__name__, original.__qualname__, original.__module__
    module.Profile = Profile
