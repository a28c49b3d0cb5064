"""Installs everything once torch has been imported."""

import os

from . import core, devices, facts, forks, life, marks, memorycategories, options, profiler, tracebacks

windows = None


# A module called torch that has not these is not PyTorch, or one that is not all there: nothing can be hooked.
PYTORCH = ("Tensor", "nn.Module", "optim.Optimizer", "is_grad_enabled", "autograd")
PARTS = ("sharing", "data", "optimizers", "modules", "jacobians", "saves", "writes", "compiles", "sampler", "ablations")
PROFILER_PARTS = ("regions", "programs")


def install(torch):
    """Puts the hooks in; each part on its own, so that one that does not fit this torch costs only itself."""
    marks.name_functions(core.config)
    version = getattr(torch, "__version__", None)
    lacks = profiler.lacking(torch, PYTORCH)
    if lacks or not getattr(torch, "__file__", None):
        text = "the module torch%s is not a whole PyTorch (no %s); only Python was measured"
        core.note("torch-unusable", text % (" %s" % version if version else "", lacks or "file"))
        core.flush()
        return
    core.inner.append(os.path.dirname(os.path.abspath(torch.__file__)) + os.sep)
    install_windows(torch)
    if windows is None:
        return
    if windows.lacks:
        text = "PyTorch %s has no profiler that can be used (no torch.%s; 1.8 and later have it): no operators were traced"
        core.note("profiler-unusable", text % (version, windows.lacks))
    tracebacks.install_module()
    for name in PARTS if windows.lacks else PARTS + PROFILER_PARTS:
        install_part(name, torch)
    life.watch_gc()
    life.at_end.insert(0, marks.at_end)
    first_slice(torch)
    core.flush()
    facts.write()


def net():
    """At the end, below all hooks: a session that is still open would crash the process."""
    if windows is not None and windows.open is not None:
        forks.leave_abruptly()


@core.hook("install-windows")
def install_windows(torch):
    """The profiler's windows, and what they need to know of forks and the end."""
    global windows
    from .windows import Windows

    windows = Windows(torch, core.config)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forks.in_child)
    marks.begin(windows)
    life.before_fork.append(windows.before_fork)
    life.after_fork.append(windows.forked)
    life.after_fork_parent.append(windows.after_fork)
    life.at_end.append(windows.at_end)
    life.at_end.append(memorycategories.at_end)
    life.after_fork.append(forked)


def install_part(name, torch):
    """One group of hooks."""
    from importlib import import_module

    core.hook("install-" + name)(import_module("_bneck_agent." + name).install)(torch)


def forked():
    """A forked child looks for steps of its own, and may not use its parent's GPU."""
    if marks.device is not None:
        marks.device.leave()
        marks.device = None
    marks.begin(windows)


@core.hook("first-slice")
def first_slice(torch):
    """Traces from here on until there is a step. Not where starting the profiler would start a GPU that the program has not started
    yet: a child forked later could no longer use it."""
    if facts.role in ("launcher", "compile"):
        windows.over = True
        return
    if core.config.emit:
        options.emit(torch, windows)
    version = torch.version
    gpu_build = getattr(version, "cuda", None) or getattr(version, "hip", None)
    if gpu_build and not torch.cuda.is_initialized() and devices.there():
        wait_for_device(torch)
        return
    windows.begin_slices()


def wait_for_device(torch):
    """Begins the slices once the program has started its GPU."""
    original = torch.cuda._lazy_init

    def _lazy_init():
        began = torch.cuda.is_initialized()
        original()
        if not began and torch.cuda.is_initialized():  # it calls itself before it is through
            device_started(torch)

    torch.cuda._lazy_init = _lazy_init


@core.hook("device-started")
def device_started(torch):
    """The program uses its GPU from here on."""
    if not windows.over:
        devices.detaches(torch)
    marks.device = marks.DeviceClock(torch)
    if core.config.emit == "nvtx":
        options.device_started(torch)
    windows.begin_slices()
    facts.write()
