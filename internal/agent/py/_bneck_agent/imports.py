"""Notices imports: calls the agent's hooks once a module that they need is loaded, and times top-level imports."""

import os
import sys

from . import core

SLOW_NS = 1_000_000  # imports faster than this are not worth a row


def after_torch(torch):
    """Everything starts here."""
    from . import start_torch

    start_torch.install(torch)


def _late(module, function):
    def call(loaded):
        from importlib import import_module

        getattr(import_module("_bneck_agent." + module), function)(loaded)

    return call


def _written_by(module):
    """Modules that write files; nothing to do before torch is there."""
    writes = sys.modules.get("_bneck_agent.writes")
    if writes is not None:
        writes.watch(module)


# Module name -> what to do once it is loaded. Hooks of modules that torch imports itself are installed by after_torch.
WATCHED = {
    "torch": after_torch,
    "multiprocessing.util": _late("life", "watch_multiprocessing"),
    "nvtx": _late("regions", "watch_nvtx"),
    "cProfile": _late("programs", "watch_cprofile"),
}
for _writer in ("json", "pickle", "numpy", "pandas", "PIL.Image", "matplotlib.figure", "logging"):
    WATCHED[_writer] = _written_by
for _root in ("lightning.pytorch", "pytorch_lightning"):
    WATCHED[_root + ".profilers.profiler"] = _late("trainers", "watch_profiler")
    WATCHED[_root + ".loops.training_epoch_loop"] = _late("trainers", "watch_training")
    WATCHED[_root + ".loops.epoch.training_epoch_loop"] = _late("trainers", "watch_training")
    WATCHED[_root + ".loops.evaluation_loop"] = _late("trainers", "watch_evaluation")
    WATCHED[_root + ".loops.prediction_loop"] = _late("trainers", "watch_prediction")
for _module, _function in (
    ("transformers.trainer_callback", "watch_callbacks"),
    ("transformers.trainer", "watch_trainer"),
    ("accelerate.data_loader", "watch_loaders"),
    ("accelerate.accelerator", "watch_accelerator"),
    ("accelerate.optimizer", "watch_optimizer"),
    ("accelerate.scheduler", "watch_scheduler"),
    ("deepspeed.runtime.engine", "watch_engine"),
    ("deepspeed.runtime.pipe.engine", "watch_pipeline"),
):
    WATCHED[_module] = _late("huggingface", _function)


# Module name -> what to do before its code runs.
BEFORE = {
    "torch._dynamo": _late("compiles", "dynamo_comes"),
    "torch._inductor.compiler_bisector": _late("compiles", "compiling_comes"),
}
WATCHED["torch._dynamo"] = _late("compiles", "dynamo_came")


class Finder:
    """First on sys.meta_path: lets the other finders find, and wraps the loader of what is watched or timed."""

    def __init__(self):
        self.busy = set()

    def find_spec(self, name, path=None, target=None):
        if name in self.busy or (name not in WATCHED and name not in BEFORE and ("." in name or not timed())):
            return None
        self.busy.add(name)
        try:
            return find(name, path, target)
        finally:
            self.busy.discard(name)

    def invalidate_caches(self):
        """Nothing is cached here."""


def timed():
    """Import times are rows of the events of programs that use torch; before it is loaded they wait in memory."""
    return "import" not in core.broken


def find(name, path, target):
    """What the other finders on sys.meta_path find, its loader wrapped; exceptions of theirs are the program's."""
    for finder in list(sys.meta_path):
        look = getattr(finder, "find_spec", None)
        if look is None or finder is FINDER:
            continue
        spec = look(name, path, target)
        if spec is not None:
            wrap(spec, name)
            return spec
    return None


@core.hook("import-wrap")
def wrap(spec, name):
    """Makes the loader of this one module tell when it has run. The loader stays the object it was."""
    loader = spec.loader
    execute = getattr(loader, "exec_module", None)
    if execute is None or getattr(type(loader), "__name__", "") in ("BuiltinImporter", "FrozenImporter", "ExtensionFileLoader", "type"):
        return

    def exec_module(module):
        try:
            del loader.exec_module
        except AttributeError:
            pass
        if name in BEFORE:
            core.hook("before " + name)(BEFORE[name])(module)
        t0 = core.now()
        try:
            execute(module)
        except BaseException as error:
            refused(name, error)
            raise
        imported(name, t0, module)

    # The interpreter leaves its own import machinery out of tracebacks, by this file's name: what a failing import prints stays as it was.
    exec_module.__code__ = exec_module.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")
    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # a loader with slots: this import stays unnoticed


@core.hook("import-refused")
def refused(name, error):
    """A module's code has raised; the program sees that as ever. Of torch the report says it too."""
    if name == "torch" and isinstance(error, Exception):
        core.note("torch-import-failed", "importing torch failed (%s: %s); only Python was measured" % (type(error).__name__, error))
        core.flush()


@core.hook("import")
def imported(name, t0, module):
    """A module's code has run."""
    t1 = core.now()
    if "." not in name and t1 - t0 >= SLOW_NS:
        file, line = core.place(4)
        core.emit("span", "import", t0, t1, core.thread_id(), name, file, line)
    loaded(name, module)


def loaded(name, module):
    """Calls the hook of a watched module, each behind its own guard."""
    action = WATCHED.get(name)
    if action is not None:
        core.hook("loaded " + name)(action)(module)
    if name != "torch":
        from . import marks

        marks.resolve()


FINDER = Finder()


def install():
    """Starts watching; what is loaded already (by a .pth file) is dealt with at once."""
    import sysconfig

    paths = sysconfig.get_paths()
    core.inner += [paths["stdlib"] + os.sep, os.path.dirname(os.__file__) + os.sep]
    sys.meta_path.insert(0, FINDER)
    for name in list(WATCHED):
        if name in sys.modules:
            loaded(name, sys.modules[name])
