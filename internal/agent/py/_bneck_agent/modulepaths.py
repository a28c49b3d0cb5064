"""Which module each operator of a window runs in: the calls of all modules while it is open, by their attribute path from the root.

nn.Module's __call__ is replaced only while a window is open, and only with --with-modules. Nothing is put into a module; weak
references alone remember which path belongs to which. Dynamo never sees the replacement: it is taken out before a compilation
begins and put back after it, and its own frame is one that Dynamo leaves alone.
"""

import _thread
import json
import os
import sys
import time
import weakref

from . import core

SCHEMA = "bottleneck.modules/1"
MAX_CALLS = 100_000  # of one window; a window holds 40,000 events of the profiler at most, unless the user decides
MAX_MODULES = 200_000  # that are remembered at once
MAX_DEPTH = 60  # frames looked at for the module around a call

base = None  # torch.nn.Module
original = None  # what stood at its __call__ when the window began
mine = None  # ours, while a window is open
wanted = False  # a window is open, whether or not ours is in place
codes = set()  # code objects of ours and of torch's __call__: their frames belong to a module called self
known = {}  # id of a module -> (weak reference, index in names)
names = []  # [path, class], by index
indices = {}  # the same, the other way round
roots = {}  # class name -> weak references to the roots of that class, in the order they were met
calls = None  # index, begin, end, thread, index, … of the window's calls; Unix nanoseconds, threads as Python numbers them
natives = {}  # the system's numbers of these threads
dropped = 0  # calls that were not kept


@core.hook("module-paths-begin")
def begin(torch):
    """A window has begun on the calling thread. Called once it has: torch's first session with stacks takes the code at Module's
    __call__ for that of all modules' calls, for good."""
    global base, calls, dropped, wanted
    base = torch.nn.Module
    calls, dropped = [], 0
    natives.clear()
    wanted = True
    if safe_beside_dynamo():
        replace()
        running = enclosing(sys._getframe(1))
        for module in reversed(running):
            if lookup(module) is None:
                learn(module, None)


def replace():
    """Puts ours in place."""
    global original, mine
    original = base.__call__
    mine = recorder(original, calls)
    codes.update((mine.__code__, getattr(original, "__code__", None)))
    skip = getattr(sys.modules.get("torch._dynamo.eval_frame"), "skip_code", None)
    if skip is not None:
        skip(mine.__code__)  # a method of ours may be bound by torch.compile(module)
    base.__call__ = mine


def recorder(function, calls):
    """A module's __call__ that keeps when it ran."""
    now, thread, add, known_one, most = time.time_ns, _thread.get_ident, calls.extend, known.get, 4 * MAX_CALLS

    def __call__(self, *arguments, **keywords):
        if mine is not __call__:  # kept by somebody beyond the window's end, or beyond a compilation
            return function(self, *arguments, **keywords)
        entry = known_one(id(self))
        if entry is None or entry[0]() is not self:
            entry = unknown(self)
        began = now()
        try:
            return function(self, *arguments, **keywords)
        finally:
            if entry is not None and len(calls) < most:
                add((entry[1], began, now(), thread()))
                if thread() not in natives:  # asking the system for the native id each time would cost a third more
                    natives[thread()] = core.thread_id()

    __call__.__name__ = getattr(function, "__name__", "__call__")
    __call__.__qualname__ = getattr(function, "__qualname__", "__call__")
    __call__.__module__ = getattr(function, "__module__", None)
    __call__.__doc__ = getattr(function, "__doc__", None)
    __call__.__wrapped__ = function
    return __call__


def lookup(module):
    """The module's entry in known, None without one."""
    entry = known.get(id(module))
    return entry if entry is not None and entry[0]() is module else None


@core.hook("module-path")
def unknown(module):
    """The entry of a module that is called for the first time."""
    if not isinstance(module, base) or len(names) > MAX_MODULES:
        return None
    around = [outer for outer in enclosing(sys._getframe(1), 2) if outer is not module]
    return learn(module, around[0] if around else None)


def learn(module, around):
    """Gives a module and all that is in it their paths; around: the module that called it, None for a root."""
    if len(known) > MAX_MODULES:
        for key in [key for key, entry in list(known.items()) if entry[0]() is None]:
            known.pop(key, None)
        if len(known) > MAX_MODULES:
            return None
    outer = lookup(around) if around is not None else None
    if outer is None:
        path = root_name(module)
    else:
        path = names[outer[1]][0] + "." + (attribute(around, module) or "<%s>" % type(module).__name__)
    if not children(module):  # nearly all that are made anew for each call
        return remember(module, path)
    waiting = [(module, path)]
    met = set()
    while waiting:
        one, path = waiting.pop()
        if id(one) in met or len(met) > MAX_MODULES:
            continue
        met.add(id(one))
        remember(one, path)
        waiting += [(child, path + "." + name) for name, child in reversed(children(one))]
    return known.get(id(module))


def remember(module, path):
    """Makes the module's entry in known."""
    key = (path, type(module).__name__)
    index = indices.get(key)
    if index is None:
        index = indices[key] = len(names)
        names.append(key)
    entry = known[id(module)] = (weakref.ref(module), index)
    return entry


def children(module):
    """(attribute name, module) of what is registered directly in a module; no code of the program's is run."""
    held = getattr(module, "__dict__", {}).get("_modules")
    try:
        return [(str(name), child) for name, child in list(held.items()) if isinstance(child, base)] if held else []
    except Exception:
        return []  # TorchScript keeps them elsewhere


def attribute(around, module):
    """The name under which one module is registered directly in another, "" where it is not."""
    for name, child in children(around):
        if child is module:
            return name
    return ""


def root_name(module):
    """The path of a module that no other one called: its class, with a number from the second of that class on."""
    name = type(module).__name__
    alive = [reference for reference in roots.get(name, ()) if reference() is not None]  # one built again and again keeps its name
    roots[name] = alive + [weakref.ref(module)]
    return "%s#%d" % (name, len(alive) + 1) if alive else name


def enclosing(frame, most=MAX_DEPTH):
    """The modules whose calls run in this frame and those outside it, innermost first, `most` of them."""
    found = []
    for _ in range(MAX_DEPTH * 4):
        if frame is None or len(found) >= most:
            break
        if frame.f_code in codes:
            module = frame.f_locals.get("self")
            if isinstance(module, base) and (not found or found[-1] is not module):
                found.append(module)
        frame = frame.f_back
    return found


# The end of a window


@core.hook("module-paths-end")
def end():
    """The window ends on the calling thread: what runs still is kept as if it ended here."""
    global wanted, dropped
    if not wanted:
        return
    wanted = False
    now, thread, frame = time.time_ns(), _thread.get_ident(), sys._getframe(1)
    natives[thread] = core.thread_id()
    code = mine.__code__ if mine is not None else None
    for _ in range(MAX_DEPTH * 8):
        if frame is None or code is None:
            break
        if frame.f_code is code:
            variables = frame.f_locals
            entry, began = variables.get("entry"), variables.get("began")
            if entry is not None and began is not None:
                calls.extend((entry[1], began, now, thread))
        frame = frame.f_back
    withdraw()
    dropped = len(calls) >= 4 * MAX_CALLS


def withdraw():
    """Puts back what stood at Module's __call__, unless somebody has replaced ours since."""
    global mine
    if mine is not None and base.__call__ is mine:
        base.__call__ = original
    mine = None


@core.hook("module-paths-save")
def save(number):
    """Writes modules-<number>.json.gz (docs/session.md) of the window that ended last; nothing where no module was called."""
    global calls
    kept, calls = calls, None
    if not kept or core.folder is None:
        return
    threads = {}
    start = min(kept[1::4])
    used = {}
    for i in range(0, len(kept), 4):
        index = used.setdefault(kept[i], len(used))
        threads.setdefault(natives.get(kept[i + 3], 0), []).extend((index, kept[i + 1] - start, kept[i + 2] - kept[i + 1]))
    text = json.dumps(
        {"schema": SCHEMA, "start_unix_ns": start, "full": bool(dropped), "names": [names[index] for index in used], "threads": threads},
        separators=(",", ":"),
    )
    core.replace(os.path.join(core.folder, "modules-%d.json.gz" % number), core.packed(text.encode(), 1))


# torch.compile


def safe_beside_dynamo():
    """Whether Dynamo, where it is loaded, says when it compiles."""
    if "torch._dynamo" not in sys.modules:
        return True
    handler = getattr(sys.modules.get("torch._dynamo.callback"), "callback_handler", None)
    if handler is None or not hasattr(handler, "register_start_callback"):
        core.note("modules", "operators have no modules: this PyTorch's compiler does not say when it compiles (2.3 and later do)")
        return False
    if compile_begins not in handler.start_callbacks:  # torch._dynamo.reset() erases them
        handler.register_start_callback(compile_begins)
        handler.register_end_callback(compile_ends)
    return True


@core.hook("module-paths-compile")
def compile_begins(*_):
    """Dynamo is about to trace modules' calls."""
    withdraw()


@core.hook("module-paths-compiled")
def compile_ends(*_):
    """It has."""
    if wanted and mine is None and calls is not None:
        replace()


def forked():
    """In a forked child: no window is open."""
    global wanted, calls
    wanted, calls = False, None
    withdraw()
