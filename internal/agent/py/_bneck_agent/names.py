"""Functions that the user named (--step-on, --region, --lines) and that were never there or called: said at the end, with like names."""

import sys

from . import core, facts

FLAGS = {"step": "--step-on", "region": "--region", "lines": "--lines"}
MAX_NAMES = 20_000


@core.hook("names-end")
def report(wanted, patched, called):
    """wanted: [(kind, name)] that were not found; patched: those that were; called: those of them that ran."""
    if facts.role not in ("main", "rank"):
        return
    for kind, name in wanted:
        near = like(name)
        text = "; like it: " + ", ".join(near) if near else ""
        core.note("never-called", "%s %s: the program has no such function%s" % (FLAGS[kind], name, text))
    for kind, name in patched:
        if (kind, name) not in called:
            core.note("never-called", "%s %s: the function was never called" % (FLAGS[kind], name))


def like(name):
    """Up to three names of functions that read much like this one: of its module, or of the program's own file."""
    import difflib

    module, colon, path = name.rpartition(":")
    owner = sys.modules.get(module if colon else "__main__")
    names = {}
    for key, value in list(getattr(owner, "__dict__", {}).items())[:MAX_NAMES]:
        if callable(value):
            names[key] = True
        if isinstance(value, type) and getattr(value, "__module__", None) == getattr(owner, "__name__", ""):
            for inner, method in list(vars(value).items())[:MAX_NAMES]:
                if callable(method):
                    names[key + "." + inner] = True
    if colon and owner is None:
        return [key + ":" + path for key in difflib.get_close_matches(module, list(sys.modules)[:MAX_NAMES], 3, 0.8)]
    found = difflib.get_close_matches(path, names, 3)
    last = path.rpartition(".")[2]
    found += [key for key in names if key.rpartition(".")[2] == last and key not in found]
    return [module + colon + key for key in found[:3]]
